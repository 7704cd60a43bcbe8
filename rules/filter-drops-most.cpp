#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "diagnose/dataset_words.h"
#include "diagnose/pipelines.h"

namespace doctor::rules {
namespace {

std::uint64_t input_calls(const RankedPipeline& ranked) {
  std::uint64_t calls = 0;
  for (const IteratorId input : ranked.culprit().children) calls += ranked[input].calls;
  return calls;
}

std::vector<Advice> advice() {
  return {{"Drop elements before the work on them: filter right behind the source, on the raw record or the file name, "
           "before decoding.",
           "dataset = dataset.filter(predicate).map(decode, num_parallel_calls=tf.data.AUTOTUNE)"},
          {"Test a whole batch with one call, then take it apart.",
           "dataset = dataset.batch(1024).map(lambda batch: tf.boolean_mask(batch, predicate(batch))).unbatch()"},
          {"If the predicate is the same in every epoch, store the elements that pass: with cache() behind the filter, "
           "or in files.",
           std::nullopt}};
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const std::string_view kind = kind_of(ranked.culprit());
  const bool is_filter = kind == "Filter" || kind == "ParallelFilter";
  if (!examiner.holds(culprit_is(ranked, "a filter"), is_filter)) return std::nullopt;
  const std::uint64_t inputs = input_calls(ranked);
  const std::uint64_t outputs = std::max<std::uint64_t>(1, ranked.culprit().calls);
  const Evidence ratio = {"inputs_per_output", static_cast<double>(inputs) / static_cast<double>(outputs), "ratio"};
  if (!examiner.at_least(ratio, "min_inputs_per_output")) return std::nullopt;
  Finding finding = culprit_finding(ranked, fmt::format("{}, which reads {:.1f} elements for each one that it keeps",
                                                        culprit_part(ranked), ratio.value));
  finding.evidence.push_back(ratio);
  finding.evidence.push_back(number_of("inputs", inputs, "calls"));
  finding.evidence.push_back(number_of("outputs", ranked.culprit().calls, "calls"));
  finding.advice = advice();
  return finding;
}

RuleResult check(const RuleContext& context) {
  return for_each_culprit(context, Waits::even_at_start, check_culprit);
}

}  // namespace

Rule filter_drops_most() {
  return {.id = "filter-drops-most",
          .summary = "The filter that the job waits for throws most elements away",
          .thresholds = {{"min_inputs_per_output", 4, "ratio",
                          "elements read for each one kept. From four on, three quarters of what is made upstream is "
                          "thrown away"}},
          .check = check};
}

}  // namespace doctor::rules
