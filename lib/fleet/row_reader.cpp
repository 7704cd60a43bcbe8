#include <fmt/format.h>
#include <simdjson.h>

#include <optional>

#include "fleet/row_columns.h"
#include "fleet/trace_row.h"
#include "text/timestamp.h"

namespace doctor {
namespace {

namespace dom = simdjson::dom;

Unexpected not_a_row(std::string what) {
  return fail(std::move(what), {}, "name lines that 'tfdata-doctor batch' wrote");
}

/// Reads columns of one object; after the first that is missing or wrong nothing more is read.
class Columns {
 public:
  Columns(const dom::object& object, std::string prefix, std::string& wrong)
      : object_(object), prefix_(std::move(prefix)), wrong_(wrong) {}

  void read(std::string_view name, std::string& value) { read_text(name, value, false); }
  void read_or_null(std::string_view name, std::string& value) { read_text(name, value, true); }
  void read(std::string_view name, std::uint64_t& value) { read_value(name, "a whole number", value); }
  void read(std::string_view name, double& value) { read_value(name, "a number", value); }
  void read(std::string_view name, bool& value) { read_value(name, "true or false", value); }

  void read_or_null(std::string_view name, std::optional<double>& value) {
    dom::element element;
    if (!find(name, element) || element.is_null()) return;
    double number = 0;
    if (element.get(number) != simdjson::SUCCESS) return refuse(name, "a number or null");
    value = number;
  }

  /// Like read_or_null(), for a column that was added later: rows of earlier versions do not have it.
  template <typename Value>
  void read_if_there(std::string_view name, Value& value) {
    dom::element ignored;
    if (object_.at_key(name).get(ignored) == simdjson::SUCCESS) read_or_null(name, value);
  }

  /// Calls `visit(Columns)` for each record of a list.
  template <typename Visit>
  void read_each(std::string_view name, Visit visit) {
    dom::element element;
    if (!find(name, element)) return;
    dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return refuse(name, "a list");
    for (const dom::element entry : array) {
      dom::object object;
      if (entry.get(object) != simdjson::SUCCESS) return refuse(name, "a list of objects");
      Columns columns(object, prefix_ + std::string(name) + "[].", wrong_);
      visit(columns);
    }
  }

  void refuse(std::string_view name, std::string_view expected) {
    if (wrong_.empty()) wrong_ = fmt::format("column '{}{}' is not {}", prefix_, name, expected);
  }

 private:
  bool find(std::string_view name, dom::element& element) {
    if (!wrong_.empty()) return false;
    if (object_.at_key(name).get(element) == simdjson::SUCCESS) return true;
    wrong_ = fmt::format("column '{}{}' is missing", prefix_, name);
    return false;
  }

  template <typename Value>
  void read_value(std::string_view name, std::string_view expected, Value& value) {
    dom::element element;
    if (find(name, element) && element.get(value) != simdjson::SUCCESS) refuse(name, expected);
  }

  void read_text(std::string_view name, std::string& value, bool is_nullable) {
    dom::element element;
    if (!find(name, element) || (is_nullable && element.is_null())) return;
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) return refuse(name, is_nullable ? "a text or null" : "a text");
    value = text;
  }

  const dom::object& object_;
  std::string prefix_;
  std::string& wrong_;
};

void read_time(Columns& columns, TraceRow& row) {
  std::string text;
  columns.read_or_null("recorded_at", text);
  if (text.empty()) return;
  const std::optional<std::int64_t> time = parse_timestamp(text);
  if (!time) return columns.refuse("recorded_at", "a time like 2026-11-22T08:28:02.000000Z");
  row.recorded_ns = *time;
}

void read_records(Columns& columns, TraceRow& row) {
  columns.read_each("function_ops", [&](Columns& fields) {
    RowOp& op = row.function_ops.emplace_back();
    fields.read("op", op.op);
    fields.read("self_us", op.self_us);
    fields.read("share", op.share);
  });
  columns.read_each("findings", [&](Columns& fields) {
    RowFinding& finding = row.findings.emplace_back();
    fields.read("rule", finding.rule);
    fields.read("severity", finding.severity);
    fields.read("subject", finding.subject);
  });
}

/// What limited the culprit in a row of version 1, in the words of this one; empty where these tell more apart.
std::string_view limit_of_version_1(std::string_view limited_by) {
  return limited_by == "cpu" ? "cores" : limited_by == "waiting" ? "outside" : "";
}

void read_columns(Columns& columns, bool is_version_1, TraceRow& row) {
  columns.read("path", row.file.path);
  columns.read("bytes", row.file.bytes);
  columns.read_or_null("sha256", row.file.sha256);
  columns.read_or_null("format", row.format);
  columns.read_or_null("host", row.host);
  read_time(columns, row);
  columns.read("events", row.events);
  columns.read("complete", row.is_complete);
  columns.read("window_us", row.window_us);
  columns.read_or_null("verdict", row.verdict);
  columns.read_or_null("confidence", row.confidence);
  columns.read_or_null("input_share", row.input_share);
  columns.read("input_lost_us", row.input_lost_us);
  columns.read_or_null("signature", row.signature);
  columns.read_or_null("culprit", row.culprit);
  columns.read_or_null("culprit_kind", row.culprit_kind);
  columns.read_or_null("culprit_dataset", row.culprit_dataset);
  columns.read_or_null("culprit_share", row.culprit_share);
  columns.read_or_null(is_version_1 ? "limited_by" : "limiting_resource", row.limiting_resource);
  if (is_version_1) row.limiting_resource = limit_of_version_1(row.limiting_resource);
  columns.read("get_next_count", row.get_next_count);
  columns.read_or_null("get_next_p50_us", row.get_next_p50_us);
  columns.read_or_null("get_next_p95_us", row.get_next_p95_us);
  columns.read_or_null("get_next_max_us", row.get_next_max_us);
  columns.read("tool_version", row.tool_version);
  columns.read_or_null("error", row.error);
  columns.read_if_there("best_fix", row.best_fix);
  columns.read_if_there("best_gain", row.best_gain);
  columns.read_if_there("best_gain_low", row.best_gain_low);
  columns.read_if_there("best_condition", row.best_condition);
  columns.read_if_there("culprit_source", row.culprit_source);
  columns.read_if_there("sandbox", row.sandbox);
  read_records(columns, row);
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
  std::string wrong;
  Columns columns(object, "", wrong);
  read_columns(columns, schema == kRowSchemaBefore, row);
  if (!wrong.empty()) return not_a_row("is not a row: " + wrong);
  return row;
}

}  // namespace doctor
