#include "command_line/option_table.h"
#include "query/warehouse.h"

namespace doctor {
namespace {

using enum Command;
using enum ValueKind;

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

const std::vector<OptionEntry> kCommandOptions = {
    // For `capture` alone.
    OptionEntry("duration", duration, {capture}, "How long to trace: 500ms, 2s, 1m; ten steps or more should fit in",
                {.least = 1, .default_text = "2s"}),
    OptionEntry(
        "host-tracer-level", number, {capture},
        "What to record of the host: 0 nothing, 1 what the program marks itself, 2 ops and tf.data, 3 all. Below "
        "2 no input pipeline can be judged",
        {.most = 3, .default_text = "2"}),
    OptionEntry("device-tracer-level", number, {capture},
                "What to record of devices: 0 nothing; more than 1 where the profiler of a device has it",
                {.most = 3, .default_text = "1"}),
    OptionEntry(
        "python-tracer-level", number, {capture},
        "1: record Python's calls, too. They slow the job down, but show its waits in next() where tf.data is not "
        "recorded",
        {.most = 1, .default_text = "0"}),
    OptionEntry("delay", duration, {capture},
                "Let all hosts begin at the same moment, TIME from now, as far as their clocks agree; without it each "
                "begins when it is asked",
                {.least = 1}),
    OptionEntry("timeout", duration, {capture},
                "Give up on a host that has not sent its trace TIME after the end of it",
                {.least = 1, .default_text = "1m"}),
    OptionEntry(
        "retries", number, {capture},
        "Try again, up to N times, where a host fails in a way that may pass: nothing listens yet, another capture "
        "is running, nothing ran, no answer in time",
        {.most = kMostRetries, .default_text = "0"}),
    OptionEntry("retry-after", duration, {capture},
                "Wait TIME before the first retry, and twice as long before each that follows, up to a minute",
                {.default_text = "1s"}),
    OptionEntry("max-size", size, {capture}, "Refuse a trace that is larger, e.g. 512M", {.default_text = "2G"}),
    OptionEntry("every", duration, {capture},
                "Capture again and again, TIME from one beginning to the next, until Ctrl-C"),
    OptionEntry("count", number, {capture}, "With --every: end after N captures", {.least = 1}),
    OptionEntry(
        "keep-if-changed", none, {capture},
        "With --every: keep a trace, and print its report, only if verdict or culprit are not as before; metrics "
        "are always written"),
    // For comparisons and baselines alone.
    OptionEntry("baseline", file, {compare, config},
                "Compare with the runs of this baseline; then all recordings named are candidates",
                {.key = "baseline"}),
    OptionEntry("label", text, {compare}, "Use only the runs of the baseline that have this label",
                {.value_name = "NAME"}),
    OptionEntry("label", text, {baseline}, "add: what the runs are of, e.g. a commit", {.value_name = "NAME"}),
    OptionEntry("keep", number, {baseline}, "prune: how many runs to keep, those that were added last"),
    OptionEntry(
        "keep-sessions", number, {baseline},
        "add, prune: keep the runs of the last N sessions: recordings of one machine without half an hour between "
        "them",
        {.least = 1}),
    OptionEntry(
        "weak", none, {compare, config},
        "Judge with as few as 3 recordings a side, and only what is 5% slower: fires on identical code more often",
        {.key = "weak"}),
    OptionEntry("across-machines", none, {compare, config},
                "Judge the times of recordings of another machine too: each iterator and op is held against all others",
                {.key = "across-machines"}),
    OptionEntry("max-extra-work", share, {compare, config},
                "Fail where a change of the pipeline adds more work than this, as a share of the base's work",
                {.value_name = "PERCENT", .default_text = "1%", .key = "max-extra-work"}),
    OptionEntry(
        "max-slowdown", share, {compare, config},
        "Fail only if a step gets longer by more than this, e.g. 2%, as a model of its parts has it; findings count "
        "as before",
        {.value_name = "PERCENT", .key = "max-slowdown"}),
    OptionEntry("judge", word, {compare, config},
                "Count a GetNext or step that is at least 25% longer as a regression too; may be repeated",
                {.value_name = "get-next|step|all", .words = kJudgedTimes, .repeats = true, .key = "judge"}),
    // For batches and folders that are followed.
    OptionEntry("files-from", file, {batch}, "Read more paths from this file, one a line; - is standard input"),
    OptionEntry("null", none, {batch}, "The paths of --files-from end with a zero byte, as those of 'find -print0' do",
                {.letter = '0'}),
    OptionEntry("tar", file, {batch},
                "Diagnose the traces in a tar archive, too, with the names that they have in it; - is standard input"),
    OptionEntry("jobs", number, {batch, watch},
                "Traces that are diagnosed at once, each in a process of its own (default: one for each core)",
                {.letter = 'j', .least = 1, .most = kMostJobs}),
    OptionEntry("timeout", number, {batch, watch}, "Give up on a trace that takes longer, 0: never; its row says so",
                {.value_name = "SECONDS", .default_text = "600"}),
    OptionEntry("shard", text, {batch},
                "Take only the traces of part I of N, from 1/N to N/N: the path decides, so the parts never change",
                {.value_name = "I/N"}),
    OptionEntry("resume", none, {batch}, "Go on with the file after -o: traces that have a row in it are skipped"),
    OptionEntry("name", text, {batch}, "The path that the row of the trace on standard input gets",
                {.value_name = "NAME"}),
    OptionEntry(
        "exit-zero", none, {batch, watch},
        "Exit with 0 if all rows were written, whatever they say: for engines that take all else for a failure"),
    OptionEntry("every", duration, {watch}, "Look again so long after everything new was diagnosed",
                {.least = 1000, .default_text = "30s"}),
    OptionEntry("once", none, {watch}, "Diagnose what is new and whole, and end: for cron"),
    // For some pages of `show` alone.
    OptionEntry("call", number, {show}, "calls, timeline: only the call of this number in its pipeline",
                {.least = 1, .pages = kCallPages}),
    OptionEntry("step", number, {show}, "timeline: only the step that the trace marks with this number",
                {.pages = kTimelinePages}),
    OptionEntry("pipeline", text, {show}, "calls, timeline: only this pipeline, an id as 'show tree' prints it",
                {.value_name = "ID", .pages = kCallPages}),
    OptionEntry("top", number, {show},
                "How many calls or rows, 0: all (default: calls the 10 longest slow ones, json and csv 100, 0: slow or "
                "not; tables 20, json and csv all)",
                {.pages = kRankedPages}),
    OptionEntry("top", number, {fleet}, "How many entries of each ranking, 0: all (default: 10, json and csv all)"),
    OptionEntry(
        "group-by", text, {fleet, config},
        "Rank groups of traces too: by job (the directory of the runs), line (of code that made the culprit), "
        "culprit, pipeline, host, or path:REGEX, what the first group of an extended regular expression, or all of "
        "it, finds in the path",
        {.value_name = "KEY", .key = "group-by"}),
    OptionEntry("partial", none, {fleet},
                "Write sums that another run of fleet adds to those of other rows, in place of a page"),
    OptionEntry("price", price, {fleet},
                "Say what the hours that fixes save are worth, at this price of an hour in any currency, e.g. 2.48",
                {.value_name = "PER_HOUR"}),
    OptionEntry("sort", text, {show}, "Tables: sort by this column, a name as --format csv prints it",
                {.value_name = "COLUMN", .pages = kTablePages}),
    OptionEntry("by", word, {show}, "ops: a row for each name (default) or for each type",
                {.value_name = "name|type", .words = kOpGroupings, .pages = kOpPages}),
    OptionEntry("with-idle", none, {show}, "ops: include the time in which no op ran", {.pages = kOpPages}),
    OptionEntry("by-step", none, {show},
                "hosts: a row for each step alone, with the least, the average and the most of its cores",
                {.pages = kHostPages}),
    // For `whatif` alone.
    OptionEntry(
        "fix", fix, {whatif},
        "Predict this fix, e.g. parallel_map:Map,p=8; may be repeated, all are made together. KIND: parallel_map, "
        "parallel_interleave, parallel_batch, prefetch, iterate_once, prefetch_below, cache, filter_first, "
        "map_after, skip_first, parallel_filter, split_cache, files, vectorize, threadpool, buffer, unordered, "
        "free (what the iterator's work costs at most) or none; ITERATOR: the end of a long name",
        {.value_name = "KIND[:ITERATOR][,p=N|auto][,cycle=N]", .repeats = true}),
    OptionEntry(
        "ideal", file, {whatif},
        "Measure the ceiling by this run of the same loop on one element from memory (scripts/record --ideal), a "
        "trace or a folder: how much of the gap to it each fix closes",
        {.value_name = "TRACE"}),
    OptionEntry("ideal", file, {compare},
                "Say how much of the gap to this run the candidate closed: the same loop on one element from memory "
                "(scripts/record --ideal), a trace or a folder",
                {.value_name = "TRACE"}),
    OptionEntry("plan", none, {whatif}, "List the fixes after which your model hardly waits for its input"),
    OptionEntry("cores", number, {whatif},
                "Predict for a machine with N cores, 1 to 4096 (default: those of the trace)",
                {.least = 1, .most = kMostCores}),
    OptionEntry("consumer", factor, {whatif},
                "Predict for a model that computes FACTOR times as fast, e.g. 2: a device twice as fast"),
    // For `query` and `schema` alone.
    OptionEntry("db", file, {query},
                "Keep the traces in this SQLite database and ask about all that are in it; each is loaded once"),
    OptionEntry("sql-file", file, {query}, "Read the SQL from FILE; then all arguments are traces"),
    OptionEntry("schema", none, {query}, "Print all tables with their columns"),
    OptionEntry("examples", none, {query}, "Print SQL for common questions"),
    OptionEntry("for", word, {schema}, "bigquery, clickhouse, duckdb or spark",
                {.value_name = "ENGINE", .words = kWarehouseNames}),
    OptionEntry("of", word, {schema},
                "What is loaded: the events that 'convert --format ndjson' writes, or the rows of batch",
                {.value_name = "events|rows", .words = kLoadedTableNames, .default_text = "events"}),
};

}  // namespace

std::span<const OptionEntry> command_options() {
  return kCommandOptions;
}

}  // namespace doctor
