#include "command_line/command_table.h"

#include <algorithm>

namespace doctor {
namespace {

const ArgumentEntry kTraces = {"TRACE", ArgumentKind::trace, "Trace files, -, a run directory or a log directory",
                               /*repeats=*/true};

}  // namespace

std::span<const CommandEntry> command_table() {
  static const std::vector<CommandEntry> kCommands = {
      {"diagnose", Command::diagnose, "Say what holds the input pipeline back (the default command)", {kTraces}},
      {"show",
       Command::show,
       "Show the numbers behind a diagnosis",
       {{"PAGE", ArgumentKind::page, "Which numbers"}, kTraces}},
      {"compare",
       Command::compare,
       "Say whether candidate recordings are slower than base recordings, and where",
       {{"BASE... -- CANDIDATE", ArgumentKind::trace,
         "Recordings: trace files, run directories, directories of them, baselines", /*repeats=*/true}}},
      {"baseline",
       Command::baseline,
       "Keep small summaries of recordings for later comparisons",
       {{"ACTION", ArgumentKind::word, "What to do: add, show or prune", false, {"add", "show", "prune"}},
        {"FILE", ArgumentKind::trace, "The baseline: JSON to commit where a new one ends in .json, else SQLite"},
        kTraces}},
      {"batch",
       Command::batch,
       "Diagnose many traces, each by itself: a row of NDJSON each",
       {{"TRACE", ArgumentKind::trace, "Trace files, -, directories that are searched at any depth",
         /*repeats=*/true}}},
      {"convert", Command::convert, "Write all events of traces as a Chrome trace, NDJSON or CSV", {kTraces}},
      {"fleet",
       Command::fleet,
       "Rank what holds many stored traces up, from the rows of batch",
       {{"RESULTS", ArgumentKind::trace, "Files of rows (NDJSON, also gzip), - for standard input", /*repeats=*/true}}},
      {"query",
       Command::query,
       "Ask in SQL about traces, or about what batch wrote about them",
       {{"SQL", ArgumentKind::text, "One statement that reads; - takes it from standard input"}, kTraces}},
      {"schema", Command::schema, "Print the table that a warehouse loads events or rows of batch into", {}},
      {"explain",
       Command::explain,
       "Print the page of a rule, or why it fired on a trace or did not",
       {{"RULE", ArgumentKind::rule, "Name of the rule"}, kTraces}},
      {"rules", Command::rules, "List all rules", {}},
      {"config",
       Command::config,
       "Show the settings in force and where each comes from",
       {{"ACTION", ArgumentKind::word, "What to do: show", false, {"show"}}}},
      {"completions",
       Command::completions,
       "Print what completes the command line in a shell",
       {{"SHELL", ArgumentKind::word, "bash, zsh or fish", false, {"bash", "zsh", "fish"}}}},
      {"man", Command::man, "Print the manual page, for man -l", {}},
  };
  return kCommands;
}

const CommandEntry& entry_of(Command command) {
  const std::span<const CommandEntry> commands = command_table();
  return *std::find_if(commands.begin(), commands.end(),
                       [&](const CommandEntry& entry) { return entry.command == command; });
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const CommandEntry& entry : command_table()) names.push_back(entry.name);
  return names;
}

}  // namespace doctor
