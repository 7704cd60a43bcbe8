#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::device_pipeline_starved {
namespace {

/// Where the waits of a device pipeline were spent, as parts of the time waited.
struct Sides {
  double host = 0;    ///< in iterators of the host pipeline
  double device = 0;  ///< in those of the device pipeline, and in handing elements over
};

Sides sides_of(const RankedPipeline& ranked) {
  const PhaseMeasurement& phase = ranked.phase();
  Picoseconds host = 0;
  Picoseconds device = phase.handoff;
  for (const auto& [iterator, time] : phase.critical.entries()) {
    const bool is_device_side = ranked.host.iterators[iterator].root == ranked.pipeline.root;
    (is_device_side ? device : host) += time;
  }
  const auto waited = static_cast<double>(std::max<Picoseconds>(phase.waited, 1));
  return {static_cast<double>(host) / waited, static_cast<double>(device) / waited};
}

Finding finding_for(const RankedPipeline& ranked, const Sides& sides, std::string message) {
  Finding finding;
  finding.message = std::move(message);
  finding.evidence = {share_of("host_share", sides.host), share_of("device_share", sides.device),
                      time_of("waited", ranked.phase().waited)};
  return finding;
}

/// Pipelines of devices that one host pipeline feeds: one for each replica of a strategy.
std::size_t replicas_of(const RankedPipeline& ranked) {
  const std::vector<PipelineMeasurement>& all = ranked.host.pipelines;
  const std::size_t fed_alike = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& other) {
    return other.is_device && !other.fed_by.empty() && other.fed_by == ranked.pipeline.fed_by;
  }));
  return std::max<std::size_t>(fed_alike, 1);
}

/// Explains the wait: what is slow is a fault of the host pipeline, and other rules say which.
Finding starved_by_host(const RankedPipeline& ranked, const Sides& sides) {
  const std::size_t replicas = replicas_of(ranked);
  const std::string who = replicas == 1
                              ? "The device pipeline waits for its host pipeline"
                              : fmt::format("{} replicas wait for the one host pipeline that feeds them all", replicas);
  Finding finding = finding_for(ranked, sides,
                                fmt::format("{} ({} of the wait), where {} is the slowest part", who,
                                            format_share(sides.host), describe(ranked.host, ranked.judgement.culprit)));
  finding.severity = Severity::note;
  finding.subject = ranked.culprit().long_name;
  finding.at_stake = ranked.culprit_time();
  std::string advice = "The other findings say how; larger buffers on the device only bridge bursts.";
  if (replicas > 1) {
    finding.evidence.push_back({"replicas", static_cast<double>(replicas), ""});
    advice += fmt::format(
        " It makes the elements of all {0} replicas, so it must be {0} times as fast as for one of them: with a "
        "replica "
        "more, the wait grows.",
        replicas);
  }
  finding.advice = {{{"Make the host pipeline faster first", std::move(advice)}, std::nullopt}};
  return finding;
}

Finding slow_handover(const RankedPipeline& ranked, const Sides& sides) {
  Finding finding = finding_for(ranked, sides,
                                fmt::format("Elements are ready on the host, but {} of the device pipeline's wait goes "
                                            "into handing them over to the device",
                                            format_share(sides.device)));
  const IteratorId prefetch = ranked.pipeline.prefetch;
  finding.subject = ranked[prefetch != kNoIterator ? prefetch : ranked.pipeline.root].long_name;
  finding.at_stake = static_cast<Picoseconds>(sides.device * static_cast<double>(ranked.phase().waited));
  finding.advice = {
      {{"Fetch more elements ahead to the device", "Copying then overlaps with the steps."},
       "dataset = dataset.apply(tf.data.experimental.prefetch_to_device(device, buffer_size=4))  # the last "
       "transformation"},
      {"With tf.distribute, enlarge the buffer of each replica",
       "options = tf.distribute.InputOptions(experimental_per_replica_buffer_size=4)\n"
       "dataset = strategy.experimental_distribute_dataset(dataset, options)"},
      {{"Copy less: cast and scale in the model", "Hand over small types, such as uint8 images."}, std::nullopt}};
  return finding;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const bool has_root = ranked.pipeline.root != kNoIterator;
  if (!examiner.holds("the consumer takes its elements from a device pipeline",
                      has_root && ranked.pipeline.is_device)) {
    return std::nullopt;
  }
  const Sides sides = sides_of(ranked);
  if (ranked.culprit().root != ranked.pipeline.root &&
      examiner.at_least(share_of("host_share", sides.host), "min_host_share")) {
    return starved_by_host(ranked, sides);
  }
  if (!examiner.at_least(share_of("device_share", sides.device), "min_device_share")) return std::nullopt;
  return slow_handover(ranked, sides);
}

}  // namespace

Rule rule() {
  return {.id = "device-pipeline-starved",
          .summary = "A device waits because its host pipeline, or the hand-over from it, does not keep up",
          .follows = {references::kIdentifyBottleneck, references::kDistributedInput},
          .thresholds = {{"min_host_share", 0.50, "share",
                          "minimum share of the device pipeline's waits that ends in the host pipeline for that one to "
                          "be the reason; chosen: the larger part. Recordings of two replicas measured 0.89 to 0.91"},
                         {"min_device_share", 0.50, "share",
                          "minimum share of the waits that stays on the device's side for the hand-over to be the "
                          "reason; chosen: the larger part. Recordings of two replicas measured 0.02 to 0.03"}},
          .check = each_culprit<Waits::bound, check_culprit>};
}

}  // namespace doctor::rules::device_pipeline_starved
