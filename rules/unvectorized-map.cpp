#include <fmt/format.h>

#include <algorithm>

#include "diagnose/dataset_words.h"
#include "diagnose/pipelines.h"
#include "text/numbers.h"

namespace doctor::rules::unvectorized_map {
namespace {

/// Calls of the function in the window. A map that is fused with the batch after it returns batches: its input counts.
std::uint64_t function_calls(const RankedPipeline& ranked) {
  const IteratorMeasurement& culprit = ranked.culprit();
  if (!has_trait(culprit, Trait::fused_batch)) return culprit.calls;
  return culprit.children.empty() ? 0 : ranked[culprit.children.front()].calls;
}

/// Mean time of a call on the thread that makes it. Of a parallel map only the waits are known: as many calls as its
/// parallelism, or the cores, ran meanwhile. nullopt if the trace does not say how many these are.
std::optional<double> call_microseconds(const RankedPipeline& ranked, std::uint64_t calls) {
  const IteratorMeasurement& culprit = ranked.culprit();
  const auto count = static_cast<double>(std::max<std::uint64_t>(calls, 1));
  if (!culprit.is_async) return to_microseconds(culprit.self) / count;
  std::optional<std::int64_t> parallelism = culprit.number("parallelism");
  if (!parallelism) parallelism = ranked.pipeline.cpu_budget;
  if (!parallelism) return std::nullopt;
  return to_microseconds(culprit.total) * static_cast<double>(std::max<std::int64_t>(*parallelism, 1)) / count;
}

/// The elements of a batch made from the culprit's: a window of few calls is a poor measure of how many there are.
std::optional<std::int64_t> batch_size_after(const RankedPipeline& ranked) {
  if (const std::optional<std::int64_t> own = ranked.culprit().number("batch_size")) return own;
  for (const IteratorId id : iterators_above(ranked.host, ranked.judgement.culprit)) {
    if (kind_of(ranked[id]).ends_with("Batch")) return ranked[id].number("batch_size");
  }
  return std::nullopt;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  if (!examiner.holds(culprit_is(ranked, "a map"), family_of(ranked.culprit()) == "Map")) return std::nullopt;
  const std::uint64_t calls = function_calls(ranked);
  const auto gets = static_cast<double>(std::max<std::size_t>(ranked.pipeline.calls.size(), 1));
  const std::optional<std::int64_t> batch = batch_size_after(ranked);
  const double per_step = batch ? static_cast<double>(*batch) : static_cast<double>(calls) / gets;
  const Evidence per_get_next = {"calls_per_get_next", per_step, "calls"};
  const std::optional<double> call = call_microseconds(ranked, calls);
  if (!examiner.at_least(per_get_next, "min_calls")) return std::nullopt;
  if (ranked.phase().in_function[index_of(ranked.judgement.culprit)] <= 0) {
    examiner.misses("the trace does not show the calls of the culprit's function");
    return std::nullopt;
  }
  // The cost of scheduling the function and of passing its arguments and results.
  const double overhead = 1 - share_in_ops(ranked);
  if (!examiner.at_least(share_of("overhead_share", overhead), "min_overhead_share")) return std::nullopt;
  Finding finding =
      culprit_finding(ranked, fmt::format("{}, which calls its function {:.0f} times per {}{}; for {} of that time no "
                                          "op of the function runs: it is the cost of the calls",
                                          culprit_part(ranked), per_get_next.value, batch ? "batch" : "GetNext",
                                          call ? fmt::format(", {:.0f} us each", *call) : "", format_share(overhead)));
  finding.evidence.push_back(per_get_next);
  if (call) finding.evidence.push_back({"mean_call", *call, "us"});
  finding.evidence.push_back(share_of("overhead_share", overhead));
  finding.advice = {{"Batch first, if the function can work on whole batches: one call then does the work of many.",
                     "dataset = dataset.batch(batch_size).map(f_on_batches, num_parallel_calls=tf.data.AUTOTUNE)",
                     {{FixKind::vectorize, ranked.judgement.culprit, {}, {}}}}};
  finding.is_easy = true;
  return finding;
}

}  // namespace

Rule rule() {
  return {
      .id = "unvectorized-map",
      .summary = "A map calls its function for every element, and the calls cost more than their work",
      .follows = {references::kVectorizing},
      .thresholds = {{"min_calls", 50, "calls",
                      "minimum number of calls of the function per batch, else per GetNext; chosen: fewer cannot cost "
                      "much by themselves"},
                     {"min_overhead_share", 0.50, "share",
                      "minimum share of the culprit's time in which no op of its function runs: then the calls cost "
                      "more than their work. Recorded maps that became 4 to 35 times faster on batches measured 0.9 to "
                      "1.00, with 20 to 160 us a call; maps whose ops are the work measured 0.00 to 0.31"}},
      .check = each_culprit<Waits::bound, check_culprit>};
}

}  // namespace doctor::rules::unvectorized_map
