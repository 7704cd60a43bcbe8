#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "fleet/row_columns.h"
#include "fleet/trace_row.h"

namespace doctor {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

OrderedJson number_or_null(const std::optional<double>& number) {
  return number ? OrderedJson(*number) : OrderedJson(nullptr);
}

OrderedJson ops_json(const std::vector<RowOp>& ops) {
  OrderedJson json = OrderedJson::array();
  for (const RowOp& op : ops) json.push_back({{"op", op.op}, {"self_us", op.self_us}, {"share", op.share}});
  return json;
}

OrderedJson findings_json(const std::vector<RowFinding>& findings) {
  OrderedJson json = OrderedJson::array();
  for (const RowFinding& finding : findings) {
    json.push_back({{"rule", finding.rule}, {"severity", finding.severity}, {"subject", finding.subject}});
  }
  return json;
}

}  // namespace

std::string render_row(const TraceRow& row) {
  OrderedJson json = {{"schema", kRowSchema}, {"path", row.file.path}, {"bytes", row.file.bytes}};
  json["sha256"] = text_or_null(row.file.sha256);
  json["format"] = text_or_null(row.format);
  json["host"] = text_or_null(row.host);
  json["recorded_at"] = row.recorded_ns == 0 ? OrderedJson(nullptr) : OrderedJson(to_timestamp(row.recorded_ns));
  json["events"] = row.events;
  json["complete"] = row.is_complete;
  json["window_us"] = row.window_us;
  json["verdict"] = text_or_null(row.verdict);
  json["confidence"] = number_or_null(row.confidence);
  json["input_share"] = number_or_null(row.input_share);
  json["input_lost_us"] = row.input_lost_us;
  json["signature"] = text_or_null(row.signature);
  json["culprit"] = text_or_null(row.culprit);
  json["culprit_kind"] = text_or_null(row.culprit_kind);
  json["culprit_dataset"] = text_or_null(row.culprit_dataset);
  json["culprit_share"] = number_or_null(row.culprit_share);
  json["limited_by"] = text_or_null(row.limited_by);
  json["function_ops"] = ops_json(row.function_ops);
  json["get_next_count"] = row.get_next_count;
  json["get_next_p50_us"] = number_or_null(row.get_next_p50_us);
  json["get_next_p95_us"] = number_or_null(row.get_next_p95_us);
  json["get_next_max_us"] = number_or_null(row.get_next_max_us);
  json["findings"] = findings_json(row.findings);
  json["tool_version"] = row.tool_version;
  json["error"] = text_or_null(row.error);
  return json.dump(-1, ' ', true, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace doctor
