#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "analysis.h"
#include "commands.h"
#include "diagnose/catalog.h"
#include "diagnose/threshold_settings.h"
#include "documents.h"
#include "io/byte_source.h"
#include "io/trace_inputs.h"
#include "process/current_work.h"
#include "process/exit_code.h"
#include "process/memory_limit.h"
#include "process/output.h"
#include "process/progress_bar.h"
#include "process/timings.h"
#include "query/examples.h"
#include "query/load_traces.h"
#include "query/print_rows.h"
#include "query/table_page.h"
#include "query/tables.h"
#include "query/user_query.h"

namespace doctor {
namespace {

/// The SQL as it was given, or as the file holds it.
Result<std::string> sql_of(const QueryChoice& choice) {
  if (choice.sql_file.empty() && choice.sql != "-") return choice.sql;
  constexpr std::size_t kLongest = std::size_t{1} << 20;
  const Result<std::unique_ptr<ByteSource>> source = open_source(choice.sql_file.empty() ? "-" : choice.sql_file);
  if (!source) return Unexpected(source.error());
  std::string sql(kLongest + 1, '\0');
  std::size_t size = 0;
  while (size < sql.size()) {
    const Result<std::size_t> count = (*source)->read(sql.data() + size, sql.size() - size);
    if (!count) return Unexpected(count.error());
    if (*count == 0) break;
    size += *count;
  }
  if (size > kLongest) return fail("is too long for SQL", (*source)->name());
  sql.resize(size);
  return sql;
}

/// What the statement asks about; with a database to keep, all.
LoadRequest request_for(const QueryNeeds& needs, const QueryDatabase& database) {
  if (!database.is_temporary()) return LoadRequest::everything();
  LoadRequest request;
  request.events.rows =
      needs.has("events") || needs.has(kEventRows) || needs.has(kEventLines) || needs.has(kEventNames);
  request.events.arguments = needs.arguments;
  request.measurements.diagnosis = needs.has("iterators") || needs.has("kernels") || needs.has("findings");
  request.measurements.calls = needs.has("calls") || needs.has("segments");
  request.measurements.profile = needs.has("steps") || needs.has("ops");
  request.files = needs.has("files");
  request.traces = needs.has("traces");
  return request;
}

/// With a limit, most of the memory is left to reading and sorting.
Result<QueryDatabase> open_database(const Options& options) {
  const std::string& path = options.query.database;
  if (path.empty()) {
    std::uint64_t cache = QueryDatabase::kCacheBytes;
    if (options.max_memory) cache = std::min(cache, options.max_memory->bytes / 4);
    return QueryDatabase::temporary(cache);
  }
  return QueryDatabase::open(path, options.traces.empty() ? DatabaseMode::read : DatabaseMode::change);
}

/// What went wrong with single files is told on standard error. Says whether all could be read. Errors: no file could
/// be read, the database cannot be changed.
Result<bool> load(const Options& options, QueryDatabase& database, const QueryNeeds& needs) {
  const Result<std::vector<std::string>> files = resolve_inputs(options.traces, options.run);
  if (!files) return Unexpected(files.error());
  if (const Result<void> kept = check_output(options.output, *files); !kept) return Unexpected(kept.error());
  QueryInputs inputs = examine_inputs(*files);
  std::vector<std::string> names;
  for (const QueryInput& input : inputs.traces) names.push_back(input.name);
  std::vector<Error> faults;
  {
    Progress& progress = current_work().progress;
    name_current_files(names);
    std::optional<ProgressBar> bar;
    if (wants_progress_bar(options, STDERR_FILENO)) bar.emplace(progress, names.size(), status_line());
    DiagnosisSetup setup = diagnosis_setup(options);
    setup.work.progress = &progress;
    const Result<void> loaded = load_inputs(database, inputs, request_for(needs, database), setup, faults);
    if (!loaded) return Unexpected(loaded.error());
  }
  if (!options.quiet) {
    for (const std::string& name : inputs.repeated)
      print_error({"counts once: the same as another file", name, {}, {}});
  }
  const bool has_readable = faults.size() < inputs.traces.size() + inputs.rows.size();
  std::vector<Error> unreadable = std::move(inputs.unreadable);
  unreadable.insert(unreadable.end(), faults.begin(), faults.end());
  for (const Error& error : unreadable) {
    if (!has_readable && &error == &unreadable.back()) return Unexpected(error);
    print_error(error);
  }
  return unreadable.empty();
}

TableFormat format_of(const Options& options) {
  switch (options.format) {
    case OutputFormat::csv:
      return TableFormat::csv;
    case OutputFormat::json:
      return TableFormat::json;
    case OutputFormat::markdown:
      return TableFormat::markdown;
    default:
      return TableFormat::text;
  }
}

/// Says whether all traces could be read.
Result<bool> ask(const Options& options) {
  Result<std::string> sql = sql_of(options.query);
  if (!sql) return Unexpected(sql.error());
  if (const Result<void> limited = limit_memory_if_wanted(options.max_memory); !limited) {
    return Unexpected(limited.error());
  }
  Result<QueryDatabase> database = open_database(options);
  if (!database) return Unexpected(database.error());
  // Before anything is loaded: what is wrong with the SQL is told at once.
  Result<UserQuery> query = UserQuery::prepare(*database, std::move(*sql));
  if (!query) return Unexpected(query.error());
  const auto begin = std::chrono::steady_clock::now();
  Result<bool> loaded = options.traces.empty() ? Result<bool>(true) : load(options, *database, query->needs());
  if (!loaded) return loaded;
  const auto asked = std::chrono::steady_clock::now();
  current_work().progress.stage = "query";
  Result<std::unique_ptr<OutputFile>> file = OutputFile::open(options.output);
  if (!file) return Unexpected(std::move(file.error()));
  OutputBuffer output(**file);
  if (Result<void> printed = print_rows(*query, format_of(options), page_width(options), output); !printed) {
    return Unexpected(printed.error());
  }
  if (Result<void> finished = output.finish(); !finished) return Unexpected(finished.error());
  if (options.timings) {
    print_note(render_query_timings(current_work().progress, asked - begin, std::chrono::steady_clock::now() - asked,
                                    options.threads));
  }
  return loaded;
}

int write_text(const Options& options, const std::string& text) {
  const Result<void> written = write_output(text, options.output);
  if (written) return kExitClean;
  print_error(written.error());
  return kExitFailure;
}

}  // namespace

int run_query(const Options& options) {
  if (options.query.shows_schema) return write_text(options, tables_text(page_width(options)));
  if (options.query.shows_examples) return write_text(options, examples_text());
  const Result<bool> asked = ask(options);
  if (asked) return *asked ? kExitClean : kExitFailure;
  print_error(asked.error());
  return kExitFailure;
}

}  // namespace doctor
