#pragma once

#include "diagnose/doubt.h"

namespace doctor {

enum class BudgetKind {
  input_share,     ///< the share of the time that the consumer waits, PipelineMeasurement::input_share()
  get_next_p95,    ///< the 95th percentile of the latency of all GetNext calls, in us
  forbidden_rule,  ///< findings of a rule that must not fire
};

/// What a pipeline may cost.
struct Budget {
  BudgetKind kind = BudgetKind::input_share;
  /// Which pipelines it is for: a pattern that the long name of one of their iterators fits, after "host:" or "device:"
  /// if only those are meant. Long names, unlike the ids of a report, stay the same from run to run. Empty: every
  /// pipeline that no other budget of this kind names.
  std::string pipeline;
  double limit = 0;    ///< the most that is allowed: a share, or us; 0 for rules
  std::string rule;    ///< of BudgetKind::forbidden_rule
  std::string source;  ///< where it was written. Foreign text

  /// Whether it is about the same as the other, so that the later one counts.
  bool replaces(const Budget& other) const {
    return kind == other.kind && pipeline == other.pipeline && rule == other.rule;
  }
};

/// Why a budget was not evaluated.
enum class NotEvaluatedBecause {
  evaluated,
  no_calls,              ///< of a consumer, in the whole trace
  no_pipeline_fits,      ///< Budget::pipeline
  no_calls_of_pipeline,  ///< of its consumer
  doubt,                 ///< too little was seen of the pipeline
  proves_little,         ///< the trace keeps to it, but the verdict is not sure enough
  rule_misses,           ///< the rule could not be evaluated
};

/// What became of a budget on one pipeline, or on the trace as a whole.
struct BudgetResult {
  Budget budget;
  std::optional<std::size_t> pipeline;  ///< index into Judgement::pipelines; none: it is about none in particular
  std::optional<double> value;          ///< in the unit of the limit, findings for rules; none: not evaluated
  NotEvaluatedBecause because = NotEvaluatedBecause::evaluated;
  Doubt doubt = {};              ///< with `doubt` and `proves_little`
  double confidence = 0;         ///< with `proves_little`: of the verdict
  double min_confidence = 0;     ///< with `proves_little`: what a budget needs
  std::string rule_misses = {};  ///< with `rule_misses`: what the rule does not see, as a clause. Holds foreign text

  bool is_exceeded() const { return value && *value > budget.limit; }
};

/// Its name, as in the configuration file: "max_input_share".
std::string_view name_of(BudgetKind kind);

/// "share", "us" or "findings", as Evidence has units.
std::string_view unit_of(BudgetKind kind);

}  // namespace doctor
