#include "compare/comparison_thresholds.h"

namespace doctor {

/// The text of compare.md, from rules/catalog.cmake.
extern const std::string_view kComparisonPage;

std::vector<Threshold> comparison_thresholds() {
  return {
      {"min_recordings", 5, "recordings",
       "minimum per side to judge times: an exact rank test reaches p <= 0.01 with 5 against 5"},
      {"min_ratio", 1.03, "ratio",
       "minimum for a call to count as slower: recordings of the same code differ by 1 to 2%"},
      {"significance", 0.01, "probability", "maximum p-value of the rank test of one row"},
      {"family_significance", 0.05, "probability", "maximum p-value of a row, corrected for the number of rows (Holm)"},
      {"weak_min_recordings", 3, "recordings", "minimum per side, with --weak"},
      {"weak_min_ratio", 1.05, "ratio", "same as min_ratio, with --weak"},
      {"weak_significance", 0.05, "probability",
       "maximum p-value of one row, with --weak: the smallest that 3 against 3 can reach; not corrected for the number "
       "of rows"},
      {"min_share", 0.01, "share",
       "minimum share of the pipeline's work for a row to be judged: less cannot slow a job down noticeably"},
      {"max_extra_work", 0.01, "share",
       "work that a change of the pipeline may add (new transformations and ops, more calls), as a share of the work "
       "of "
       "the base; --max-extra-work sets it. Chosen: less cannot slow a job down noticeably"},
      {"min_step_share", 0.01, "share", "minimum of the base's step that a slower call must cost in all to count"},
      {"clock_grain", 0.05, "us", "minimum difference of a call: the clock of a profiler counts no finer"},
      {"min_calls", 8, "calls", "minimum of an iterator or op in a recording for it to count"},
      {"calls_min_ratio", 1.25, "ratio",
       "minimum for more calls per step to count: the edges of a window cut off up to 15%"},
      {"short_call", 5, "us",
       "calls of ops that take less may be missing: after some ninety runs TF no longer records calls of fewer than "
       "8,000 "
       "cycles (executor.cc, kOpIsExpensiveThresholdCycles), 2.7 us at 3 GHz. They fail only where the recordings that "
       "lack them show others as short"},
      {"op_calls_min_ratio", 1.5, "ratio",
       "minimum for more calls of an op to count where its number depends on the element; elsewhere any other number "
       "counts"},
      {"bytes_min_ratio", 1.25, "ratio",
       "minimum for larger elements of an iterator to count: sizes do not vary, and what is a little larger is meant"},
      {"exchanged_op_min_ratio", 1.5, "ratio",
       "minimum for ops that came to a function to outweigh those that went: work differs by a third between runs of "
       "the "
       "same code"},
      {"tail_min_share", 0.05, "share", "minimum growth of the tail, as a share of the time of its iterator or op"},
      {"undecided_step_min_ratio", 2, "ratio",
       "minimum for a longer step that nothing compared explains to make the answer inconclusive; steps of the same "
       "code "
       "differ by as much between an idle machine and one with every core half busy"},
      {"undecided_significance", 0.05, "probability",
       "maximum p-value of such a step: among recordings that differ as much on one side alone some are longer by "
       "chance"},
      {"process_spread", 0.01, "share",
       "standard deviation by which a call differs between processes of the same code, before these recordings tell"},
      {"sitting_spread", 0.015, "share", "the same between recordings of different hours and days on one machine"},
      {"spread_weight", 4, "sessions", "how many sessions the two count as, beside those that are there"},
      {"spread_errors", 2.6, "standard deviations",
       "that a row must move by to be more than sessions do: 1 in 200 by chance"},
      {"sitting_gap", 1800, "s", "without a recording after which a new sitting begins"},
      {"machine_max_ratio", 1.15, "ratio",
       "maximum by which all rows together may be the machine's doing: how much slower an hour of one machine is than "
       "another"},
      {"history_significance", 0.01, "probability",
       "maximum p-value for a place in a history to be one at which a number changed (E-divisive, permutation test)"},
      {"step_min_ratio", 1.25, "ratio", "minimum for GetNext and step times to count as slower, where they are judged"},
  };
}

CatalogEntry comparison_catalog_entry() {
  Rule rule;
  rule.id = kComparisonThresholds;
  rule.summary = "a version of the pipeline is slower than another (the command compare)";
  rule.thresholds = comparison_thresholds();
  return {rule, kComparisonPage};
}

}  // namespace doctor
