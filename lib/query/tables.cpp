#include "query/tables.h"

#include <fmt/format.h>

#include "fleet/row_columns.h"
#include "text/table.h"

namespace doctor {
namespace {

std::string without_code(std::string_view text) {
  std::string plain;
  for (const char letter : text) {
    if (letter != '`') plain += letter;
  }
  return plain;
}

using enum QueryType;

const QueryColumn kTrace = {"trace", integer, false, "", "number of the trace, as in `traces` and `files`"};
constexpr std::string_view kStartMeaning =
    "since the first event of all files whose clocks are less than 26 days apart, in all tables alike";
const QueryColumn kHost = {"host", text, false, "", "machine that was recorded, else its file"};

const QueryTable kEvents = {
    "events",
    "An event of a trace, the same columns as `convert --format ndjson` writes",
    {
        {"file", text, false, "", "path of the file"},
        {"host", text, false, "", "machine that was recorded; empty if the trace does not say"},
        {"process", text, false, "", "`/host:CPU`, `/device:GPU:0`"},
        {"thread", text, false, "", "name of the thread, of a device's stream"},
        {"pid", integer, false, "", "as in the file"},
        {"tid", integer, false, "", "as in the file"},
        {"name", text, false, "", "the short one where there are two: `Iterator::Map`"},
        {"long_name", text, false, "", "the same as `name` where there is one only: `Iterator::Root::Prefetch::Map`"},
        {"op_type", text, false, "", "`MatMul` of the op `dense/MatMul:MatMul`; empty for other events"},
        {"origin_ns", text, false, "ns",
         "what `start_us` counts from, mostly since 1970, cut off to a nanosecond: 64 bits as text"},
        {"start_us", real, false, "us", kStartMeaning},
        {"duration_us", real, false, "us", ""},
        {"iterator_id", text, true, "", "of a GetNext call of an iterator: 64 bits without a sign as text"},
        {"parent_id", text, true, "", "likewise, of the iterator that calls it"},
        {"args", text, false, "", "all arguments as a JSON object of texts: `args ->> '$.parallelism'`"},
    }};

// The names that BigQuery infers from the JSON of a timeline, so that SQL which was written for it runs here as it is.
const QueryTable kTimelineEvents = {
    "timeline_events",
    "An event, in the columns that a warehouse gets from the JSON of TF1 timelines: `args.name` is `arg_name`",
    {
        {"name", text, false, "", "type of the op; `unknown` where TF1 does not know it"},
        {"pid", integer, false, "", "as in the file"},
        {"tid", integer, false, "", "as in the file"},
        {"ts", real, false, "us", "as `events.start_us`"},
        {"dur", real, false, "us", "as `events.duration_us`"},
        {"arg_name", text, false, "",
         "node of the graph or iterator; as `events.long_name` where there is no such argument"},
        {"arg_op", text, false, "", "likewise, as `events.op_type`"},
    }};

const QueryTable kIterators = {
    "iterators",
    "A logical iterator of a host: objects that differ only in epoch or file are one",
    {
        kTrace,
        kHost,
        {"iterator", integer, false, "", "its number within the host, from 0"},
        {"parent", integer, true, "", "number of the iterator that calls it"},
        {"root", integer, true, "", "number of the root of its pipeline"},
        {"depth", integer, false, "", "0 for a root"},
        {"long_name", text, false, "", "`Iterator::Root::Prefetch::Map`"},
        {"short_name", text, false, "", "`Map`"},
        {"dataset_name", text, false, "", "node of the dataset's graph; empty if the trace does not say"},
        {"kind", text, false, "", "`source`, `transformation`, or `frame` for what does no work of its own"},
        {"is_async", boolean, false, "", "its input runs on other threads"},
        {"id", text, true, "", "of the first object, as in `events.iterator_id`"},
        {"parent_id", text, true, "", "likewise"},
        {"calls", integer, false, "", "GetNext calls"},
        {"instances", integer, false, "", "objects that were folded into this one"},
        {"total_us", real, false, "us", "sum of the durations of its calls"},
        {"self_us", real, false, "us", "of that: in no other iterator's call, and not waiting"},
        {"wait_us", real, false, "us", "of that: waiting for other threads"},
        {"function_us", real, false, "us", "beside its calls: ops of its functions on other threads"},
        {"critical_us", real, false, "us", "that the consumers' calls were held by it: what to look at first"},
        {"longest_us", real, false, "us", "its longest call"},
        {"attributes", text, false, "", "values seen last, a JSON object: `attributes ->> '$.parallelism'`"},
        {"source_file", text, true, "", "of the program, where it makes the dataset; null where that is not known"},
        {"source_line", integer, true, "", "likewise, counted from 1"},
    }};

const QueryTable kCalls = {
    "calls",
    "A GetNext call of a consumer. Pipelines that only feed another one are left out: their calls are its waits",
    {
        kTrace,
        kHost,
        {"pipeline", integer, true, "", "number of the root among `iterators`; null where only GetNext ops were seen"},
        {"call", integer, false, "", "its number in the pipeline in order of time, from 1"},
        {"start_us", real, false, "us", kStartMeaning},
        {"latency_us", real, false, "us", "how long the consumer waited for it"},
        {"thread", text, false, "", "of the consumer"},
        {"is_warmup", boolean, false, "", "among the first calls, which the verdict leaves out"},
        {"is_slow", boolean, false, "", "longer than 50 us: the element was not ready"},
    }};

const QueryTable kSegments = {
    "segments",
    "A part of a call's time, and who held it. The segments of a call sum to its latency",
    {
        kTrace,
        kHost,
        {"pipeline", integer, true, "", "as in `calls`"},
        {"call", integer, false, "", "as in `calls`"},
        {"segment", integer, false, "", "its number in the call in order of time, from 1"},
        {"start_us", real, false, "us", kStartMeaning},
        {"duration_us", real, false, "us", ""},
        {"kind", text, false, "",
         "`self`: the iterator's own work, `function`: the user's function, `handoff`: between threads, `unseen`: "
         "beyond the window, `outside`: in no iterator"},
        {"iterator", integer, true, "", "number among `iterators`; null for `outside`"},
        {"long_name", text, true, "", "of that iterator"},
        {"thread", text, false, "", "where it was seen"},
    }};

const QueryTable kSteps = {
    "steps",
    "A step of training and what its time went to, as `show steps`",
    {
        kTrace,
        kHost,
        {"step", integer, true, "", "its number as the trace has it, else counted from 1"},
        {"start_us", real, false, "us", kStartMeaning},
        {"duration_us", real, false, "us", ""},
        {"compilation_us", real, false, "us", ""},
        {"output_us", real, false, "us", "copies from the device"},
        {"input_us", real, false, "us", "waiting in GetNext, copies to the device"},
        {"kernel_launch_us", real, false, "us", ""},
        {"host_compute_us", real, false, "us", ""},
        {"device_to_device_us", real, false, "us", ""},
        {"device_compute_16_us", real, false, "us", "in 16-bit precision"},
        {"device_compute_32_us", real, false, "us", ""},
        {"other_us", real, false, "us", ""},
        {"is_counted", boolean, false, "", "0: the first and the last of many, which averages leave out"},
        {"copy_wait_us", real, false, "us", "a TPU waits for copies beside its ops"},
    }};

const QueryTable kOps = {"ops",
                         "All runs of an op on the host or on the devices of a trace, as `show ops`",
                         {
                             kTrace,
                             kHost,
                             {"host_or_device", text, false, "", "`host` or `device`"},
                             {"type", text, false, "", "`MatMul`; `Dataset` for an iterator"},
                             {"name", text, false, "", "`dense/MatMul`; the long name of an iterator"},
                             {"occurrences", integer, false, "", ""},
                             {"total_us", real, false, "us", "ops that it calls included"},
                             {"self_us", real, false, "us", "of that: in no other op on its thread"},
                             {"framework_op", text, false, "", "of an op of XLA: `jit(f)/jit(main)/add`; else empty"},
                             {"source", text, false, "", "of an op of XLA: `train.py:37`; else empty"},
                             {"flops", real, false, "", "of all runs; 0 if the trace does not say"},
                             {"bytes_accessed", real, false, "bytes", "likewise"},
                         }};

const QueryTable kKernels = {"kernels",
                             "All runs of a kernel that was launched in one way for one op, as `show kernels`",
                             {
                                 kTrace,
                                 kHost,
                                 {"kernel_name", text, false, "", ""},
                                 {"op_name", text, false, "", "empty if the trace does not say"},
                                 {"registers_per_thread", integer, false, "", ""},
                                 {"shared_memory_bytes", integer, false, "bytes", "of a block"},
                                 {"block", text, false, "", "`128,1,1`"},
                                 {"grid", text, false, "", "`80,1,1`"},
                                 {"occupancy_percent", real, true, "%", "theoretical"},
                                 {"op_tensor_core_eligible", boolean, false, "", "the op could run on TensorCores"},
                                 {"kernel_uses_tensor_core", boolean, false, "", ""},
                                 {"occurrences", integer, false, "", ""},
                                 {"total_us", real, false, "us", ""},
                                 {"min_us", real, false, "us", ""},
                                 {"max_us", real, false, "us", ""},
                             }};

const QueryTable kFindings = {
    "findings",
    "A fault that a rule found in a trace by itself, with the thresholds in force when it was loaded; not what was "
    "suppressed",
    {
        kTrace,
        {"rule", text, false, "", "`tfdata-doctor explain RULE` prints its page"},
        {"severity", text, false, "", "`error`, `warning` or `note`"},
        {"subject", text, false, "", "long name of the iterator at fault; empty for the whole trace or pipeline"},
        {"message", text, true, "", "one sentence with its numbers; null for a row of `batch`"},
        {"at_stake_us", real, true, "us", "time waited for because of it; null for a row of `batch`"},
    }};

const QueryTable kFiles = {"files",
                           "A file that was read, or that a row of `batch` is about",
                           {
                               kTrace,
                               {"path", text, false, "", "as in `events.file`"},
                               {"format", text, true, "", "`xspace`, `chrome_json` or `tf1_timeline`"},
                               {"bytes", integer, false, "bytes", "as stored: compressed, if it is"},
                               {"sha256", text, true, "", "of the stored bytes"},
                               {"host", text, true, "", "machine that was recorded; null if the trace does not say"},
                               {"events", integer, false, "", "in the file, those that were lost included"},
                               {"is_complete", boolean, false, "", "0 where anything was damaged, cut off or left out"},
                               {"lost", text, true, "",
                                "what, a JSON object of counts: `lost ->> '$.flow_events'`; null for a row of `batch`"},
                           }};

QueryType type_of(RowType type) {
  switch (type) {
    case RowType::integer:
      return integer;
    case RowType::real:
      return real;
    case RowType::boolean:
      return boolean;
    default:
      return text;
  }
}

/// The columns of a row of `batch`, whose lists are JSON.
QueryTable traces_table() {
  QueryTable table = {"traces", "A trace and its diagnosis, the same columns as a row of `batch`", {kTrace}};
  table.columns.front().meaning =
      "its number: here, in the order in which traces were added; TF1 timelines that were "
      "given together are one trace";
  for (const RowColumn& column : trace_row_columns()) {
    if (column.name == "schema") continue;
    table.columns.push_back({column.name, type_of(column.type()), column.is_nullable(), column.unit, column.meaning});
  }
  return table;
}

// What has a start is stored with the picoseconds since the origin of its trace, and shown by a view on the clock of
// all traces: that may change with every trace that is added.
constexpr std::string_view kStart = "start_us";
constexpr std::string_view kStoredStart = "start_ps";

/// Whether it is a view over what all events are stored in.
bool shows_events(const QueryTable& table) {
  return table.name == kEvents.name || table.name == kTimelineEvents.name;
}

bool has_start(const QueryTable& table) {
  return !shows_events(table) && std::any_of(table.columns.begin(), table.columns.end(),
                                             [](const QueryColumn& column) { return column.name == kStart; });
}

std::string sql_to_view(const QueryTable& table) {
  const std::string columns = joined(table.columns, ", ", [](const QueryColumn& column) {
    return column.name == kStart ? fmt::format("(row.{} + clock.shift_ps) / 1e6 AS {}", kStoredStart, kStart)
                                 : fmt::format("row.\"{0}\" AS \"{0}\"", column.name);
  });
  return fmt::format(
      "CREATE VIEW {} AS SELECT {} FROM {} AS row LEFT JOIN trace_clocks AS clock ON clock.trace = row.trace;\n",
      table.name, columns, stored_as(table));
}

std::string_view affinity_of(QueryType type) {
  switch (type) {
    case text:
      return "TEXT";
    case real:
      return "REAL";
    default:
      return "INTEGER";
  }
}

constexpr std::string_view kStorage = R"(
CREATE TABLE loaded (content TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE event_clocks (file INTEGER PRIMARY KEY, trace INTEGER NOT NULL, origin_ns INTEGER NOT NULL,
  first_ps INTEGER NOT NULL, base_ns INTEGER, base_ps INTEGER);
CREATE TABLE trace_clocks (trace INTEGER PRIMARY KEY, origin_ns INTEGER NOT NULL, shift_ps INTEGER NOT NULL DEFAULT 0);
CREATE TABLE event_lines (line INTEGER PRIMARY KEY, file INTEGER NOT NULL, path TEXT NOT NULL, host TEXT NOT NULL,
  process TEXT NOT NULL, thread TEXT NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL,
  origin_ns INTEGER NOT NULL DEFAULT 0, shift_ps INTEGER NOT NULL DEFAULT 0);
CREATE INDEX event_lines_of_file ON event_lines (file);
CREATE TABLE event_names (name_number INTEGER PRIMARY KEY, name TEXT NOT NULL, long_name TEXT NOT NULL,
  op_type TEXT NOT NULL, iterator_id TEXT, parent_id TEXT);
CREATE TABLE event_rows (line INTEGER NOT NULL, name_number INTEGER NOT NULL, start_ps INTEGER NOT NULL,
  duration_ps INTEGER NOT NULL, args TEXT);
)";

// SQLite leaves a left join out where nothing of its table is asked for.
constexpr std::string_view kEventView = R"(
CREATE VIEW events AS SELECT line.path AS file, line.host AS host, line.process AS process, line.thread AS thread,
  line.pid AS pid, line.tid AS tid, name.name AS name, name.long_name AS long_name, name.op_type AS op_type,
  CAST(line.origin_ns AS TEXT) AS origin_ns, (event.start_ps + line.shift_ps) / 1e6 AS start_us,
  event.duration_ps / 1e6 AS duration_us, name.iterator_id AS iterator_id, name.parent_id AS parent_id,
  coalesce(event.args, '{}') AS args
FROM event_rows AS event LEFT JOIN event_lines AS line ON line.line = event.line
  LEFT JOIN event_names AS name ON name.name_number = event.name_number;
)";

}  // namespace

std::span<const QueryTable> query_tables() {
  static const std::vector<QueryTable> kTables = {kEvents,   kTimelineEvents, kIterators, kCalls,
                                                  kSegments, kSteps,          kOps,       kKernels,
                                                  kFindings, traces_table(),  kFiles};
  return kTables;
}

const QueryTable* find_query_table(std::string_view name) {
  const std::span<const QueryTable> tables = query_tables();
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const QueryTable& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

std::string_view to_word(QueryType type) {
  switch (type) {
    case text:
      return "text";
    case integer:
      return "integer";
    case real:
      return "real";
    case boolean:
      break;
  }
  return "boolean";
}

std::string stored_as(const QueryTable& table) {
  return std::string(table.name) + (has_start(table) ? "_rows" : "");
}

std::string sql_to_make_tables(bool with_events) {
  std::string sql;
  std::string views;
  for (const QueryTable& table : query_tables()) {
    if (shows_events(table)) continue;
    sql += fmt::format("CREATE TABLE {} (", stored_as(table));
    for (const QueryColumn& column : table.columns) {
      const bool is_start = column.name == kStart;
      sql += fmt::format("{}\"{}\" {}{}", sql.back() == '(' ? "" : ", ", is_start ? kStoredStart : column.name,
                         affinity_of(is_start ? integer : column.type), column.is_nullable ? "" : " NOT NULL");
    }
    sql += ");\n";
    if (has_start(table)) views += sql_to_view(table);
  }
  return sql + std::string(kStorage) + (with_events ? std::string(kEventView) : "") + views;
}

std::string_view sql_to_show_timelines() {
  return R"(
CREATE TEMP VIEW timeline_events AS SELECT name, pid, tid, start_us AS ts, duration_us AS dur,
  coalesce(args ->> '$.name', long_name) AS arg_name, coalesce(args ->> '$.op', op_type) AS arg_op FROM main.events;
)";
}

std::string tables_text(PageWidth width) {
  return joined(query_tables(), "\n", [&](const QueryTable& table) {
    std::vector<TextRow> rows;
    for (const QueryColumn& column : table.columns) {
      rows.push_back({"  " + std::string(column.name),
                      std::string(to_word(column.type)) + (column.is_nullable ? " or null" : ""),
                      std::string(column.unit), without_code(column.meaning)});
    }
    return fitted_lines(fmt::format("{}: {}\n", table.name, without_code(table.meaning)), width, 2) +
           text_table({{}, {}, {}, {"", Align::left, Fit::wrap}}, rows, width);
  });
}

}  // namespace doctor
