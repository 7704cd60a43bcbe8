#include <sqlite3.h>

#include <compare>

#include "base/result.h"
#include "base/time.h"
#include "base/try.h"
#include "convert/convert.h"
#include "fleet/trace_row.h"
#include "io/byte_source.h"
#include "io/file_progress.h"
#include "query/load_inputs.h"
#include "query/query_database.h"
#include "text/json_page.h"
#include "text/numbers.h"
#include "trace/recording_pairs.h"
#include "trace/repeated_events.h"

namespace doctor {
namespace {

/// A time that 64 bits of picoseconds are too few for.
struct Instant {
  std::int64_t ns = 0;
  std::int64_t ps = 0;  ///< beyond it, 0..999

  // clang-tidy 14 takes the zero that results are compared with for a pointer.
  friend auto operator<=>(const Instant&, const Instant&) = default;  // NOLINT(modernize-use-nullptr)
};

/// A clock that stands at the end of what 64 bits hold, which no machine's does, stays there.
Instant after(std::int64_t origin_ns, Picoseconds time) {
  const std::int64_t rest = time % kPicosecondsPerNanosecond;
  const std::int64_t ps = rest < 0 ? rest + kPicosecondsPerNanosecond : rest;
  Instant instant{0, ps};
  const std::int64_t since = (time - rest) / kPicosecondsPerNanosecond - (rest < 0 ? 1 : 0);
  if (__builtin_add_overflow(origin_ns, since, &instant.ns)) instant.ns = origin_ns;
  return instant;
}

/// From a base to the origin of a file; 0 where 64 bits are too few.
Picoseconds shift_of(std::int64_t origin_ns, const Instant& base) {
  Picoseconds shift = 0;
  const bool is_too_far = __builtin_sub_overflow(origin_ns, base.ns, &shift) ||
                          __builtin_mul_overflow(shift, kPicosecondsPerNanosecond, &shift) ||
                          __builtin_sub_overflow(shift, base.ps, &shift);
  return is_too_far ? 0 : shift;
}

struct Clock {
  std::int64_t file = 0;
  std::int64_t origin_ns = 0;
  Instant first;                ///< when its first event begins
  std::optional<Instant> base;  ///< what the times of its events count from; nothing where it is new
};

/// In order of time.
std::vector<Clock> read_clocks(const QueryDatabase& database) {
  const Statement rows =
      prepare(database.handle(), "SELECT file, origin_ns, first_ps, base_ns, base_ps FROM event_clocks");
  std::vector<Clock> clocks;
  while (rows && sqlite3_step(rows.get()) == SQLITE_ROW) {
    const auto value = [&](int column) { return sqlite3_column_int64(rows.get(), column); };
    Clock& clock = clocks.emplace_back(Clock{value(0), value(1), after(value(1), value(2)), {}});
    if (sqlite3_column_type(rows.get(), 3) != SQLITE_NULL) clock.base = {value(3), value(4)};
  }
  std::sort(clocks.begin(), clocks.end(),
            [](const Clock& a, const Clock& b) { return std::tie(a.first, a.file) < std::tie(b.first, b.file); });
  return clocks;
}

bool run(const Statement& statement, std::initializer_list<std::int64_t> values) {
  int parameter = 0;
  for (const std::int64_t value : values) sqlite3_bind_int64(statement.get(), ++parameter, value);
  const bool is_done = sqlite3_step(statement.get()) == SQLITE_DONE;
  sqlite3_reset(statement.get());
  return is_done;
}

/// What was measured of a trace is on the clock of its first file.
constexpr const char* kSetTraces =
    "UPDATE trace_clocks SET shift_ps = coalesce((SELECT (trace_clocks.origin_ns - file.base_ns) * 1000 - file.base_ps"
    " FROM event_clocks AS file WHERE file.trace = trace_clocks.trace ORDER BY file.file LIMIT 1), 0)";

/// Puts all files of the database, and what was measured of them, on one clock: times count from the first event of the
/// files that are less than 26 days apart. What comes out depends on the files alone, not on when each was added.
/// Errors: the database cannot be changed.
Result<void> set_event_clocks(QueryDatabase& database) {
  const Statement set_lines =
      prepare(database.handle(), "UPDATE event_lines SET origin_ns = ?, shift_ps = ? WHERE file = ?");
  const Statement set_clock =
      prepare(database.handle(), "UPDATE event_clocks SET base_ns = ?, base_ps = ? WHERE file = ?");
  if (!set_lines || !set_clock) return database.failure();
  std::optional<Instant> base;
  for (const Clock& clock : read_clocks(database)) {
    // In order of time: the first one that is too far from the last base begins a new one.
    if (!base || !are_related(clock.first.ns, base->ns)) base = clock.first;
    if (clock.base == base) continue;
    const Picoseconds shift = shift_of(clock.origin_ns, *base);
    if (!run(set_lines, {base->ns, shift, clock.file}) || !run(set_clock, {base->ns, base->ps, clock.file})) {
      return database.failure();
    }
  }
  return database.change(kSetTraces);
}

std::string loss_json(const Loss& loss) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [reason, count] : loss.counts) json[reason] = count;
  return json.dump();
}

/// Files that are one trace: a single one, steps of one run, or two recordings of one process.
struct Group {
  std::vector<const QueryInput*> files;
  std::int64_t shift_ns = 0;  ///< what the clock of the second of two recordings must be moved by
  bool is_joined = false;     ///< steps of one run
};

/// Those that are not in the database yet.
std::vector<const QueryInput*> new_inputs(const QueryDatabase& database, const std::vector<QueryInput>& traces) {
  std::vector<const QueryInput*> inputs;
  for (const QueryInput& input : traces) {
    if (!database.has_content(input.sha256)) inputs.push_back(&input);
  }
  return inputs;
}

std::vector<std::string> paths_of(const std::vector<const QueryInput*>& inputs) {
  std::vector<std::string> paths;
  paths.reserve(inputs.size());
  for (const QueryInput* input : inputs) paths.push_back(input->path);
  return paths;
}

/// By the name of the first file.
std::vector<Group> groups_of(const std::vector<const QueryInput*>& inputs, const WorkOptions& work) {
  std::vector<Group> groups;
  const std::vector<RecordingPair> pairs = find_recording_pairs(paths_of(inputs), work);
  for (std::size_t index = 0; index < inputs.size(); ++index) {
    const QueryInput* const input = inputs[index];
    const auto pair = std::find_if(pairs.begin(), pairs.end(),
                                   [&](const RecordingPair& one) { return one.input == index || one.other == index; });
    if (pair != pairs.end()) {
      if (pair->input == index) groups.push_back({{input, inputs[pair->other]}, pair->shift_ns});
      continue;
    }
    const auto joined = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return input->format->join != nullptr && group.files.front()->format == input->format;
    });
    if (joined == groups.end()) {
      groups.push_back({{input}});
    } else {
      joined->files.push_back(input);
      joined->is_joined = true;
    }
  }
  return groups;
}

class TraceLoader {
 public:
  TraceLoader(QueryDatabase& database, const LoadRequest& request, const DiagnosisSetup& setup, LoadReport& report)
      : database_(database), request_(request), setup_(setup), report_(report) {}

  /// Errors: the database cannot be changed.
  Result<void> load(const Group& group) {
    RETURN_IF_ERROR(database_.begin());
    const std::size_t events_before = packed_events();
    Result<bool> loaded = load_whole(group);
    if (loaded && *loaded) return database_.commit();
    database_.roll_back();
    keep_packed_events(events_before);
    return loaded ? Result<void>() : Unexpected(std::move(loaded.error()));
  }

 private:
  // What the database rolls back, events beside it must follow.
  std::size_t packed_events() const { return database_.events() == nullptr ? 0 : database_.events()->size(); }
  void keep_packed_events(std::size_t count) {
    if (database_.events() != nullptr) database_.events()->shrink(count);
  }

  /// Times count from the first event.
  bool has_times() const {
    return request_.events.rows || request_.measurements.calls || request_.measurements.profile;
  }
  bool reads_events() const { return has_times() || request_.files; }

  /// False where no file could be read.
  Result<bool> load_whole(const Group& group) {
    const std::int64_t trace = database_.take_trace_number();
    std::vector<const QueryInput*> readable;
    RepeatedEvents repeats;
    for (const QueryInput* input : group.files) {
      const std::int64_t shift_ns = input == group.files.front() ? 0 : group.shift_ns;
      ASSIGN_OR_RETURN(const bool read, load_file(trace, *input, shift_ns, group.is_joined ? &repeats : nullptr));
      if (read) readable.push_back(input);
    }
    if (readable.empty()) return false;
    if (request_.measurements.any() || request_.traces) {
      Result<bool> diagnosed = diagnose(trace, readable);
      if (!diagnosed || !*diagnosed) return diagnosed;
    }
    if (has_times()) {
      RETURN_IF_ERROR(set_event_clocks(database_));
    }
    return true;
  }

  /// False where it cannot be read, or another program added it meanwhile. `repeats`: what the files of the trace
  /// before it hold; null for a single one.
  Result<bool> load_file(std::int64_t trace, const QueryInput& input, std::int64_t shift_ns, RepeatedEvents* repeats) {
    if (database_.has_content(input.sha256)) return false;
    if (!reads_events()) return added(input);
    RETURN_IF_ERROR(database_.change("SAVEPOINT file"));
    const std::size_t events_before = packed_events();
    EventLoader events(database_, trace, input.name, request_.events);
    EventsOnce once(events, repeats);
    const Result<EventTotals> totals = read_events(input, shift_ns, once);
    if (const std::uint64_t count = repeats == nullptr ? 0 : repeats->end_file(); count > 0) {
      report_.repeated.push_back(
          {"counts once: " + format_count(count, "event") + " of it in other files, too", input.name, {}, {}});
    }
    if (!totals) {
      report_.unreadable.push_back(totals.error());
      report_.unreadable.back().where = input.name;
      RETURN_IF_ERROR(database_.change("ROLLBACK TO file; RELEASE file"));
      keep_packed_events(events_before);
      return false;
    }
    RETURN_IF_ERROR(events.finish());
    RETURN_IF_ERROR(add_file(trace, input, *totals, events.host()));
    RETURN_IF_ERROR(database_.change("RELEASE file"));
    return added(input);
  }

  Result<bool> added(const QueryInput& input) {
    RETURN_IF_ERROR(database_.add_content(input.sha256));
    return true;
  }

  Result<EventTotals> read_events(const QueryInput& input, std::int64_t shift_ns, EventSink& sink) {
    Result<std::unique_ptr<ByteSource>> source = open_source(input.path);
    if (!source) return Unexpected(source.error());
    if (shift_ns != 0) source = moved_source(std::move(*source), shift_ns);
    return input.format->read_events(**source, sink, WantedPlanes::all, setup_.work);
  }

  Result<void> add_file(std::int64_t trace, const QueryInput& input, const EventTotals& totals,
                        const std::string& host) {
    if (!request_.files) return {};
    const Result<std::unique_ptr<ByteSource>> source = open_source(input.path);
    RowInserter rows(database_, "files");
    rows.integer(trace).text(input.name).text(input.format->name);
    rows.integer(source ? static_cast<std::int64_t>((*source)->stored_size()) : 0).text(input.sha256);
    rows.optional_text(host).integer(static_cast<std::int64_t>(totals.event_count));
    rows.boolean(totals.loss.complete()).text(loss_json(totals.loss)).end_row();
    return rows.finish();
  }

  Result<bool> diagnose(std::int64_t trace, const std::vector<const QueryInput*>& inputs) {
    const std::vector<std::string> paths = paths_of(inputs);
    DiagnosisSetup setup = setup_;
    // The bar follows the files; a second one within one would begin anew.
    setup.work.progress = nullptr;
    setup.needs = request_.measurements.needs();
    Analysis analysis = diagnose_files(paths, setup);
    if (!analysis.has_readable_file()) {
      for (Error& error : analysis.unreadable) report_.unreadable.push_back(std::move(error));
      return false;
    }
    restore_names(inputs, analysis);
    if (request_.traces) {
      const TraceRow row = row_of(row_file(inputs, analysis), analysis.measurements, analysis.diagnosis, {});
      RETURN_IF_ERROR(load_trace_row(database_, trace, row));
    }
    RETURN_IF_ERROR(load_measurements(database_, trace, analysis, request_.measurements));
    return true;
  }

  /// A copy of standard input is not called by its path.
  static void restore_names(const std::vector<const QueryInput*>& inputs, Analysis& analysis) {
    for (HostMeasurement& host : analysis.measurements.hosts) {
      for (TraceFile& file : host.files) {
        for (const QueryInput* input : inputs) {
          if (file.path == input->path) file.path = input->name;
        }
      }
    }
  }

  static RowFile row_file(const std::vector<const QueryInput*>& inputs, const Analysis& analysis) {
    RowFile file;
    file.path = inputs.front()->name;
    if (inputs.size() == 1 || inputs.front()->format->join == nullptr) file.sha256 = inputs.front()->sha256;
    for (const HostMeasurement& host : analysis.measurements.hosts) {
      for (const TraceFile& part : host.files) file.bytes += part.bytes;
    }
    return file;
  }

  QueryDatabase& database_;
  const LoadRequest& request_;
  const DiagnosisSetup& setup_;
  LoadReport& report_;
};

/// All rows of a file, or none. Errors: the database cannot be changed.
Result<void> load_results(QueryDatabase& database, const QueryInput& input, LoadReport& report) {
  RETURN_IF_ERROR(database.begin());
  if (database.has_content(input.sha256)) {
    database.roll_back();
    return {};
  }
  const Result<LoadedRows> loaded = load_rows(database, input.path);
  if (loaded && loaded->first_not_row) report.not_rows.push_back(*loaded->first_not_row);
  if (!loaded) {
    database.roll_back();
    report.unreadable.push_back(loaded.error());
    return {};
  }
  RETURN_IF_ERROR(database.add_content(input.sha256));
  return database.commit();
}

std::vector<std::string> paths_of(const std::vector<Group>& groups) {
  std::vector<std::string> paths;
  for (const Group& group : groups) {
    for (const QueryInput* input : group.files) paths.push_back(input->path);
  }
  return paths;
}

}  // namespace

LoadRequest LoadRequest::everything() {
  return {{true, true, true, true}, {true, true, true}, true, true};
}

Result<void> load_inputs(QueryDatabase& database, const QueryInputs& inputs, const LoadRequest& request,
                         const DiagnosisSetup& setup, LoadReport& report) {
  for (const QueryInput& input : inputs.rows) {
    RETURN_IF_ERROR(load_results(database, input, report));
  }
  const std::vector<Group> groups = groups_of(new_inputs(database, inputs.traces), setup.work);
  const std::vector<std::string> paths = paths_of(groups);
  FileProgress progress(setup.work.progress, paths);
  if (setup.work.progress != nullptr) setup.work.progress->stage = "load";
  TraceLoader loader(database, request, setup, report);
  std::size_t index = 0;
  for (const Group& group : groups) {
    progress.begin_file(index);
    RETURN_IF_ERROR(loader.load(group));
    for (std::size_t count = 0; count < group.files.size(); ++count) progress.end_file(paths[index++]);
  }
  return {};
}

}  // namespace doctor
