#include <fmt/format.h>

#include "base/try.h"
#include "fleet/row_columns.h"
#include "fleet/row_file.h"
#include "io/byte_source.h"
#include "io/file_io.h"
#include "io/line_reader.h"
#include "query/load_inputs.h"
#include "query/query_database.h"
#include "query/tables.h"
#include "text/numbers.h"

namespace doctor {
namespace {

template <typename Value>
void add_value(RowInserter& rows, const RowColumn& column, const TraceRow& row, const Value& value) {
  if constexpr (std::is_same_v<Value, std::string>) {
    column.is_nullable() ? rows.optional_text(value) : rows.text(value);
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    rows.optional_text(value == 0 ? std::string() : to_timestamp(value));
  } else if constexpr (std::is_same_v<Value, std::uint64_t> || std::is_same_v<Value, bool>) {
    rows.integer(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_convertible_v<Value, std::optional<double>>) {
    rows.optional_real(value);
  } else {
    rows.text(render_column(column, row));  // records
  }
}

/// The rows of one file, put into all tables that they have something for.
class RowTables {
 public:
  explicit RowTables(QueryDatabase& database)
      : database_(database), traces_(database, "traces"), files_(database, "files"), findings_(database, "findings") {}

  void add_trace(std::int64_t trace, const TraceRow& row) {
    traces_.integer(trace);
    // The table has the columns of a row, in the same order.
    for (const RowColumn& column : trace_row_columns()) {
      visit_value(column, row, [&](const auto& value) { add_value(traces_, column, row, value); });
    }
    traces_.end_row();
  }

  /// A row of the same file that is there already counts once.
  Result<void> add(const TraceRow& row) {
    const std::string content = "row " + row.file.sha256 + " " + row.file.path;
    if (database_.has_content(content)) return {};
    RETURN_IF_ERROR(database_.add_content(content));
    const std::int64_t trace = database_.take_trace_number();
    add_trace(trace, row);
    files_.integer(trace)
        .text(row.file.path)
        .optional_text(row.format)
        .integer(static_cast<std::int64_t>(row.file.bytes));
    files_.optional_text(row.file.sha256).optional_text(row.host).integer(static_cast<std::int64_t>(row.events));
    files_.boolean(row.is_complete).null().end_row();
    for (const RowFinding& finding : row.findings) {
      findings_.integer(trace).text(finding.rule).text(finding.severity).text(finding.subject).null().null();
      findings_.end_row();
    }
    return finish();
  }

  Result<void> finish() const {
    for (const Result<void>& stored : {traces_.finish(), files_.finish(), findings_.finish()}) {
      if (!stored) return stored;
    }
    return {};
  }

 private:
  QueryDatabase& database_;
  RowInserter traces_;
  RowInserter files_;
  RowInserter findings_;
};

Result<QueryInput> examine(std::string path, std::string name, bool wants_digest) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, open_source(path));
  QueryInput input{std::move(path), std::move(name), {}, nullptr};
  if (!holds_rows(*source)) {
    ASSIGN_OR_RETURN(input.format, format_of(*source));
  }
  if (!wants_digest) return input;
  ASSIGN_OR_RETURN(input.sha256, sha256_of_file(input.path));
  return input;
}

}  // namespace

Result<void> load_trace_row(QueryDatabase& database, std::int64_t trace, const TraceRow& row) {
  RowTables tables(database);
  tables.add_trace(trace, row);
  return tables.finish();
}

Result<LoadedRows> load_rows(QueryDatabase& database, const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, open_source(path));
  RowTables tables(database);
  LineReader lines(*source);
  LoadedRows loaded;
  std::uint64_t rows = 0;
  std::uint64_t not_rows = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Line> line, lines.next());
    // A last line without an end was cut off.
    if (!line || !line->has_end) break;
    const std::optional<Result<TraceRow>> found = row_in(*line);
    if (!found) continue;
    const Result<TraceRow>& row = *found;
    if (!row) {
      ++not_rows;
      const std::string where = fmt::format("{}, line {}", source->name(), line->number);
      if (!loaded.first_not_row) loaded.first_not_row = Error{row.error().what, where, {}, row.error().next};
      continue;
    }
    ++rows;
    RETURN_IF_ERROR(tables.add(*row));
  }
  if (!loaded.first_not_row) return loaded;
  if (rows == 0) return Unexpected(*loaded.first_not_row);
  if (not_rows > 1) loaded.first_not_row->what += fmt::format("; so are {} more", format_count(not_rows - 1, "line"));
  return loaded;
}

QueryInputs examine_inputs(const std::vector<std::string>& paths, bool wants_digests) {
  QueryInputs inputs;
  std::vector<QueryInput> found;
  for (const std::string& path : std::set<std::string>(paths.begin(), paths.end())) {
    std::string stored = path;
    if (path == "-") {
      Result<FileDescriptor> file = store_standard_input();
      if (!file) {
        inputs.unreadable.push_back(std::move(file.error()));
        continue;
      }
      inputs.standard_input = std::move(*file);
      stored = path_of(inputs.standard_input);
    }
    Result<QueryInput> input =
        examine(stored, path == "-" ? "standard input" : path, wants_digests || paths.size() > 1);
    if (input) {
      found.push_back(std::move(*input));
    } else {
      if (path == "-") input.error().where = "standard input";
      inputs.unreadable.push_back(std::move(input.error()));
    }
  }
  std::set<std::string> contents;
  for (QueryInput& input : found) {
    if (!contents.insert(input.sha256).second) {
      inputs.repeated.push_back(std::move(input.name));
    } else {
      (input.format != nullptr ? inputs.traces : inputs.rows).push_back(std::move(input));
    }
  }
  return inputs;
}

}  // namespace doctor
