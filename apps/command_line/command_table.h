#pragma once

#include "base/result.h"
#include "command_line/output_targets.h"

namespace doctor {

struct Request;

enum class Command {
  diagnose,
  capture,
  show,
  whatif,
  checklist,
  compare,
  baseline,
  batch,
  watch,
  fleet,
  convert,
  query,
  schema,
  explain,
  rules,
  config,
  completions,
  man,
  help,
  complete
};

/// Some of the commands.
class CommandSet {
 public:
  constexpr CommandSet() = default;
  constexpr CommandSet(std::initializer_list<Command> commands) {
    for (const Command command : commands) add(command);
  }
  constexpr void add(Command command) { bits_ |= 1U << static_cast<unsigned>(command); }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr bool has(Command command) const { return (bits_ >> static_cast<unsigned>(command) & 1U) != 0; }

 private:
  std::uint32_t bits_ = 0;
};

/// The separator of the two sides of `compare` in Request::arguments, where "--" was first written. An argument of a
/// program cannot hold a zero byte.
inline constexpr std::string_view kBetweenSides{"\0--", 3};

/// The meaning of an argument without dashes, which a shell offers to complete.
enum class ArgumentKind {
  path,  ///< a file or a directory
  rule,
  text,  ///< any text, which nothing completes
  word,  ///< one of ArgumentEntry::words
};

struct ArgumentEntry {
  std::string_view name;  ///< "TRACE", as help shows it
  ArgumentKind kind = ArgumentKind::path;
  std::string_view help;
  bool repeats = false;
  std::vector<std::string_view> words = {};  ///< for ArgumentKind::word: one of these must be given
};

/// A line to try, and what it does.
struct CommandExample {
  std::string_view line;  ///< after "tfdata-doctor"
  std::string_view meaning;
};

/// The meaning of an exit status of a command.
struct ExitMeaning {
  int status;
  std::string_view meaning;
};

/// Work that a command does in place of its usual work, if the request asks for it.
struct CommandVariant {
  std::string_view option = {};  ///< chosen by this option
  std::string_view action = {};  ///< or by this word as the ACTION
  std::vector<OutputFormat> formats = {};
  Result<int> (*run)(const Request& request) = nullptr;  ///< null: as the command itself
};

/// What a command may have beside its name and its work.
struct CommandDetails {
  std::vector<OutputFormat> formats = {};  ///< of --format. Each page of `show` has its own; `convert` writes events
  std::vector<CommandVariant> variants = {};
  std::string_view csv_holds = {};  ///< the part of the answer that a CSV has; empty: all of it
  bool is_timed_by_part = false;    ///< --timeout is for a trace or a host, not for the whole command
  std::vector<ArgumentEntry> arguments = {};
  std::vector<CommandExample> examples = {};
  std::string_view notes = {};  ///< what TRACE or the like may be; empty: nothing to add
  std::vector<ExitMeaning> exits = {};
  bool is_hidden = false;  ///< for shells, not for people
};

/// A command: an entry of the one table that parsing, help, the manual and completion are made from.
struct CommandEntry : CommandDetails {
  using Work = Result<int>(const Request& request);
  CommandEntry(std::string_view its_name, Command its_command, Work* work, std::string_view its_summary,
               std::string_view its_usage, CommandDetails details)
      : CommandDetails(std::move(details)),
        name(its_name),
        command(its_command),
        run(work),
        summary(its_summary),
        usage(its_usage) {}

  std::string_view name;
  Command command;
  Work* run;
  std::string_view summary;
  std::string_view usage;  ///< the text after the name
};

/// All commands, in the order in which help lists them.
std::span<const CommandEntry> command_table();

/// The entry of a command.
const CommandEntry& entry_of(Command command);

/// All formats of a command and its actions. For `show`, those of the page, or without a name those of all pages.
std::vector<OutputFormat> formats_of(const CommandEntry& command, std::string_view page = {});

/// The entry of that name; null if there is none.
const CommandEntry* find_command(std::string_view name);

/// The names that are not hidden.
std::vector<std::string_view> command_names();

}  // namespace doctor
