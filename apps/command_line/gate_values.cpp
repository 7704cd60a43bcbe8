#include "command_line/gate_values.h"

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "diagnose/threshold_settings.h"

namespace doctor {
namespace {

Result<double> parse_limit(BudgetKind kind, const std::string& text, const std::string& where) {
  double limit = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, limit);
  const bool is_number = error == std::errc() && end == text_end && std::isfinite(limit) && limit >= 0;
  if (kind == BudgetKind::input_share && !(is_number && limit <= 1)) {
    return fail("'" + text + "' is no share between 0 and 1", where);
  }
  if (!is_number) return fail("'" + text + "' is no number of microseconds from 0 up", where);
  return limit;
}

}  // namespace

Result<Budget> parse_budget(BudgetKind kind, const GivenValue& value, std::span<const CatalogEntry> catalog) {
  Budget budget;
  budget.kind = kind;
  budget.source = value.where;
  // The last one: a pattern may hold an equals sign, a limit cannot.
  const std::size_t equals = value.text.rfind('=');
  if (equals != std::string::npos) budget.pipeline = value.text.substr(0, equals);
  if (equals == 0) return fail("the pattern before '=' is empty", value.where);
  const std::string text = equals == std::string::npos ? value.text : value.text.substr(equals + 1);
  if (kind == BudgetKind::forbidden_rule) {
    const Result<const CatalogEntry*> entry = find_rule(text, catalog, value.where);
    if (!entry) return Unexpected(entry.error());
    budget.rule = text;
    return budget;
  }
  const Result<double> limit = parse_limit(kind, text, value.where);
  if (!limit) return Unexpected(limit.error());
  budget.limit = *limit;
  return budget;
}

Result<Suppression> parse_suppression(const GivenValue& value, std::span<const CatalogEntry> catalog) {
  Suppression suppression;
  const std::size_t colon = value.text.find(':');
  suppression.rule = value.text.substr(0, colon);
  if (colon != std::string::npos) suppression.subject = value.text.substr(colon + 1);
  const Result<const CatalogEntry*> entry = find_rule(suppression.rule, catalog, value.where);
  if (!entry) return Unexpected(entry.error());
  suppression.reason = "asked for by " + value.where;
  suppression.source = value.where;
  return suppression;
}

}  // namespace doctor
