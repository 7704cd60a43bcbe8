#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::autotune_limited {
namespace {

/// AUTOTUNE would enlarge a buffer that runs empty, but the RAM budget is used up: the stages before the prefetch are
/// fast enough on average, where it pauses.
std::optional<Finding> check_buffer(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<double> share = producer_share(ranked);
  if (!examiner.holds("there is a prefetch at the end", share.has_value()) ||
      !examiner.at_most(share_of("producer_share", *share), "max_producer_share")) {
    return std::nullopt;
  }
  const IteratorId id = ranked.pipeline.prefetch;
  examiner.is_about(id);
  if (!examiner.holds("AUTOTUNE sizes the buffer of the prefetch at the end", is_autotuned(ranked[id]) == true)) {
    return std::nullopt;
  }
  const std::optional<double> budget = ram_budget_megabytes(ranked.host, id);
  if (!budget) {
    examiner.misses("the trace does not show how much memory tf.data may use");
    return std::nullopt;
  }
  const double buffered = buffered_megabytes(ranked.host, ranked.pipeline.members).value_or(0);
  if (!examiner.at_least(share_of("ram_budget_used", buffered / *budget), "min_budget_used")) return std::nullopt;
  Finding finding;
  finding.subject = ranked[id].long_name;
  finding.message = fmt::format(
      "The prefetch at the end runs empty, and AUTOTUNE cannot enlarge its buffer: the pipeline already buffers {:.0f} "
      "MB of elements, and the RAM budget is {:.0f} MB",
      buffered, *budget);
  finding.evidence = {share_of("input_share", ranked.judgement.input_share), share_of("producer_share", *share),
                      share_of("ram_budget_used", buffered / *budget)};
  finding.advice = {{{"Give tf.data more memory", "Or buffer smaller elements: see memory-heavy-order."},
                     "options = tf.data.Options()\n"
                     "options.autotune.ram_budget = ram_bytes\n"
                     "dataset = dataset.with_options(options)"}};
  finding.at_stake = ranked.pipeline.steady.waited;
  return finding;
}

/// Why AUTOTUNE goes no further, as the end of a sentence.
std::string limit_words(const RankedPipeline& ranked, const IteratorMeasurement& stage, std::int64_t parallelism,
                        std::optional<std::int64_t> highest) {
  if (!highest || parallelism < *highest) return "it counts CPU time, and the function waits";
  if (stage.is_parallel_interleave()) return fmt::format("its cycle length is {}", *highest);
  const std::int64_t cores = ranked.pipeline.cpu_budget.value_or(0);
  if (*highest < cores) return fmt::format("its thread pool is set to {}, fewer than the cores", *highest);
  return fmt::format("the thread pool has {}", format_count(static_cast<std::uint64_t>(*highest), "thread"));
}

/// `may_wait`: the function mostly does what needs no core, so that there can be more calls than cores.
std::vector<Advice> advice_for(const RankedPipeline& ranked, IteratorId id, bool is_at_limit, bool may_wait) {
  const IteratorMeasurement& stage = ranked[id];
  const std::optional<std::int64_t> small_pool = pool_that_binds(ranked, id);
  const std::int64_t calls = parallelism_to_try(ranked, id).value_or(1);
  const std::string number = fmt::format("{}", calls);
  const std::string no_number =
      stage.user_call.is_parallelised_by_tf ? "TF parallelises it: there is no num_parallel_calls in your code." : "";
  std::vector<Advice> advice;
  if (small_pool && !stage.is_parallel_interleave() && !may_wait) return {advice_for_small_pool(ranked, *small_pool)};
  if (stage.is_parallel_interleave()) {
    advice.push_back({"Read from more files at once",
                      fmt::format("dataset = dataset.interleave(f, cycle_length={0}, num_parallel_calls={0})", number),
                      {{FixKind::parallel_interleave, id, calls, calls}}});
  } else if (is_at_limit) {
    advice.push_back(
        {{"Give tf.data more threads than there are cores",
          "They mostly wait; AUTOTUNE can then choose more, or you can set a number yourself." +
              (no_number.empty() ? "" : " " + no_number)},
         code_with_pool(calls,
                        fmt::format("dataset = dataset.map(f, num_parallel_calls={}).with_options(options)", number)),
         {{FixKind::threadpool, kNoIterator, calls, {}}, {FixKind::parallel_map, id, calls, {}}}});
  } else {
    advice.push_back({{"Run more calls at once than AUTOTUNE chose", no_number},
                      fmt::format("dataset = dataset.map(f, num_parallel_calls={})", number),
                      {{FixKind::parallel_map, id, calls, {}}}});
  }
  if (ranked.phase().python > 0) {
    advice.push_back({{"Take care: the function runs Python",
                       "More calls at once help while it sleeps or waits for I/O, not while it computes or waits for "
                       "Python's lock."},
                      std::nullopt});
  }
  return advice;
}

/// Whether there is room for more calls of a map's function. Where the pool has fewer threads than there are cores any
/// function has room; else only one that waits. A function without ops in the trace may be nothing but the cost of
/// calling it, which looks idle and is not.
bool has_room(const RankedPipeline& ranked, std::int64_t parallelism, std::optional<std::int64_t> highest,
              Examiner& examiner) {
  if (!examiner.at_least(share_of("share_in_ops", share_in_ops(ranked)), "min_share_in_ops")) return false;
  const std::int64_t cores = ranked.pipeline.cpu_budget.value_or(0);
  if (highest && parallelism >= *highest && *highest < cores) return true;
  if (!examiner.at_least(share_of("share_that_waits", share_that_waits(ranked)), "min_waiting_share")) return false;
  const double running = static_cast<double>(parallelism) * ranked.judgement.culprit_share;
  const double computing = ranked.phase().busy_threads / std::max(running, 1e-9);
  return examiner.at_most(share_of("computing_share", computing), "max_computing_share");
}

Finding parallelism_finding(const RankedPipeline& ranked, IteratorId id, std::int64_t parallelism,
                            std::optional<std::int64_t> highest, const Evidence& in_use, double least_waiting) {
  const IteratorMeasurement& stage = ranked[id];
  Finding finding =
      culprit_finding(ranked, fmt::format("{}; AUTOTUNE stops at parallelism {} there although only {} are busy: {}",
                                          culprit_part(ranked), parallelism, busy_cores(ranked),
                                          limit_words(ranked, stage, parallelism, highest)));
  finding.subject = stage.long_name;
  finding.evidence.push_back({"parallelism", static_cast<double>(parallelism), "calls"});
  if (highest) finding.evidence.push_back({"highest_parallelism", static_cast<double>(*highest), "calls"});
  finding.evidence.push_back(in_use);
  finding.advice =
      advice_for(ranked, id, highest && parallelism >= *highest, share_that_waits(ranked) >= least_waiting);
  return finding;
}

std::optional<Finding> check_parallelism(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<double> share = producer_share(ranked);
  if (share && !examiner.at_least(share_of("producer_share", *share), "min_producer_share")) return std::nullopt;
  const IteratorId id = parallel_stage_of(ranked);
  const bool is_tuned = id != kNoIterator && is_autotuned(ranked[id]) == true;
  if (!examiner.holds("AUTOTUNE chooses the parallelism of the culprit", is_tuned)) {
    return std::nullopt;
  }
  examiner.is_about(id);
  const IteratorMeasurement& stage = ranked[id];
  const std::optional<Evidence> in_use = idle_cores(ranked, examiner);
  if (!in_use) return std::nullopt;
  const std::optional<std::int64_t> parallelism = stage.number("parallelism");
  if (!parallelism) {
    examiner.misses(fmt::format("the trace does not show the parallelism of {}", describe(ranked.host, id)));
    return std::nullopt;
  }
  const std::optional<std::int64_t> highest = highest_parallelism(ranked, id);
  if (stage.is_parallel_interleave()) {
    const bool is_at_cycle = highest && *parallelism >= *highest;
    if (!examiner.holds(fmt::format("its parallelism of {} equals its cycle length", *parallelism), is_at_cycle)) {
      return std::nullopt;
    }
  } else if (!has_room(ranked, *parallelism, highest, examiner)) {
    return std::nullopt;
  }
  return parallelism_finding(ranked, id, *parallelism, highest, *in_use, examiner["min_waiting_share"]);
}

/// Two questions, each with a threshold of its own: moving one of them never gives the pipeline to the other.
RuleResult check(const RuleContext& context) {
  RuleResult result = for_each_culprit(context, Waits::bound, check_parallelism);
  RuleResult buffers = for_each_culprit(context, Waits::bound, check_buffer);
  std::move(buffers.findings.begin(), buffers.findings.end(), std::back_inserter(result.findings));
  std::move(buffers.inquiries.begin(), buffers.inquiries.end(), std::back_inserter(result.inquiries));
  return result;
}

}  // namespace

Rule rule() {
  return {
      .id = "autotune-limited",
      .summary = "AUTOTUNE is on, but the value it chose, or may choose, holds the job up",
      .follows = {references::kParallelTransformation, references::kThreadingOptions, references::kAutotuneOptions},
      .thresholds =
          {{"max_utilization", 0.55, "share",
            "cores count as idle up to this share of the CPU budget in use during the waits; as in low-parallelism"},
           {"min_share_in_ops", 0.50, "share",
            "minimum share of a map's time in which ops of its function run: then it is the function that takes the "
            "time. A recorded function that sleeps measured 0.99, one of tiny ops 0.00"},
           {"min_waiting_share", 0.50, "share",
            "minimum share of the function's ops that can wait without a core, in files or in Python, for more calls "
            "than cores. Where a pool of 2 or 4 threads of 16 cores decoded images, as many threads as cores made the "
            "input 2.1 and 2.6 times as fast, and there was nothing left for more to do"},
           {"max_computing_share", 0.50, "share",
            "calls count as waiting up to this share of them that compute, of those that the parallelism lets run at "
            "once. A recorded function that sleeps measured 0.00, one that computes beside a sequential batch 0.75"},
           {"max_producer_share", 0.75, "share",
            "the prefetch at the end counts as pausing with a full buffer up to this time to make an element, as a "
            "share of the time between two GetNext calls; as in autotune-off"},
           {"min_producer_share", 0.75, "share",
            "the stages before a prefetch at the end count as too slow from this time to make an element on, as the "
            "same share"},
           shared_threshold("min_budget_used", "ram_budget_used",
                            "minimum size of all buffers of the pipeline, as a share of the RAM budget: then AUTOTUNE "
                            "has no room left. Chosen: the runtime rounds each buffer down to whole megabytes"),
           shared_threshold("min_memory_used", "memory_full",
                            "for `show autotune`: minimum share of the machine's memory in use for AUTOTUNE to have "
                            "little left for buffers; it plans with half of what is free")},
      .check = check,
      .judges_load = true};
}

}  // namespace doctor::rules::autotune_limited
