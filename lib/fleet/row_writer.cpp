#include "fleet/row_columns.h"
#include "fleet/trace_row.h"
#include "text/json_page.h"
#include "text/timestamp.h"

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
  OrderedJson json = OrderedJson::array();
  for (const Record& record : records) json.push_back(record_json(column.fields, record));
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

}  // namespace

OrderedJson row_json(const TraceRow& row) {
  OrderedJson json = record_json(trace_row_columns(), row);
  json["schema"] = kRowSchema;
  return json;
}

std::string render_row(const TraceRow& row) {
  return to_line(row_json(row)) + "\n";
}

}  // namespace doctor
