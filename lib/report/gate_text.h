#pragma once

#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "text/text_page.h"

namespace doctor {

/// Rows about budgets: those that are exceeded or could not be evaluated, with Detail::full all.
void add_budgets(const Measurements& measurements, const Diagnosis& diagnosis, Detail detail, TextPage& page);

/// One row about suppressed findings, with Detail::full one for each; none if there are none.
void add_suppressed(const Diagnosis& diagnosis, Detail detail, TextPage& page);

/// "max_input_share in pipeline 0:1 is exceeded: 98.7%, at most 10%". Holds foreign text.
std::string describe_budget(const Measurements& measurements, const Judgement& judgement, const BudgetResult& result);

/// Why a budget was not evaluated, as a clause; empty where it was. Holds foreign text.
std::string why_not_evaluated(const BudgetResult& result, const Measurements& measurements);

}  // namespace doctor
