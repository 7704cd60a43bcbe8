#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "command_line/given_values.h"
#include "diagnose/budget.h"
#include "diagnose/catalog.h"
#include "diagnose/suppression.h"

namespace doctor {

/// Reads "[PIPELINE=]LIMIT", for rules "[PIPELINE=]RULE". Errors: the limit is no number that the budget can have, the
/// rule is none.
Result<Budget> parse_budget(BudgetKind kind, const GivenValue& value, std::span<const CatalogEntry> catalog);

/// Reads "RULE[:SUBJECT]". Errors: no such rule.
Result<Suppression> parse_suppression(const GivenValue& value, std::span<const CatalogEntry> catalog);

}  // namespace doctor
