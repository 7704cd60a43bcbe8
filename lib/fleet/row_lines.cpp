#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>

#include "fleet/row_columns.h"
#include "fleet/trace_row.h"
#include "text/json_page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

namespace dom = simdjson::dom;

Unexpected not_a_row(std::string what) {
  return fail(std::move(what), {}, "name lines that 'tfdata-doctor batch' wrote");
}

/// What limited the culprit in a row of version 1, in the words of this one; empty where these tell more apart.
std::string_view limit_of_version_1(std::string_view limited_by) {
  return limited_by == "cpu" ? "cores" : limited_by == "waiting" ? "outside" : "";
}

/// Reads the columns of one object; after the first that is missing or wrong nothing more is read.
class RowReader {
 public:
  explicit RowReader(bool is_version_1) : is_version_1_(is_version_1) {}

  /// `list` is the name of the column whose records these are; empty for the columns of a row.
  template <typename Record>
  void read(const dom::object& object, std::span<const RowColumn> columns, std::string_view list, Record& record) {
    auto next = object.begin();
    for (const RowColumn& column : columns) {
      // As a rule a line has its columns in their order, and none need be looked for.
      const bool is_next = next != object.end() && next.key() == name_of(column);
      const dom::element in_order = is_next ? next.value() : dom::element();
      if (is_next) ++next;
      visit_value(column, record, [&](auto& value) {
        if (!wrong_.empty()) return;
        const std::string_view name = name_of(column);
        dom::element element = in_order;
        if (!is_next && object.at_key(name).get(element) != simdjson::SUCCESS) {
          if (column.presence != Presence::later) refuse(list, name, "missing");
          return;
        }
        if (column.is_nullable() && element.is_null()) return;
        const std::string_view expected = take(element, column, value);
        if (expected.empty() || !wrong_.empty()) return;
        refuse(list, name, fmt::format("not {}{}", expected, column.is_nullable() ? " or null" : ""));
      });
    }
  }

  /// What is wrong with a column; empty if nothing is.
  const std::string& wrong() const { return wrong_; }

 private:
  void refuse(std::string_view list, std::string_view name, std::string_view fault) {
    wrong_ = fmt::format("column '{}{}{}' is {}", list, list.empty() ? "" : "[].", name, fault);
  }

  std::string_view name_of(const RowColumn& column) const {
    return is_version_1_ && column.name == "limiting_resource" ? "limited_by" : column.name;
  }

  // Each takes a value from the element, or says what it should have been.

  static std::string_view take(const dom::element& element, const RowColumn& /*column*/, std::string& value) {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) return "a text";
    value = text;
    return {};
  }

  static std::string_view take(const dom::element& element, const RowColumn& /*column*/, std::uint64_t& value) {
    return element.get(value) == simdjson::SUCCESS ? "" : "a whole number";
  }

  static std::string_view take(const dom::element& element, const RowColumn& /*column*/, double& value) {
    return element.get(value) == simdjson::SUCCESS ? "" : "a number";
  }

  static std::string_view take(const dom::element& element, const RowColumn& /*column*/, bool& value) {
    return element.get(value) == simdjson::SUCCESS ? "" : "true or false";
  }

  static std::string_view take(const dom::element& element, const RowColumn& column, std::optional<double>& value) {
    return take(element, column, value.emplace());
  }

  static std::string_view take(const dom::element& element, const RowColumn& column, std::int64_t& time_ns) {
    std::string text;
    if (const std::string_view expected = take(element, column, text); !expected.empty()) return expected;
    const std::optional<std::int64_t> time = parse_timestamp(text);
    if (!time) return "a time like 2026-11-22T08:28:02.000000Z";
    time_ns = *time;
    return {};
  }

  template <typename Record>
  std::string_view take(const dom::element& element, const RowColumn& column, std::vector<Record>& records) {
    dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return "a list";
    for (const dom::element entry : array) {
      dom::object object;
      if (entry.get(object) != simdjson::SUCCESS) return "a list of objects";
      read(object, column.fields, column.name, records.emplace_back());
    }
    return {};
  }

  bool is_version_1_;
  std::string wrong_;
};

// The text of a line is spelled without a document in between, which takes a good part of what `batch` needs for a
// small trace. What is not plain is spelled by the document's own functions.

template <typename Record>
void append_record(std::span<const RowColumn> columns, const Record& record, std::string& line);

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void append_value(const RowColumn& column, const std::string& text, std::string& line) {
  if (text.empty() && column.is_nullable()) {
    line += "null";
  } else if (std::all_of(text.begin(), text.end(), is_plain)) {
    line.append(1, '"').append(text).append(1, '"');
  } else {
    line += to_line(text);
  }
}

void append_value(const RowColumn& /*column*/, std::int64_t time_ns, std::string& line) {
  line += time_ns == 0 ? "null" : to_line(to_timestamp(time_ns));
}

/// As a document has it, without what a document needs besides.
void append_value(const RowColumn& /*column*/, double number, std::string& line) {
  std::array<char, 64> digits;  // as many as the library has for itself
  if (std::isfinite(number)) {
    line.append(digits.data(), nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), number));
  } else {
    line += "null";
  }
}

void append_value(const RowColumn& column, const std::optional<double>& number, std::string& line) {
  if (number) {
    append_value(column, *number, line);
  } else {
    line += "null";
  }
}

void append_value(const RowColumn& /*column*/, std::uint64_t number, std::string& line) {
  line += fmt::format_int(number).c_str();
}

void append_value(const RowColumn& /*column*/, bool is_so, std::string& line) {
  line += is_so ? "true" : "false";
}

template <typename Record>
void append_value(const RowColumn& column, const std::vector<Record>& records, std::string& line) {
  line += '[';
  for (const Record& record : records) {
    if (&record != &records.front()) line += ',';
    append_record(column.fields, record, line);
  }
  line += ']';
}

template <typename Record>
void append_record(std::span<const RowColumn> columns, const Record& record, std::string& line) {
  line += '{';
  for (const RowColumn& column : columns) {
    line.append(&column == &columns.front() ? "\"" : ",\"").append(column.name).append("\":");
    const std::size_t without_value = line.size();
    visit_value(column, record, [&](const auto& value) { append_value(column, value, line); });
    // One that is the same in every line.
    if (line.size() == without_value) append_value(column, std::string(column.words.front()), line);
  }
  line += '}';
}

}  // namespace

Result<TraceRow> parse_row(std::string_view line) {
  // Once a thread: a parser that is used again allocates nothing, and there are millions of lines.
  thread_local dom::parser parser;
  dom::element element;
  if (const auto error = parser.parse(line.data(), line.size()).get(element); error != simdjson::SUCCESS) {
    return not_a_row(fmt::format("is not a row: invalid JSON ({})", simdjson::error_message(error)));
  }
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return not_a_row("is not a row: not a JSON object");
  std::string_view schema;
  if (object.at_key("schema").get(schema) != simdjson::SUCCESS)
    return not_a_row("is not a row: column 'schema' is missing");
  if (schema != kRowSchema && schema != kRowSchemaBefore) {
    return not_a_row(fmt::format("is not a row of this version: its schema is '{}', not '{}'", schema, kRowSchema));
  }
  TraceRow row;
  const bool is_version_1 = schema == kRowSchemaBefore;
  RowReader reader(is_version_1);
  reader.read(object, trace_row_columns(), "", row);
  if (!reader.wrong().empty()) return not_a_row("is not a row: " + reader.wrong());
  if (is_version_1) row.limiting_resource = limit_of_version_1(row.limiting_resource);
  return row;
}

std::string render_column(const RowColumn& column, const TraceRow& row) {
  std::string text;
  visit_value(column, row, [&](const auto& value) { append_value(column, value, text); });
  return text;
}

std::string render_row(const TraceRow& row) {
  constexpr std::size_t kUsualLength = 2048;
  std::string line;
  line.reserve(kUsualLength);
  append_record(trace_row_columns(), row, line);
  line += '\n';
  return line;
}

}  // namespace doctor
