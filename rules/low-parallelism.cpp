#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipelines.h"
#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::low_parallelism {
namespace {

std::string parallelism_of(const IteratorMeasurement& culprit) {
  const std::optional<std::int64_t> parallelism = culprit.number("parallelism");
  return parallelism ? fmt::format(" (parallelism {})", *parallelism) : "";
}

/// AUTOTUNE does not help where it chose the parallelism, nor where its limit is reached: the threads of the pool. A
/// trace that does not say how many these are does not rule it out.
Advice advice_to_allow_more(const RankedPipeline& ranked) {
  const IteratorId culprit = ranked.judgement.culprit;
  if (const std::optional<std::int64_t> pool = pool_that_binds(ranked, culprit))
    return advice_for_small_pool(ranked, *pool);
  const std::optional<std::int64_t> parallelism = ranked.culprit().number("parallelism");
  const std::optional<std::int64_t> highest = highest_parallelism(ranked, culprit);
  const bool is_at_limit = parallelism && (!highest || *parallelism >= *highest);
  const bool is_tuned = is_autotuned(ranked.culprit()) == true;
  if (const std::string_view maker = ranked[culprit].maker; !maker.empty()) {
    return {{fmt::format("Give tf.data more threads, or write the steps of {} yourself", maker),
             "It decides how many calls run at once, and has no argument for it."},
            std::nullopt};
  }
  if (!is_tuned && !is_at_limit) {
    return {fmt::format("Run more calls of {} at once", describe(ranked.host, culprit)),
            "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)",
            {{FixKind::parallel_map, culprit, {}, {}}}};
  }
  const std::optional<std::int64_t> more = parallelism_to_try(ranked, culprit);
  const std::string number = more ? fmt::format("{}", *more) : "n";
  const std::string line = fmt::format("dataset = dataset.map(f, num_parallel_calls={}).with_options(options)", number);
  return {
      {is_tuned ? "Run more calls at once than AUTOTUNE does, on as many threads"
                : "Run more calls at once, on as many threads",
       fmt::format("Double both as long as it helps.{}",
                   ranked.culprit().user_call.is_parallelised_by_tf
                       ? " TF parallelises it now, without num_parallel_calls in your code."
                       : "")},
      more ? std::optional(code_with_pool(*more, line)) : std::nullopt,
      more ? std::vector<Fix>{{FixKind::threadpool, kNoIterator, more, {}}, {FixKind::parallel_map, culprit, more, {}}}
           : std::vector<Fix>{}};
}

std::vector<Advice> advice_for(const RankedPipeline& ranked) {
  std::vector<Advice> advice = {advice_to_allow_more(ranked)};
  if (ranked.phase().python > 0) {
    advice.push_back({{"Take care: the function runs Python",
                       "A thread that computes in Python, sleeps, or waits for I/O or for Python's lock looks idle in "
                       "a trace, and more calls at once do not help in all of these cases."},
                      std::nullopt});
  } else {
    advice.push_back({{"Try more calls than cores if the function waits for I/O", "Idle cores may mean that it does."},
                      std::nullopt});
  }
  return advice;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<Evidence> in_use = idle_cores(ranked, examiner);
  if (!in_use) return std::nullopt;
  if (unseen_copies_after(ranked.host, ranked.judgement.culprit) != kNoIterator) {
    examiner.misses(
        "a batch with num_parallel_calls copies on threads that leave no events in a trace, so cores that look idle "
        "may be busy");
    return std::nullopt;
  }
  // A function whose ops are mostly too short to be recorded is the cost of calling it, which looks idle and is not:
  // more calls at once measured x0.92. Where none of its ops is in the trace, it does not say so.
  const bool shows_ops = !ranked.function().ops.empty();
  if (shows_ops && !examiner.at_least(share_of("share_in_ops", share_in_ops(ranked)), "min_share_in_ops")) {
    return std::nullopt;
  }
  Finding finding = culprit_finding(ranked, fmt::format("{}{}, while only {} are busy", culprit_part(ranked),
                                                        parallelism_of(ranked.culprit()), busy_cores(ranked)));
  finding.evidence.push_back(*in_use);
  finding.advice = advice_for(ranked);
  return finding;
}

}  // namespace

Rule rule() {
  return {
      .id = "low-parallelism",
      .summary = "A parallel transformation is at its limit while cores are idle",
      .follows = {references::kCpuUtilization, references::kParallelTransformation},
      .thresholds =
          {shared_threshold(
               "max_utilization", "cores_idle",
               "cores count as idle up to this share of the CPU budget in use during the waits: half, and a margin "
               "because busy threads are an estimate. Labelled traces of TF 2.4 to 2.21 measured 0.00 where cores were "
               "idle and 0.95 to 1.00 where they were the limit"),
           {"min_share_in_ops", 0.30, "share",
            "minimum share of a map's time in which ops of its function run. A recorded text pipeline, in "
            "which they ran for 0.15 and calling them took the rest, got slower by more calls"}},
      .check = each_parallel_culprit<check_culprit>,
      .judges_load = true};
}

}  // namespace doctor::rules::low_parallelism
