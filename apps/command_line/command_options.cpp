#include "command_line/command_options.h"

#include <array>

#include "query/warehouse.h"

namespace doctor {
namespace {

using enum Command;

constexpr std::array<std::string_view, 3> kJudgedTimes = {"get-next", "step", "all"};
constexpr std::array<std::string_view, 2> kOpGroupings = {"name", "type"};
constexpr std::size_t kMostRetries = 1'000;
constexpr std::size_t kMostJobs = 1'024;
constexpr std::size_t kMostCores = 4'096;

constexpr std::array<std::string_view, 2> kCallPages = {"calls", "timeline"};
constexpr std::array<std::string_view, 1> kTimelinePages = {"timeline"};
constexpr std::array<std::string_view, 1> kOpPages = {"ops"};
constexpr std::array<std::string_view, 1> kHostPages = {"hosts"};
constexpr std::array<std::string_view, 5> kTablePages = {"input", "hosts", "steps", "ops", "kernels"};
constexpr std::array<std::string_view, 7> kRankedPages = {"calls", "input",   "hosts", "steps",
                                                          "ops",   "kernels", "memory"};

/// For `capture` alone.
const std::vector<OptionEntry> kCaptureOptions = {
    {.name = "duration",
     .value_name = "TIME",
     .kind = ValueKind::duration,
     .least = 1,
     .default_text = "2s",
     .help = "How long to trace: 500ms, 2s, 1m; ten steps or more should fit in",
     .commands = {capture}},
    {.name = "host-tracer-level",
     .value_name = "N",
     .kind = ValueKind::number,
     .most = 3,
     .default_text = "2",
     .help = "What to record of the host: 0 nothing, 1 what the program marks itself, 2 ops and tf.data, 3 all. Below "
             "2 no input pipeline can be judged",
     .commands = {capture}},
    {.name = "device-tracer-level",
     .value_name = "N",
     .kind = ValueKind::number,
     .most = 3,
     .default_text = "1",
     .help = "What to record of devices: 0 nothing; more than 1 where the profiler of a device has it",
     .commands = {capture}},
    {.name = "python-tracer-level",
     .value_name = "N",
     .kind = ValueKind::number,
     .most = 1,
     .default_text = "0",
     .help = "1: record Python's calls, too. They slow the job down, but show its waits in next() where tf.data is not "
             "recorded",
     .commands = {capture}},
    {.name = "delay",
     .value_name = "TIME",
     .kind = ValueKind::duration,
     .least = 1,
     .help = "Let all hosts begin at the same moment, TIME from now, as far as their clocks agree; without it each "
             "begins when it is asked",
     .commands = {capture}},
    {.name = "timeout",
     .value_name = "TIME",
     .kind = ValueKind::duration,
     .least = 1,
     .default_text = "1m",
     .help = "Give up on a host that has not sent its trace TIME after the end of it",
     .commands = {capture}},
    {.name = "retries",
     .value_name = "N",
     .kind = ValueKind::number,
     .most = kMostRetries,
     .default_text = "0",
     .help =
         "Try again, up to N times, where a host fails in a way that may pass: nothing listens yet, another capture "
         "is running, nothing ran, no answer in time",
     .commands = {capture}},
    {.name = "retry-after",
     .value_name = "TIME",
     .kind = ValueKind::duration,
     .default_text = "1s",
     .help = "Wait TIME before the first retry, and twice as long before each that follows, up to a minute",
     .commands = {capture}},
    {.name = "max-size",
     .value_name = "SIZE",
     .kind = ValueKind::size,
     .default_text = "2G",
     .help = "Refuse a trace that is larger, e.g. 512M",
     .commands = {capture}},
    {.name = "every",
     .value_name = "TIME",
     .kind = ValueKind::duration,
     .help = "Capture again and again, TIME from one beginning to the next, until Ctrl-C",
     .commands = {capture}},
    {.name = "count",
     .value_name = "N",
     .kind = ValueKind::number,
     .least = 1,
     .help = "With --every: end after N captures",
     .commands = {capture}},
    {.name = "keep-if-changed",
     .help = "With --every: keep a trace, and print its report, only if verdict or culprit are not as before; metrics "
             "are always written",
     .commands = {capture}},
};

/// For comparisons and baselines alone.
const std::vector<OptionEntry> kComparisonOptions = {
    {.name = "baseline",
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Compare with the runs of this baseline; then all recordings named are candidates",
     .commands = {compare, config},
     .is_setting = true,
     .key = "baseline"},
    {.name = "label",
     .value_name = "NAME",
     .kind = ValueKind::text,
     .help = "Use only the runs of the baseline that have this label",
     .commands = {compare}},
    {.name = "label",
     .value_name = "NAME",
     .kind = ValueKind::text,
     .help = "add: what the runs are of, e.g. a commit",
     .commands = {baseline}},
    {.name = "keep",
     .value_name = "N",
     .kind = ValueKind::number,
     .help = "prune: how many runs to keep, those that were added last",
     .commands = {baseline}},
    {.name = "keep-sessions",
     .value_name = "N",
     .kind = ValueKind::number,
     .least = 1,
     .help = "add, prune: keep the runs of the last N sessions: recordings of one machine without half an hour between "
             "them",
     .commands = {baseline}},
    {.name = "weak",
     .help =
         "Judge with as few as 3 recordings a side, and only what is 5 % slower: fires on identical code more often",
     .commands = {compare, config},
     .is_setting = true,
     .key = "weak"},
    {.name = "across-machines",
     .help = "Judge the times of recordings of another machine too: each iterator and op is held against all others",
     .commands = {compare, config},
     .is_setting = true,
     .key = "across-machines"},
    {.name = "max-slowdown",
     .value_name = "PERCENT",
     .kind = ValueKind::share,
     .help =
         "Fail only if a step gets longer by more than this, e.g. 2%, as a model of its parts has it; findings count "
         "as before",
     .commands = {compare, config},
     .is_setting = true,
     .key = "max-slowdown"},
    {.name = "judge",
     .value_name = "get-next|step|all",
     .kind = ValueKind::word,
     .words = kJudgedTimes,
     .help = "Count a GetNext or step that is at least 25 % longer as a regression too; may be repeated",
     .commands = {compare, config},
     .repeats = true,
     .is_setting = true,
     .key = "judge"},
};

/// For batches and folders that are followed.
const std::vector<OptionEntry> kBatchOptions = {
    {.name = "files-from",
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Read more paths from this file, one a line; - is standard input",
     .commands = {batch}},
    {.name = "null",
     .letter = '0',
     .help = "The paths of --files-from end with a zero byte, as those of 'find -print0' do",
     .commands = {batch}},
    {.name = "jobs",
     .letter = 'j',
     .value_name = "N",
     .kind = ValueKind::number,
     .least = 1,
     .most = kMostJobs,
     .help = "Traces that are diagnosed at once, each in a process of its own (default: one for each core)",
     .commands = {batch, watch}},
    {.name = "timeout",
     .value_name = "SECONDS",
     .kind = ValueKind::number,
     .default_text = "600",
     .help = "Give up on a trace that takes longer, 0: never; its row says so",
     .commands = {batch, watch}},
    {.name = "shard",
     .value_name = "I/N",
     .kind = ValueKind::text,
     .help = "Take only the traces of part I of N, from 1/N to N/N: the path decides, so the parts never change",
     .commands = {batch}},
    {.name = "resume",
     .help = "Go on with the file after -o: traces that have a row in it are skipped",
     .commands = {batch}},
    {.name = "name",
     .value_name = "NAME",
     .kind = ValueKind::text,
     .help = "The path that the row of the trace on standard input gets",
     .commands = {batch}},
    {.name = "exit-zero",
     .help = "Exit with 0 if all rows were written, whatever they say: for engines that take all else for a failure",
     .commands = {batch, watch}},
    {.name = "every",
     .value_name = "TIME",
     .kind = ValueKind::duration,
     .least = 1000,
     .default_text = "30s",
     .help = "Look again so long after everything new was diagnosed",
     .commands = {watch}},
    {.name = "once", .help = "Diagnose what is new and whole, and end: for cron", .commands = {watch}},
};

/// For some pages of `show` alone.
const std::vector<OptionEntry> kPageOptions = {
    {.name = "call",
     .value_name = "N",
     .kind = ValueKind::number,
     .least = 1,
     .help = "calls, timeline: only the call of this number in its pipeline",
     .commands = {show},
     .pages = kCallPages},
    {.name = "step",
     .value_name = "N",
     .kind = ValueKind::number,
     .help = "timeline: only the step that the trace marks with this number",
     .commands = {show},
     .pages = kTimelinePages},
    {.name = "pipeline",
     .value_name = "ID",
     .kind = ValueKind::text,
     .help = "calls, timeline: only this pipeline, an id as 'show tree' prints it",
     .commands = {show},
     .pages = kCallPages},
    {.name = "top",
     .value_name = "N",
     .kind = ValueKind::number,
     .help = "How many calls or rows, 0: all (default: calls the 10 longest slow ones, json and csv 100, 0: slow or "
             "not; tables 20, json and csv all)",
     .commands = {show},
     .pages = kRankedPages},
    {.name = "top",
     .value_name = "N",
     .kind = ValueKind::number,
     .help = "How many entries of each ranking, 0: all (default: 10, json and csv all)",
     .commands = {fleet}},
    {.name = "group-by",
     .value_name = "KEY",
     .kind = ValueKind::text,
     .help =
         "Rank groups of traces too: by job (the directory of the runs), line (of code that made the culprit), "
         "culprit, pipeline, host, or path:REGEX, what the first group of an extended regular expression, or all of "
         "it, finds in the path",
     .commands = {fleet, config},
     .is_setting = true,
     .key = "group-by"},
    {.name = "price",
     .value_name = "PER_HOUR",
     .kind = ValueKind::price,
     .help = "Say what the hours that fixes save are worth, at this price of an hour in any currency, e.g. 2.48",
     .commands = {fleet}},
    {.name = "sort",
     .value_name = "COLUMN",
     .kind = ValueKind::text,
     .help = "Tables: sort by this column, a name as --format csv prints it",
     .commands = {show},
     .pages = kTablePages},
    {.name = "by",
     .value_name = "name|type",
     .kind = ValueKind::word,
     .words = kOpGroupings,
     .help = "ops: a row for each name (default) or for each type",
     .commands = {show},
     .pages = kOpPages},
    {.name = "with-idle", .help = "ops: include the time in which no op ran", .commands = {show}, .pages = kOpPages},
    {.name = "by-step",
     .help = "hosts: a row for each step alone, with the least, the average and the most of its cores",
     .commands = {show},
     .pages = kHostPages},
};

/// For `whatif` alone.
const std::vector<OptionEntry> kWhatIfOptions = {
    {.name = "fix",
     .value_name = "KIND[:ITERATOR][,p=N|auto][,cycle=N]",
     .kind = ValueKind::fix,
     .help = "Predict this fix, e.g. parallel_map:Map,p=8; may be repeated, all are made together. KIND: parallel_map, "
             "parallel_interleave, parallel_batch, prefetch, iterate_once, prefetch_below, cache, filter_first, "
             "map_after, skip_first, parallel_filter, split_cache, files, vectorize, threadpool, buffer, unordered, "
             "free (what the iterator's work costs at most) or none; ITERATOR: the end of a long name",
     .commands = {whatif},
     .repeats = true},
    {.name = "ideal",
     .value_name = "TRACE",
     .kind = ValueKind::file,
     .help = "Measure the ceiling by this run of the same loop on one element from memory (scripts/record --ideal), a "
             "trace or a folder: how much of the gap to it each fix closes",
     .commands = {whatif}},
    {.name = "ideal",
     .value_name = "TRACE",
     .kind = ValueKind::file,
     .help = "Say how much of the gap to this run the candidate closed: the same loop on one element from memory "
             "(scripts/record --ideal), a trace or a folder",
     .commands = {compare}},
    {.name = "plan", .help = "List the fixes after which your model hardly waits for its input", .commands = {whatif}},
    {.name = "cores",
     .value_name = "N",
     .kind = ValueKind::number,
     .least = 1,
     .most = kMostCores,
     .help = "Predict for a machine with N cores, 1 to 4096 (default: those of the trace)",
     .commands = {whatif}},
    {.name = "consumer",
     .value_name = "FACTOR",
     .kind = ValueKind::factor,
     .help = "Predict for a model that computes FACTOR times as fast, e.g. 2: a device twice as fast",
     .commands = {whatif}},
};

/// For `query` and `schema` alone.
const std::vector<OptionEntry> kQueryOptions = {
    {.name = "db",
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Keep the traces in this SQLite database and ask about all that are in it; each is loaded once",
     .commands = {query}},
    {.name = "sql-file",
     .value_name = "FILE",
     .kind = ValueKind::file,
     .help = "Read the SQL from FILE; then all arguments are traces",
     .commands = {query}},
    {.name = "schema", .help = "Print all tables with their columns", .commands = {query}},
    {.name = "examples", .help = "Print SQL for common questions", .commands = {query}},
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

}  // namespace

std::span<const OptionEntry> capture_options() {
  return kCaptureOptions;
}

std::span<const OptionEntry> comparison_options() {
  return kComparisonOptions;
}

std::span<const OptionEntry> batch_options() {
  return kBatchOptions;
}

std::span<const OptionEntry> page_options() {
  return kPageOptions;
}

std::span<const OptionEntry> whatif_options() {
  return kWhatIfOptions;
}

std::span<const OptionEntry> query_options() {
  return kQueryOptions;
}

}  // namespace doctor
