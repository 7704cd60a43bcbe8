
#include "fleet/row_columns.h"
#include "fleet/trace_row.h"
#include "text/json_page.h"
#include "text/timestamp.h"

namespace doctor {
namespace {

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
  json["confidence"] = or_null(row.confidence);
  json["input_share"] = or_null(row.input_share);
  json["input_lost_us"] = row.input_lost_us;
  json["signature"] = text_or_null(row.signature);
  json["culprit"] = text_or_null(row.culprit);
  json["culprit_kind"] = text_or_null(row.culprit_kind);
  json["culprit_dataset"] = text_or_null(row.culprit_dataset);
  json["culprit_share"] = or_null(row.culprit_share);
  json["limiting_resource"] = text_or_null(row.limiting_resource);
  json["function_ops"] = ops_json(row.function_ops);
  json["get_next_count"] = row.get_next_count;
  json["get_next_p50_us"] = or_null(row.get_next_p50_us);
  json["get_next_p95_us"] = or_null(row.get_next_p95_us);
  json["get_next_max_us"] = or_null(row.get_next_max_us);
  json["findings"] = findings_json(row.findings);
  json["tool_version"] = row.tool_version;
  json["error"] = text_or_null(row.error);
  json["best_fix"] = text_or_null(row.best_fix);
  json["best_gain"] = or_null(row.best_gain);
  json["best_gain_low"] = or_null(row.best_gain_low);
  json["best_condition"] = text_or_null(row.best_condition);
  json["culprit_source"] = text_or_null(row.culprit_source);
  json["sandbox"] = text_or_null(row.sandbox);
  return to_line(json) + "\n";
}

}  // namespace doctor
