#include "command_line/option_table.h"

#include "convert/event_writer.h"

namespace doctor {
namespace {

using enum Command;
using enum ValueKind;

constexpr CommandSet kTraceReaders = {diagnose, show, whatif, checklist, convert, query, explain};
// `config` takes every setting, because it shows what they come to.
constexpr CommandSet kTraceSettings = {diagnose, capture, show,  whatif,  checklist, compare,
                                       baseline, convert, query, explain, config};
constexpr CommandSet kMemorySettings = {diagnose, capture, show,  whatif, checklist, compare, baseline,
                                        convert,  batch,   watch, query,  explain,   config};
constexpr CommandSet kSettingReaders = {diagnose, capture, show,  whatif, checklist, compare, baseline, convert,
                                        batch,    watch,   fleet, query,  explain,   rules,   config};
/// All that read what others may have made; batch, watch and capture have limits of their own.
constexpr CommandSet kTimedCommands = {diagnose, show,    whatif, checklist, compare,
                                       baseline, convert, fleet,  query,     explain};
/// On the command line alone, so that no file or variable of others can leave it out.
constexpr CommandSet kSandboxed = {diagnose, capture, show,  whatif, checklist, compare, baseline,
                                   convert,  batch,   watch, fleet,  query,     explain};
constexpr CommandSet kPrinters = {diagnose, capture, show,    whatif, checklist, compare,
                                  baseline, fleet,   explain, rules,  config};

constexpr std::array<std::string_view, 3> kColors = {"auto", "always", "never"};
constexpr std::array<std::string_view, 4> kSeverities = {"note", "warning", "error", "never"};

constexpr std::size_t kMostThreads = 256;
constexpr std::size_t kMostSeconds = 1'000'000'000;  // thirty years

/// What names the traces of a run, and how much work they may take.
const std::vector<OptionEntry> kTraceOptions = {
    OptionEntry("run", run, kTraceReaders, "Take this run of a log directory instead of the newest",
                {.value_name = "NAME"}),
    OptionEntry(
        "host", text, {diagnose, show, whatif, checklist, explain},
        "Take only this host of a run of several: the name of its machine or of its file, as 'show hosts' lists "
        "them",
        {.value_name = "NAME"}),
    OptionEntry("list-runs", none, {diagnose, show, whatif, checklist, convert, explain},
                "List the runs of a log directory, newest first"),
    OptionEntry("timings", none, {diagnose, capture, show, whatif, checklist, convert, query, explain, config},
                "Print the time of every stage and rule to standard error", {.key = "timings"}),
    OptionEntry("threads", number, kTraceSettings,
                "Threads that read a trace, 1 to 256; more than 8 do not help, so no more are used (default: the "
                "cores, at most 4)",
                {.least = 1, .most = kMostThreads, .key = "threads"}),
    OptionEntry(
        "max-memory", size, kMemorySettings,
        "Fail if more memory is needed, e.g. 512M, 1.5GB (K, M, G: powers of 1024; default: three quarters of the "
        "machine, or of the control group)",
        {.key = "max-memory"}),
    OptionEntry("timeout", number, kTimedCommands, "Give up after so long, 0: never",
                {.value_name = "SECONDS", .most = kMostSeconds, .default_text = "600"}),
    OptionEntry(
        "no-sandbox", none, kSandboxed,
        "Do not give up rights before traces are read (where the kernel can: to other files, programs and sockets)"),
    OptionEntry("require-sandbox", none, kSandboxed,
                "Fail before a trace is read where the kernel has not all of the sandbox"),
    OptionEntry(
        "embedded", none, {diagnose, show, whatif, checklist, compare, batch, query, explain},
        "For a program that hands on what others ask: print to standard output alone, read neither a configuration "
        "file nor variables, keep the sandbox, and answer SQL with at most 1,000 rows"),
};

/// What decides whether a diagnosis passes.
const std::vector<OptionEntry> kGateOptions = {
    OptionEntry("fail-on", word, {diagnose, capture, batch, watch, config},
                "Exit with 1 on a finding of at least this severity: error, warning, note or never",
                {.value_name = "SEVERITY", .words = kSeverities, .default_text = "warning", .key = "fail-on"}),
    OptionEntry("fail-on", word, {compare},
                "Exit with 1 on a new finding of at least this severity: error, warning, note or never",
                {.value_name = "SEVERITY", .words = kSeverities, .default_text = "warning", .key = "fail-on"}),
    OptionEntry(
        "source-file", file, {diagnose, capture, compare, config},
        "The source file of the pipeline, relative to the working directory: CI shows problems there, not at the "
        "trace",
        {.value_name = "PATH[:LINE]", .key = "source-file"}),
    OptionEntry(
        "set", threshold,
        {diagnose, capture, show, whatif, checklist, compare, baseline, convert, batch, watch, query, explain, config},
        "Set a threshold, e.g. input-bound.min_share=0.1; may be repeated",
        {.value_name = "RULE.THRESHOLD=VALUE", .repeats = true, .key = "thresholds.RULE.THRESHOLD"}),
    OptionEntry("min-gain", factor, {diagnose, capture, whatif, config},
                "Changes that gain less than this factor, 1 or more, are only named, not advised; the same as --set "
                "input-bound.min_gain=FACTOR",
                {.least = 1, .default_text = "1.03", .key = "min-gain"}),
    OptionEntry(
        "max-input-share", share_budget, {diagnose, capture, compare, batch, watch, config},
        "Exit with 1 if the consumer waits for a larger share of the time, 0 to 1; PIPELINE is a pattern for the "
        "long name of one of its iterators, e.g. '*::Shuffle*=0.1'; may be repeated",
        {.value_name = "[PIPELINE=]SHARE", .repeats = true, .key = "budgets.max_input_share"}),
    {"max-get-next-p95",
     ValueKind::time_budget,
     {diagnose, capture, compare, batch, watch, config},
     "Exit with 1 if the 95th percentile of the GetNext calls takes more microseconds; may be repeated",
     {.value_name = "[PIPELINE=]US", .repeats = true, .key = "budgets.max_get_next_p95_us"}},
    OptionEntry("forbid-rule", rule_budget, {diagnose, capture, compare, batch, watch, config},
                "Exit with 1 on a finding of this rule, whatever its severity; may be repeated",
                {.value_name = "[PIPELINE=]RULE", .repeats = true, .key = "budgets.rules_must_not_fire"}),
    OptionEntry(
        "suppress", suppression,
        {diagnose, capture, show, whatif, checklist, compare, baseline, batch, watch, query, config},
        "Do not count findings of this rule; SUBJECT is a pattern for the long name that they are about; may be "
        "repeated",
        {.value_name = "RULE[:SUBJECT]", .repeats = true, .key = "suppress"}),
};

/// Where settings come from.
const std::vector<OptionEntry> kConfigOptions = {
    OptionEntry(
        "config", file, kSettingReaders,
        "Read this configuration file instead of the nearest .tfdata-doctor.toml from the working directory upward",
        {.is_variable = true}),
    OptionEntry("no-config", none, kSettingReaders, "Read no configuration file", {.is_variable = true}),
};

/// Where and how the result is written.
const std::vector<OptionEntry> kOutputOptions = {
    OptionEntry(
        "format", word, {convert},
        "chrome (opens in Perfetto and chrome://tracing), ndjson or csv (an event a line); default: the ending of "
        "the name after -o: .json, .ndjson or .csv, each with .gz to compress it",
        {.value_name = "FORMAT", .words = kConvertFormatNames}),
    OptionEntry(
        "annotate", none, {convert},
        "Diagnose the traces too, and add tracks on top of a Chrome trace: when the loop waits, for which stage, "
        "steps, stalls, findings; readers of the file leave them out"),
    OptionEntry("output", file, {diagnose, compare},
                "Write to FILE, as a whole or not at all; with FORMAT=FILE (or FORMAT=- for standard output) it may be "
                "repeated, a document each",
                {.letter = 'o', .value_name = "[FORMAT=]FILE", .repeats = true}),
    OptionEntry("output", file, {capture},
                "Store the traces in this log directory (default: the working directory); with FORMAT=FILE write a "
                "document, too, after each capture and as a whole; may be repeated",
                {.letter = 'o', .value_name = "DIR|FORMAT=FILE", .repeats = true}),
    OptionEntry("output", file, {batch}, "Append each row to FILE as soon as it is made (default: standard output)",
                {.letter = 'o'}),
    OptionEntry("output", file, {watch},
                "Append each row to FILE, and skip what has a row in it (default: standard output)", {.letter = 'o'}),
    OptionEntry(
        "output", file,
        {show, whatif, checklist, baseline, convert, fleet, query, schema, explain, rules, config, completions, man},
        "Write to FILE, as a whole or not at all (default: standard output)", {.letter = 'o'}),
    OptionEntry("color", word, kPrinters, "auto, always or never; auto respects NO_COLOR",
                {.value_name = "WHEN", .words = kColors, .default_text = "auto", .key = "color"}),
    OptionEntry("quiet", none, kPrinters, "Only the verdict, no warnings", {.letter = 'q', .key = "quiet"}),
    OptionEntry("quiet", none, {convert, batch, watch, query}, "Do not say what was left out",
                {.letter = 'q', .key = "quiet"}),
    OptionEntry("verbose", none, kPrinters,
                "With the evidence of every finding, and on standard error what the sandbox allows",
                {.letter = 'v', .key = "verbose"}),
    OptionEntry("verbose", none, {convert, batch, watch, query}, "Say on standard error what the sandbox allows",
                {.letter = 'v'}),
};

/// --format, made from the table of commands: an entry for those that have the same formats. What entries point to
/// lives as long as the program.
std::vector<OptionEntry> format_options() {
  static std::deque<std::vector<std::string_view>> words;
  static std::deque<std::string> helps;
  std::vector<OptionEntry> options;
  for (const CommandEntry& command : command_table()) {
    const std::vector<OutputFormat> formats = formats_of(command);
    if (formats.empty()) continue;
    std::string help = describe_formats(formats, command.csv_holds);
    const auto same = std::ranges::find(options, help, &OptionEntry::help);
    if (same != options.end()) {
      same->commands.add(command.command);
      continue;
    }
    words.emplace_back();
    for (const OutputFormat format : formats) words.back().push_back(to_word(format));
    helps.push_back(std::move(help));
    options.push_back({"format",
                       ValueKind::word,
                       {command.command},
                       helps.back(),
                       {.value_name = "FORMAT", .words = words.back(), .default_text = "text", .key = "format"}});
  }
  return options;
}

/// How help shows the values of these kinds, where an entry does not say it.
constexpr std::array<std::pair<ValueKind, std::string_view>, 5> kUsualValues = {{{ValueKind::number, "N"},
                                                                                 {ValueKind::factor, "FACTOR"},
                                                                                 {ValueKind::size, "SIZE"},
                                                                                 {ValueKind::duration, "TIME"},
                                                                                 {ValueKind::file, "FILE"}}};

std::vector<OptionEntry> joined_table() {
  std::vector<OptionEntry> table;
  const std::vector<OptionEntry> formats = format_options();
  for (const std::span<const OptionEntry> part :
       {std::span<const OptionEntry>(kTraceOptions), std::span<const OptionEntry>(kGateOptions), command_options(),
        std::span<const OptionEntry>(formats), std::span<const OptionEntry>(kOutputOptions),
        std::span<const OptionEntry>(kConfigOptions)}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  for (OptionEntry& option : table) {
    for (const auto& [kind, usual] : kUsualValues) {
      if (option.kind == kind && option.value_name.empty()) option.value_name = usual;
    }
  }
  return table;
}

}  // namespace

bool is_plain(const OptionEntry& option) {
  constexpr std::array kEntriesOfTables = {threshold, share_budget, time_budget, rule_budget, suppression};
  return std::ranges::find(kEntriesOfTables, option.kind) == kEntriesOfTables.end();
}

std::span<const OptionEntry> option_table() {
  static const std::vector<OptionEntry> kTable = joined_table();
  return kTable;
}

std::vector<const OptionEntry*> options_of(Command command) {
  std::vector<const OptionEntry*> options;
  for (const OptionEntry& option : option_table()) {
    if (option.commands.has(command)) options.push_back(&option);
  }
  return options;
}

const OptionEntry* find_option(Command command, std::string_view name) {
  for (const OptionEntry& option : option_table()) {
    if (option.name == name && option.commands.has(command)) return &option;
  }
  return nullptr;
}

const OptionEntry* find_flag(std::string_view flag, const CommandEntry* command) {
  for (const OptionEntry& option : option_table()) {
    const bool is_letter = option.letter != '\0' && flag == std::string("-") + option.letter;
    const bool is_taken = command == nullptr || option.commands.has(command->command);
    if (is_taken && (is_letter || flag == flag_of(option))) return &option;
  }
  return nullptr;
}

bool is_for_page(const OptionEntry& option, std::string_view page) {
  return option.pages.empty() || std::ranges::find(option.pages, page) != option.pages.end();
}

std::string flag_of(const OptionEntry& option) {
  return "--" + std::string(option.name);
}

std::string variable_of(const OptionEntry& option) {
  std::string variable = "TFDATA_DOCTOR_";
  for (const char letter : option.name) {
    variable += letter == '-' ? '_' : letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return variable;
}

}  // namespace doctor
