#include "report/comparison_page.h"
#include "text/json_page.h"

namespace doctor {
namespace {

// The words of the schema: they never change.

std::string_view to_word(ComparisonOutcome outcome) {
  switch (outcome) {
    case ComparisonOutcome::regression:
      return "regression";
    case ComparisonOutcome::no_regression:
      return "no_regression";
    case ComparisonOutcome::inconclusive:
      break;
  }
  return "inconclusive";
}

std::string_view to_word(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::iterator_added:
      return "iterator_added";
    case ChangeKind::iterator_removed:
      return "iterator_removed";
    case ChangeKind::iterator_moved:
      return "iterator_moved";
    case ChangeKind::form_changed:
      return "form_changed";
    case ChangeKind::setting_changed:
      return "setting_changed";
    case ChangeKind::op_added:
      return "op_added";
    case ChangeKind::calls_changed:
      return "calls_changed";
    case ChangeKind::finding_new:
      return "finding_new";
    case ChangeKind::finding_gone:
      break;
  }
  return "finding_gone";
}

std::string_view to_word(TimeKind kind) {
  switch (kind) {
    case TimeKind::self:
      return "self";
    case TimeKind::op:
      return "op";
    case TimeKind::tail:
      return "tail";
    case TimeKind::calls:
      return "calls";
    case TimeKind::get_next:
      return "get_next";
    case TimeKind::step:
      break;
  }
  return "step";
}

std::string_view schema_word(Difference difference) {
  switch (difference) {
    case Difference::same:
      return "same";
    case Difference::faster:
      return "faster";
    case Difference::slower:
      return "slower";
    case Difference::unknown:
      break;
  }
  return "unknown";
}

/// What the values of a row are measured in.
std::string_view unit_of(TimeKind kind) {
  if (kind == TimeKind::tail) return "share";
  return kind == TimeKind::calls ? "calls_per_step" : "us";
}

OrderedJson change_json(const StructureChange& change) {
  return {{"kind", to_word(change.kind)},       {"subject", change.subject},    {"words", change.words},
          {"message", change.message},          {"certain", change.is_certain}, {"worse", change.is_worse},
          {"regression", is_regression(change)}};
}

OrderedJson row_json(const TimeRow& row) {
  OrderedJson json = {{"kind", to_word(row.kind)}, {"subject", row.subject}, {"words", row.words}};
  json["op"] = text_or_null(row.op);
  json["unit"] = unit_of(row.kind);
  json["base"] = row.base;
  json["candidate"] = row.candidate;
  json["base_median"] = row.base_median;
  json["candidate_median"] = row.candidate_median;
  json["ratio"] = row.ratio() > 0 ? OrderedJson(row.ratio()) : OrderedJson(nullptr);
  json["interval"] = nullptr;
  if (row.interval) {
    json["interval"] = {
        {"low", row.interval->low}, {"high", row.interval->high}, {"confidence", row.interval->confidence}};
  }
  json["p_value"] = row.p_value;
  json["adjusted_p_value"] = row.adjusted_p_value;
  json["cost_us_per_step"] = row.cost_us;
  json["difference"] = schema_word(row.difference);
  json["judged"] = row.is_judged;
  json["regression"] = is_regression(row);
  json["reason"] = text_or_null(row.reason);
  json["recordings_needed"] = or_null(row.needed);
  return json;
}

OrderedJson rows_json(const std::vector<TimeRow>& rows) {
  OrderedJson json = OrderedJson::array();
  for (const TimeRow& row : rows) json.push_back(row_json(row));
  return json;
}

}  // namespace

std::string render_comparison_json(const RunComparison& comparison) {
  OrderedJson changes = OrderedJson::array();
  for (const StructureChange& change : comparison.changes) changes.push_back(change_json(change));
  return to_text({{"schema", "tfdata-doctor.comparison/1"},
                  {"tool", tool_json()},
                  {"outcome", to_word(comparison.outcome)},
                  {"summary", summarize(comparison)},
                  {"recordings",
                   {{"base", comparison.base_count},
                    {"candidate", comparison.candidate_count},
                    {"needed", comparison.needed_count}}},
                  {"structure", std::move(changes)},
                  {"times", rows_json(comparison.rows)},
                  {"pipelines", rows_json(comparison.pipeline_rows)},
                  {"notes", comparison.notes}});
}

}  // namespace doctor
