#pragma once

#include "base/result.h"
#include "base/time.h"
#include "convert/event_columns.h"
#include "convert/event_writer.h"
#include "fleet/trace_row.h"
#include "io/file_descriptor.h"
#include "io/sqlite.h"
#include "measure/measurements.h"
#include "pipeline.h"
#include "query/query_database.h"
#include "trace/event_reader.h"
#include "trace/format.h"

namespace doctor {

/// Numbers what events of one name share, and stores it once: the name itself, for iterators with their ids. If a trace
/// has more names than fit, they are forgotten; names that recur are then stored again, under new numbers.
class EventNames {
 public:
  /// The largest number of names and iterator objects known at once. The largest of our traces has 5,120, the others
  /// some hundreds.
  static constexpr std::size_t kMostKnown = std::size_t{1} << 16;
  static constexpr std::size_t kMostKnownBytes = std::size_t{16} << 20;

  /// For the events of one reading. `has_tokens`: ids of iterators are stored, each with a number of its own.
  EventNames(QueryDatabase& database, bool has_tokens);

  /// True if arguments of this name are used, for ids.
  static bool wants(std::string_view argument) { return argument == "id" || argument == "parent_id"; }

  std::int64_t number_of(const EventFile& file, const TraceEvent& event);

  Result<void> finish() const { return rows_.finish(); }

 private:
  using Ids = std::pair<std::optional<std::uint64_t>, std::optional<std::uint64_t>>;

  struct Name {
    bool is_iterator = false;
    std::int64_t number = 0;              ///< of a name that is not an iterator's
    std::map<Ids, std::int64_t> objects;  ///< of an iterator
  };

  std::int64_t number_by_text(const EventFile& file, const TraceEvent& event);
  std::int64_t add(const EventColumns& columns);
  void forget_if_full();

  bool has_tokens_;
  static constexpr std::int64_t kManyNumbers = 0;

  RowInserter rows_;
  NameMemo<std::int64_t> numbers_;  ///< kManyNumbers for an iterator whose ids are stored
  std::int64_t next_;
  std::string key_;
  std::unordered_map<std::string, Name> names_;  ///< by long and short name
  std::size_t known_ = 0;                        ///< names and objects in `names_`
  std::size_t known_bytes_ = 0;                  ///< size of their keys
};

/// Stores events: in the database's EventStore if it has one, else several with one statement, which takes half the
/// time of storing each by itself.
class EventRows {
 public:
  EventRows(QueryDatabase& database, bool has_arguments);

  void add(std::int64_t line, std::int64_t name, Picoseconds start, Picoseconds duration,
           std::span<const EventArgument> arguments);

  bool has_failed() const { return fault_.has_value(); }

  /// Stores the rest. Errors: an event could not be stored.
  Result<void> finish();

 private:
  static constexpr std::size_t kRowsAtOnce = 32;
  static constexpr int kColumns = 5;

  struct Row {
    std::int64_t line = 0;
    std::int64_t name = 0;
    Picoseconds start = 0;
    Picoseconds duration = 0;
    std::string arguments;  ///< reused
  };

  void insert(const Statement& statement, std::size_t begin, std::size_t end);
  void flush();

  QueryDatabase& database_;
  bool has_arguments_;
  Statement insert_one_;
  Statement insert_many_;
  std::array<Row, kRowsAtOnce> rows_;
  std::size_t count_ = 0;
  /// the first one; kept at once, because the database forgets it with its next statement
  std::optional<Error> fault_;
};

/// The parts of events to store.
struct EventRequest {
  bool rows = false;       ///< store the events; else they are only counted
  bool names = false;      ///< store what follows from their names: most of the work
  bool tokens = false;     ///< store the ids of iterators and their parents
  bool arguments = false;  ///< store their arguments, which is half of the work
};

/// Loads the events of one file into the database.
class EventLoader final : public EventSink {
 public:
  /// `path` is the name of the file in the tables; the trace has this number.
  EventLoader(QueryDatabase& database, std::int64_t trace, std::string path, EventRequest request);

  void begin(const EventHeader& header) override;
  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view argument) const override;
  bool is_done() const override { return storage_ && storage_->rows.has_failed(); }

  /// Called after the last event. Errors: events could not be stored.
  Result<void> finish();

  /// The machine that was recorded, if the header names it.
  std::string host() const { return file_.header.hosts.empty() ? std::string() : file_.header.hosts.front(); }

 private:
  struct Storage {
    EventNames names;
    EventRows rows;
    RowInserter lines;
    std::int64_t next_line;
  };

  std::int64_t line_of(const TraceEvent& event);

  QueryDatabase& database_;
  std::int64_t trace_;
  EventRequest request_;
  EventFile file_;
  std::int64_t number_;
  std::optional<Picoseconds> first_start_;
  std::optional<Storage> storage_;   ///< nullopt if events are only counted
  std::vector<std::int64_t> lines_;  ///< indexed by EventLine::index: their numbers in the database; 0: not stored yet
};

/// A file to load.
struct QueryInput {
  std::string path;                ///< path to read it from
  std::string name;                ///< what the tables call it: the path, or "standard input"
  std::string sha256;              ///< empty: not requested
  const Format* format = nullptr;  ///< of a trace; null for rows of `batch`
};

struct QueryInputs {
  std::vector<QueryInput> traces;     ///< by name, each content once, so that the order of the names does not matter
  std::vector<QueryInput> rows;       ///< likewise
  std::vector<std::string> repeated;  ///< names of files that were left out: their content is in others
  std::vector<Error> unreadable;
  FileDescriptor standard_input;  ///< an unlinked copy of it, if it was named
};

/// Examines the named inputs: content distinguishes rows of `batch` from traces. Inputs that cannot be read do not stop
/// the others. Computing the digest of a file takes as long as counting its events, so a single file gets none unless
/// it is wanted. Several files are compared by it.
QueryInputs examine_inputs(const std::vector<std::string>& paths, bool wants_digests);

/// The tables of a diagnosis to fill, which determine what must be measured.
struct MeasurementRequest {
  bool diagnosis = false;  ///< iterators, kernels, findings, traces
  bool calls = false;      ///< calls, segments
  bool profile = false;    ///< steps, ops

  bool any() const { return diagnosis || calls || profile; }
  TraceNeeds needs() const;
};

/// Adds the results for one trace under its number. Errors: the database cannot be changed.
Result<void> load_measurements(QueryDatabase& database, std::int64_t trace, const Analysis& analysis,
                               const MeasurementRequest& request);

/// Adds a row to `traces`.
Result<void> load_trace_row(QueryDatabase& database, std::int64_t trace, const TraceRow& row);

/// Notes about a file of rows.
struct LoadedRows {
  std::optional<Error> first_not_row;  ///< how many lines are not rows, and why the first is not
};

/// Adds the rows of a file that `batch` wrote to `traces`, `files` and `findings`, all or none. An incomplete last line
/// is skipped, and so are lines that are not rows, as in `fleet`. Errors: no line is a row, the database cannot be
/// changed.
Result<LoadedRows> load_rows(QueryDatabase& database, const std::string& path);

/// What to load. Only what is requested is loaded, because a diagnosis and the arguments of all events take time.
struct LoadRequest {
  EventRequest events;
  MeasurementRequest measurements;
  bool files = false;
  bool traces = false;

  static LoadRequest everything();
};

/// Notes about single files, which do not stop the others.
struct LoadReport {
  std::vector<Error> unreadable;  ///< why files could not be read
  std::vector<Error> repeated;    ///< how much of them other files hold, too
  std::vector<Error> not_rows;    ///< how many lines of a file of rows are not rows
};

/// Adds files to the database, each trace completely or not at all, and none whose content is there already. TF1
/// timelines together are one trace; any other file is one. `setup` says how traces are diagnosed, except for what is
/// needed of them. Errors: the database cannot be changed.
Result<void> load_inputs(QueryDatabase& database, const QueryInputs& inputs, const LoadRequest& request,
                         const DiagnosisSetup& setup, LoadReport& report);

}  // namespace doctor
