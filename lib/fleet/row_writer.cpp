#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fleet/row_columns.h"
#include "fleet/trace_row.h"
#include "text/json_page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

template <typename Record>
OrderedJson record_json(std::span<const RowColumn> columns, const Record& record);

OrderedJson json_of(const RowColumn& column, const std::string& text) {
  return column.is_nullable() ? text_or_null(text) : OrderedJson(text);
}

OrderedJson json_of(const RowColumn& /*column*/, std::int64_t time_ns) {
  return time_ns == 0 ? OrderedJson(nullptr) : OrderedJson(to_timestamp(time_ns));
}

OrderedJson json_of(const RowColumn& /*column*/, const std::optional<double>& number) {
  return or_null(number);
}

template <typename Record>
OrderedJson json_of(const RowColumn& column, const std::vector<Record>& records) {
  OrderedJson json = array_of(records, [&](const Record& record) { return record_json(column.fields, record); });
  return json;
}

template <typename Value>
OrderedJson json_of(const RowColumn& /*column*/, Value value) {
  return value;
}

template <typename Record>
OrderedJson record_json(std::span<const RowColumn> columns, const Record& record) {
  OrderedJson json = OrderedJson::object();
  for (const RowColumn& column : columns) {
    OrderedJson& place = json[std::string(column.name)];
    visit_value(column, record, [&](const auto& value) { place = json_of(column, value); });
  }
  return json;
}

// The text of a line is spelled without a document in between, which takes a good part of what `batch` needs for a
// small trace. What is not plain is spelled by the document's own functions.

template <typename Record>
void append_record(std::span<const RowColumn> columns, const Record& record, std::string& line);

template <typename Value>
void append_value(const RowColumn& column, const Value& value, std::string& line) {
  line += to_line(json_of(column, value));
}

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void append_value(const RowColumn& column, const std::string& text, std::string& line) {
  if (text.empty() && column.is_nullable()) {
    line += "null";
  } else if (std::all_of(text.begin(), text.end(), is_plain)) {
    line.append(1, '"').append(text).append(1, '"');
  } else {
    line += to_line(json_of(column, text));
  }
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

OrderedJson row_json(const TraceRow& row) {
  OrderedJson json = record_json(trace_row_columns(), row);
  json["schema"] = kRowSchema;
  return json;
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
