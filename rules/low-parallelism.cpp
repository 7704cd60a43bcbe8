#include <fmt/format.h>

#include "diagnose/dataset_words.h"
#include "diagnose/limits.h"
#include "diagnose/pipelines.h"
#include "diagnose/tuning.h"

namespace doctor::rules {
namespace {

std::string parallelism_of(const IteratorMeasurement& culprit) {
  const std::optional<std::int64_t> parallelism = culprit.number("parallelism");
  return parallelism ? fmt::format(" (parallelism {})", *parallelism) : "";
}

/// AUTOTUNE is no cure where it chose the parallelism, and not where its limit is reached: the threads of the pool.
Advice advice_to_allow_more(const RankedPipeline& ranked) {
  const std::optional<std::int64_t> parallelism = ranked.culprit().number("parallelism");
  const std::optional<std::int64_t> highest = highest_parallelism(ranked, ranked.judgement.culprit);
  const bool is_at_limit = parallelism && highest && *parallelism >= *highest;
  if (is_autotuned(ranked.culprit()) != true && !is_at_limit) {
    return {"Allow more calls at once.", "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)"};
  }
  return {"Allow more calls at once than AUTOTUNE does, and give tf.data as many threads.",
          "options = tf.data.Options()\n"
          "options.threading.private_threadpool_size = 16\n"
          "dataset = dataset.map(f, num_parallel_calls=16).with_options(options)"};
}

std::vector<Advice> advice_for(const RankedPipeline& ranked) {
  std::vector<Advice> advice = {advice_to_allow_more(ranked)};
  if (ranked.phase().python > 0) {
    advice.push_back(
        {"Careful: the function runs Python. A thread that computes in Python, sleeps, waits for I/O or "
         "for Python's lock looks idle in a trace, and more calls at once do not help all of these.",
         std::nullopt});
  } else {
    advice.push_back(
        {"Idle cores may also mean that the function waits for I/O; then more calls at once help beyond "
         "the number of cores.",
         std::nullopt});
  }
  return advice;
}

RuleResult check(const RuleContext& context) {
  return for_each_parallel_culprit(
      context, [](const RankedPipeline& ranked, double utilization, Examiner& examiner) -> std::optional<Finding> {
        if (!examiner.at_most(share_of("cpu_utilization", utilization), "max_utilization")) return std::nullopt;
        Finding finding = culprit_finding(ranked, fmt::format("{}{}, while only {} are busy", culprit_part(ranked),
                                                              parallelism_of(ranked.culprit()), busy_cores(ranked)));
        finding.evidence.push_back(share_of("cpu_utilization", utilization));
        finding.advice = advice_for(ranked);
        return finding;
      });
}

}  // namespace

Rule low_parallelism() {
  return {.id = "low-parallelism",
          .summary = "A parallel transformation is at its limit while cores are idle",
          .thresholds =
              {{"max_utilization", kCoresIdle, "share",
                "busy threads during the waits, as a part of the CPU budget, up to which cores count as idle: half, "
                "and a margin because busy threads are an estimate. Labelled traces of TF 2.4 to 2.21 "
                "measured 0.00 where cores were idle and 0.95 to 1.00 where they were the limit"}},
          .check = check,
          .judges_load = true};
}

}  // namespace doctor::rules
