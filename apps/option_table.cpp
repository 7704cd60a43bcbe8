#include "option_table.h"

#include <algorithm>
#include <array>

#include "convert/event_writer.h"
#include "pages.h"
#include "query/warehouse.h"

namespace doctor {
namespace {

using enum Command;

constexpr CommandSet kTraceReaders = {diagnose, show, convert, query, explain};
// `config` knows every setting, because it shows what they come to.
constexpr CommandSet kTraceSettings = {diagnose, show, compare, baseline, convert, query, explain, config};
constexpr CommandSet kMemorySettings = {diagnose, show, compare, baseline, convert, batch, query, explain, config};
constexpr CommandSet kSettingReaders = {diagnose, show,  compare, baseline, convert,
                                        batch,    query, explain, rules,    config};
constexpr CommandSet kPrinters = {diagnose, show, compare, baseline, fleet, explain, rules, config};

constexpr std::array<std::string_view, 2> kPageFormats = {"text", "json"};
constexpr std::array<std::string_view, 7> kReportFormats = {"text",   "json",   "sarif",   "junit",
                                                            "gitlab", "github", "markdown"};
constexpr std::array<std::string_view, 3> kTableFormats = {"text", "json", "csv"};
constexpr std::array<std::string_view, 4> kRowFormats = {"text", "json", "csv", "markdown"};
constexpr std::array<std::string_view, 3> kColors = {"auto", "always", "never"};
constexpr std::array<std::string_view, 4> kSeverities = {"note", "warning", "error", "never"};
constexpr std::array<std::string_view, 2> kJudgedTimes = {"get-next", "step"};
constexpr std::array<std::string_view, 2> kOpGroupings = {"name", "type"};

constexpr std::size_t kMostThreads = 256;
constexpr std::size_t kMostJobs = 1'024;

/// What names the traces of a run, and how much work they may take.
const std::vector<OptionEntry> kTraceOptions = {
    {.name = "run",
     .value_name = "NAME",
     .kind = ValueKind::text,
     .help = "Take this run of a log directory instead of the newest",
     .commands = kTraceReaders},
    {.name = "list-runs",
     .help = "List the runs of a log directory, newest first",
     .commands = {diagnose, show, convert, explain}},
    {.name = "timings",
     .help = "Print the time of every stage and rule to standard error",
     .commands = {diagnose, show, convert, query, explain, config},
     .is_setting = true,
     .key = "timings"},
    {.name = "threads",
     .value_name = "N",
     .kind = ValueKind::number,
     .least = 1,
     .most = kMostThreads,
     .help = "Threads that read a trace, 1 to 256 (default: the cores, at most 4)",
     .commands = kTraceSettings,
     .is_setting = true,
     .key = "threads"},
    {.name = "max-memory",
     .value_name = "SIZE",
     .kind = ValueKind::size,
     .help = "End with an error where more memory is needed, e.g. 512M, 1.5GB (K, M, G: powers of 1024)",
     .commands = kMemorySettings,
     .is_setting = true,
     .key = "max-memory"},
};

/// What decides whether a diagnosis passes.
const std::vector<OptionEntry> kGateOptions = {
    {.name = "fail-on",
     .value_name = "SEVERITY",
     .kind = ValueKind::word,
     .words = kSeverities,
     .default_text = "warning",
     .help = "Exit with 1 on a finding (compare: a new one) from here up: error, warning, note or never",
     .commands = {diagnose, compare, batch, config},
     .is_setting = true,
     .key = "fail-on"},
    {.name = "source-file",
     .value_name = "PATH[:LINE]",
     .kind = ValueKind::file,
     .help = "Where the pipeline is written, from the working directory on: CI shows problems there, not at the trace",
     .commands = {diagnose, compare, config},
     .is_setting = true,
     .key = "source-file"},
    {.name = "set",
     .value_name = "RULE.THRESHOLD=VALUE",
     .kind = ValueKind::threshold,
     .help = "Set a threshold, e.g. input-bound.min_share=0.1; may be repeated",
     .commands = {diagnose, compare, batch, explain, config},
     .repeats = true,
     .is_setting = true,
     .key = "thresholds.RULE.THRESHOLD"},
    {.name = "max-input-share",
     .value_name = "[PIPELINE=]SHARE",
     .kind = ValueKind::share_budget,
     .help = "Exit with 1 where the consumer waits for a larger share of the time, 0 to 1; PIPELINE is a pattern that "
             "the long name of one of its iterators fits, e.g. '*::Shuffle*=0.1'; may be repeated",
     .commands = {diagnose, config},
     .repeats = true,
     .is_setting = true,
     .key = "budgets.max_input_share"},
    {.name = "max-get-next-p95",
     .value_name = "[PIPELINE=]US",
     .kind = ValueKind::time_budget,
     .help = "Exit with 1 where the 95th percentile of the GetNext calls takes more microseconds; may be repeated",
     .commands = {diagnose, config},
     .repeats = true,
     .is_setting = true,
     .key = "budgets.max_get_next_p95_us"},
    {.name = "forbid-rule",
     .value_name = "[PIPELINE=]RULE",
     .kind = ValueKind::rule_budget,
     .help = "Exit with 1 on a finding of this rule, whatever its severity; may be repeated",
     .commands = {diagnose, config},
     .repeats = true,
     .is_setting = true,
     .key = "budgets.rules_must_not_fire"},
    {.name = "suppress",
     .value_name = "RULE[:SUBJECT]",
     .kind = ValueKind::suppression,
     .help = "Let findings of this rule not count; SUBJECT is a pattern for the long name that they are about; may be "
             "repeated",
     .commands = {diagnose, compare, baseline, batch, config},
     .repeats = true,
     .is_setting = true,
     .key = "suppress"},
};

/// What only comparisons and baselines know.
const std::vector<OptionEntry> kComparisonOptions = {
    {.name = "baseline",
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Compare with the runs of this baseline; then all recordings named are candidates",
     .commands = {compare}},
    {.name = "label",
     .value_name = "NAME",
     .kind = ValueKind::text,
     .help = "Take only the runs of the baseline that have this label",
     .commands = {compare}},
    {.name = "label",
     .value_name = "NAME",
     .kind = ValueKind::text,
     .help = "add: what the runs are of, e.g. a commit",
     .commands = {baseline}},
    {.name = "keep",
     .value_name = "N",
     .kind = ValueKind::number,
     .help = "prune: how many runs stay, those that were added last",
     .commands = {baseline}},
    {.name = "weak",
     .help = "Judge from 3 recordings against 3 on, and only what is 5 % slower: fires on identical code more often",
     .commands = {compare, config},
     .is_setting = true,
     .key = "weak"},
    {.name = "judge",
     .value_name = "get-next|step",
     .kind = ValueKind::word,
     .words = kJudgedTimes,
     .help = "Let a longer GetNext or step be a regression too, from 25 % on; may be repeated",
     .commands = {compare},
     .repeats = true},
};

/// What only batches know.
const std::vector<OptionEntry> kBatchOptions = {
    {.name = "files-from",
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Take the paths in this file too, one a line; - is standard input",
     .commands = {batch}},
    {.name = "jobs",
     .letter = 'j',
     .value_name = "N",
     .kind = ValueKind::number,
     .least = 1,
     .most = kMostJobs,
     .help = "Traces that are diagnosed at once, each in a process of its own (default: the cores)",
     .commands = {batch}},
    {.name = "timeout",
     .value_name = "SECONDS",
     .kind = ValueKind::number,
     .default_text = "600",
     .help = "Give a trace up that takes longer, 0: never; its row says so",
     .commands = {batch}},
    {.name = "shard",
     .value_name = "I/N",
     .kind = ValueKind::shard,
     .help = "Take only the traces of part I of N, from 1/N to N/N: the path decides, so the parts never change",
     .commands = {batch}},
    {.name = "resume",
     .help = "Go on with the file after -o: traces that have a row in it are skipped",
     .commands = {batch}},
    {.name = "name",
     .value_name = "NAME",
     .kind = ValueKind::text,
     .help = "What the row of the trace on standard input says for its path",
     .commands = {batch}},
    {.name = "exit-zero",
     .help = "Exit with 0 whatever the rows say, where all were written: for engines that take all else for a failure",
     .commands = {batch}},
};

/// Where settings come from.
const std::vector<OptionEntry> kConfigOptions = {
    {.name = "config",
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help =
         "Read this configuration file instead of the nearest .tfdata-doctor.toml from the working directory upward",
     .commands = kSettingReaders,
     .is_setting = true},
    {.name = "no-config", .help = "Read no configuration file", .commands = kSettingReaders, .is_setting = true},
};

/// What only some pages of `show` know.
const std::vector<OptionEntry> kPageOptions = {
    {.name = "call",
     .value_name = "N",
     .kind = ValueKind::number,
     .least = 1,
     .help = "calls: only the call of this number in its pipeline",
     .commands = {show},
     .ability = &Page::shows_calls},
    {.name = "pipeline",
     .value_name = "ID",
     .kind = ValueKind::text,
     .help = "calls: only this pipeline, an id as 'show tree' prints it",
     .commands = {show},
     .ability = &Page::shows_calls},
    {.name = "top",
     .value_name = "N",
     .kind = ValueKind::number,
     .help = "How many calls or rows, 0: all (default: calls the 10 longest slow ones, json and csv 100, 0: slow or "
             "not; tables 20, json and csv all)",
     .commands = {show},
     .ability = &Page::has_top},
    {.name = "top",
     .value_name = "N",
     .kind = ValueKind::number,
     .help = "How many entries of each ranking, 0: all (default: 10, json and csv all)",
     .commands = {fleet}},
    {.name = "sort",
     .value_name = "COLUMN",
     .kind = ValueKind::text,
     .help = "Tables: sort by this column, a name as --format csv prints it",
     .commands = {show},
     .ability = &Page::is_table},
    {.name = "by",
     .value_name = "name|type",
     .kind = ValueKind::word,
     .words = kOpGroupings,
     .help = "ops: a row for each name (default) or for each type",
     .commands = {show},
     .ability = &Page::shows_ops},
    {.name = "with-idle",
     .help = "ops: with the time in which no op ran",
     .commands = {show},
     .ability = &Page::shows_ops},
};

/// What only `query` and `schema` know.
const std::vector<OptionEntry> kQueryOptions = {
    {.name = "db",
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Keep the traces in this SQLite database and ask all that are in it; each is loaded once",
     .commands = {query}},
    {.name = "sql-file",
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Read the SQL from FILE; then all arguments are traces",
     .commands = {query}},
    {.name = "schema", .help = "Print all tables with their columns", .commands = {query}},
    {.name = "examples", .help = "Print SQL for questions that people have", .commands = {query}},
    {.name = "for",
     .value_name = "ENGINE",
     .kind = ValueKind::word,
     .words = kWarehouseNames,
     .help = "bigquery, clickhouse, duckdb or spark",
     .commands = {schema}},
    {.name = "of",
     .value_name = "events|rows",
     .kind = ValueKind::word,
     .words = kLoadedTableNames,
     .default_text = "events",
     .help = "What is loaded: the events that 'convert --format ndjson' writes, or the rows of batch",
     .commands = {schema}},
};

/// Where and how the result is written.
const std::vector<OptionEntry> kOutputOptions = {
    {.name = "format",
     .value_name = "FORMAT",
     .kind = ValueKind::word,
     .words = kReportFormats,
     .default_text = "text",
     .help = "How to print it: text, json or, for CI, sarif, junit, gitlab, github or markdown",
     .commands = {diagnose, compare},
     .is_setting = true,
     .key = "format"},
    {.name = "format",
     .value_name = "FORMAT",
     .kind = ValueKind::word,
     .words = kPageFormats,
     .default_text = "text",
     .help = "How to print it: text or json",
     .commands = {baseline, explain, rules, config},
     .is_setting = true,
     .key = "format"},
    {.name = "format",
     .value_name = "FORMAT",
     .kind = ValueKind::word,
     .words = kTableFormats,
     .default_text = "text",
     .help = "How to print it: text, json or, for some pages, csv",
     .commands = {show},
     .is_setting = true,
     .key = "format"},
    {.name = "format",
     .value_name = "FORMAT",
     .kind = ValueKind::word,
     .words = kRowFormats,
     .default_text = "text",
     .help = "How to print it: text, json, csv (the causes alone) or markdown",
     .commands = {fleet},
     .is_setting = true,
     .key = "format"},
    {.name = "format",
     .value_name = "FORMAT",
     .kind = ValueKind::word,
     .words = kRowFormats,
     .default_text = "text",
     .help = "How to print the rows: text, csv, json or markdown",
     .commands = {query},
     .is_setting = true,
     .key = "format"},
    {.name = "format",
     .value_name = "FORMAT",
     .kind = ValueKind::word,
     .words = kConvertFormatNames,
     .help = "chrome (opens in Perfetto and chrome://tracing), ndjson or csv (an event a line); default: what the name "
             "after -o ends in, .json, .ndjson or .csv, each with .gz to compress it",
     .commands = {convert}},
    {.name = "output",
     .letter = 'o',
     .value_name = "[FORMAT=]FILE",
     .kind = ValueKind::file,
     .help = "Write to FILE, as a whole or not at all; with FORMAT=FILE (or FORMAT=- for standard output) it may be "
             "repeated, a document each",
     .commands = {diagnose, compare},
     .repeats = true},
    {.name = "output",
     .letter = 'o',
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Append each row to FILE as soon as it is there; else to standard output",
     .commands = {batch}},
    {.name = "output",
     .letter = 'o',
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Write to FILE, as a whole or not at all; else to standard output",
     .commands = {show, baseline, convert, fleet, query, schema, explain, rules, config, completions, man}},
    {.name = "color",
     .value_name = "WHEN",
     .kind = ValueKind::word,
     .words = kColors,
     .default_text = "auto",
     .help = "auto, always or never; auto respects NO_COLOR",
     .commands = kPrinters,
     .is_setting = true,
     .key = "color"},
    {.name = "quiet",
     .letter = 'q',
     .help = "Only the verdict, no warnings",
     .commands = kPrinters,
     .is_setting = true,
     .key = "quiet"},
    {.name = "quiet",
     .letter = 'q',
     .help = "Do not tell what was left out",
     .commands = {convert, batch, query},
     .is_setting = true,
     .key = "quiet"},
    {.name = "verbose",
     .letter = 'v',
     .help = "With the evidence of every finding",
     .commands = kPrinters,
     .is_setting = true,
     .key = "verbose"},
};

std::vector<OptionEntry> joined_table() {
  std::vector<OptionEntry> table;
  for (const std::vector<OptionEntry>* part : {&kTraceOptions, &kGateOptions, &kComparisonOptions, &kBatchOptions,
                                               &kPageOptions, &kQueryOptions, &kOutputOptions, &kConfigOptions}) {
    table.insert(table.end(), part->begin(), part->end());
  }
  return table;
}

}  // namespace

bool is_plain(const OptionEntry& option) {
  switch (option.kind) {
    case ValueKind::threshold:
    case ValueKind::share_budget:
    case ValueKind::time_budget:
    case ValueKind::rule_budget:
    case ValueKind::suppression:
      return false;
    default:
      return true;
  }
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
