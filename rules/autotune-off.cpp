#include <fmt/format.h>

#include "diagnose/tuning.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::autotune_off {
namespace {

Severity severity_of(const RankedPipeline& ranked) {
  return ranked.is_bound() ? Severity::warning : Severity::note;
}

/// The prefetch pauses, its buffer full, and is empty at other times all the same.
std::optional<Finding> check_prefetch(const RankedPipeline& ranked, double share, Examiner& examiner) {
  const IteratorMeasurement& prefetch = ranked[ranked.pipeline.prefetch];
  examiner.is_about(ranked.pipeline.prefetch);
  if (!examiner.holds("the buffer of the prefetch at the end has a fixed size", is_autotuned(prefetch) == false)) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> limit = prefetch.number("buffer_limit");
  Finding finding;
  finding.severity = severity_of(ranked);
  finding.subject = prefetch.long_name;
  finding.message = fmt::format(
      "The prefetch at the end has a fixed buffer{}, which runs empty although making its elements takes only {} of "
      "the time",
      limit ? fmt::format(" of {}", *limit) : "", format_share(share));
  finding.evidence = {share_of("input_share", ranked.judgement.input_share), share_of("producer_share", share)};
  if (limit && *limit >= 0) {
    finding.evidence.push_back(number_of("buffer_limit", static_cast<std::uint64_t>(*limit), "elements"));
  }
  finding.advice = {
      {{"Let the prefetch buffer grow", "Elements come in bursts: it grows until it bridges the gaps between them."},
       "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # the last transformation",
       {{FixKind::buffer, ranked.pipeline.prefetch, {}, {}}}}};
  finding.at_stake = ranked.pipeline.steady.waited;
  return finding;
}

/// What the user can write instead of the number.
std::string code_for(const IteratorMeasurement& stage) {
  if (stage.is_parallel_interleave()) {
    return "dataset = dataset.interleave(f, cycle_length=n, num_parallel_calls=tf.data.AUTOTUNE)";
  }
  if (stage.has(Trait::batch) && stage.has(Trait::parallel)) {
    return "dataset = dataset.batch(batch_size, num_parallel_calls=tf.data.AUTOTUNE)";
  }
  return "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)";
}

std::vector<Fix> fixes_for(const IteratorMeasurement& stage, IteratorId id) {
  if (stage.is_parallel_interleave()) return {{FixKind::parallel_interleave, id, {}, {}}};
  if (stage.has(Trait::batch) && stage.has(Trait::parallel)) return {};
  return {{FixKind::parallel_map, id, {}, {}}};
}

std::optional<Finding> check_parallelism(const RankedPipeline& ranked, Examiner& examiner) {
  const IteratorId id = parallel_stage_of(ranked);
  const bool is_fixed = id != kNoIterator && is_autotuned(ranked[id]) == false;
  if (!examiner.holds("the parallelism of the culprit is fixed", is_fixed)) {
    return std::nullopt;
  }
  examiner.is_about(id);
  const IteratorMeasurement& stage = ranked[id];
  const std::optional<Evidence> in_use = idle_cores(ranked, examiner);
  if (!in_use) return std::nullopt;
  const std::optional<std::int64_t> parallelism = stage.number("parallelism");
  const std::optional<std::int64_t> highest = highest_parallelism(ranked, id);
  if (!parallelism || !highest) {
    examiner.misses(fmt::format("the trace does not show the parallelism of {}{}", describe(ranked.host, id),
                                parallelism ? " that AUTOTUNE may choose" : ""));
    return std::nullopt;
  }
  if (!examiner.holds(
          fmt::format("its parallelism of {} is below the {} that AUTOTUNE may choose", *parallelism, *highest),
          *parallelism < *highest)) {
    return std::nullopt;
  }
  Finding finding = culprit_finding(
      ranked, fmt::format("{}; {} is fixed at parallelism {}, where AUTOTUNE may go up to {}, and {} are busy",
                          culprit_part(ranked), describe(ranked.host, id), *parallelism, *highest, busy_cores(ranked)));
  finding.severity = severity_of(ranked);
  finding.subject = stage.long_name;
  finding.evidence.push_back({"parallelism", static_cast<double>(*parallelism), "calls"});
  finding.evidence.push_back({"highest_parallelism", static_cast<double>(*highest), "calls"});
  finding.evidence.push_back(*in_use);
  finding.advice = {{{fmt::format("Let tf.data set num_parallel_calls of {}", describe(ranked.host, id)),
                      "It does so for the machine that it runs on."},
                     code_for(stage),
                     fixes_for(stage, id)}};
  return finding;
}

/// Where the prefetch pauses the stages before it are fast enough on average, so their parallelism is not the limit.
std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<double> share = producer_share(ranked);
  if (share && examiner.at_most(share_of("producer_share", *share), "max_producer_share")) {
    return check_prefetch(ranked, *share, examiner);
  }
  return check_parallelism(ranked, examiner);
}

}  // namespace

Rule rule() {
  return {
      .id = "autotune-off",
      .summary = "A fixed parallelism or buffer size is smaller than the job needs",
      .follows = {references::kPrefetching, references::kParallelTransformation, references::kTransformationDatasets},
      .thresholds = {{"max_producer_share", 0.75, "share",
                      "the prefetch at the end counts as pausing with a full buffer up to this time to make an "
                      "element, as a share of the time between two GetNext calls. Recorded jobs whose pipeline was "
                      "the limit measured 0.82 to 1.00, two with bursts 0.64 and 0.67"},
                     {"max_utilization", 0.75, "share",
                      "more calls at once have a core to run on up to this share of the CPU budget in use during "
                      "the waits. Chosen: a quarter of the cores is free, and cpu-saturated begins above it"},
                     shared_threshold("min_most_calls", "mostly",
                                      "for `show autotune`: minimum share of the calls that find a buffer empty, "
                                      "or full, for it to count as mostly so: more often than not"),
                     shared_threshold("min_often_calls", "often",
                                      "for `show autotune`: the same for a buffer that is often empty and often "
                                      "full; one call in five is not an accident of the start")},
      .check = each_culprit<Waits::slow, check_culprit>,
      .judges_load = true};
}

}  // namespace doctor::rules::autotune_off
