#include <fmt/format.h>

#include "diagnose/fix_advice.h"
#include "diagnose/loaders.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "words/verdict_words.h"

namespace doctor::rules::intermittent_stalls {
namespace {

/// Of Grain, PyTorch's DataLoader and Keras' PyDataset.
std::vector<Advice> advice_for_loader(const RankedPipeline& ranked) {
  const Stalls& stalls = *ranked.pipeline.stalls;
  LoaderBuffering buffering = buffering_of_loader(ranked.host, ranked.pipeline, stalls.distance);
  if (stalls.begin_epochs()) {
    return {
        {{"Keep what makes the batches at work from one epoch to the next", "Each epoch begins without a batch now."},
         std::move(buffering.across_epochs)}};
  }
  std::vector<Advice> advice = {{{"Look for something that happens once every so many batches",
                                  "A file is opened or a shard ends, a shuffle buffer is filled again, a checkpoint or "
                                  "an evaluation takes the cores."},
                                 std::nullopt}};
  if (stalls.distance < 2 || !buffering.ready) return advice;
  advice.push_back({{fmt::format("Keep the batches of {} steps ready", stalls.distance),
                     "It bridges a stall if, on average, making a batch takes less time than a step."},
                    std::move(buffering.ready)});
  return advice;
}

std::vector<Advice> advice_for(const RankedPipeline& ranked) {
  if (has_other_loader(ranked.pipeline)) return advice_for_loader(ranked);
  const Stalls& stalls = *ranked.pipeline.stalls;
  const IteratorId prefetch = ranked.pipeline.prefetch;
  if (stalls.begin_epochs()) {
    return {
        {{"Take the steps of all epochs from one iterator",
          "Each epoch begins with an empty pipeline now. It makes the first elements of the next epoch while this one "
          "ends. With Keras: fit(dataset.repeat(), steps_per_epoch=...)."},
         std::string(kIterateOnce),
         fixes_to_iterate_once(ranked.host, ranked.pipeline.root)},
        {{"Make the start of an epoch cheaper",
          "Open fewer files before the first element, or fill a smaller shuffle buffer."},
         std::nullopt},
    };
  }
  std::vector<Advice> advice = {{{"Look for something that happens once every so many elements",
                                  "A file is opened or a shard ends (interleave several), a shuffle buffer is filled "
                                  "again, a large batch is unbatched, a checkpoint or an evaluation takes the cores."},
                                 std::nullopt}};
  if (stalls.distance < 2) return advice;
  std::vector<Fix> fixes;
  if (prefetch != kNoIterator) fixes = {{FixKind::buffer, prefetch, static_cast<std::int64_t>(stalls.distance), {}}};
  advice.push_back({{fmt::format("Prefetch the elements of {} steps", stalls.distance),
                     "It bridges a stall if, on average, making an element takes less time than a step."},
                    fmt::format("dataset = dataset.prefetch({})  # the last transformation", stalls.distance),
                    fixes});
  return advice;
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  examiner.is_about(ranked.pipeline.stalls ? ranked.pipeline.stalls->culprit : ranked.pipeline.root);
  if (!examiner.holds("some calls take more than 5 times as long as the median, and more than 1 ms",
                      ranked.pipeline.stalls.has_value())) {
    return std::nullopt;
  }
  const Stalls& stalls = *ranked.pipeline.stalls;
  if (!examiner.at_least(number_of("stalls", stalls.count, "calls"), "min_stalls") ||
      !examiner.at_least(share_of("stalled_share", stalls.share), "min_share")) {
    return std::nullopt;
  }
  Finding finding;
  finding.severity = ranked.is_bound() ? Severity::warning : Severity::note;
  if (stalls.culprit != kNoIterator) finding.subject = ranked[stalls.culprit].long_name;
  finding.message = describe_stalls(ranked.host, ranked.pipeline);
  finding.evidence = {number_of("stalls", stalls.count, "calls"),
                      number_of("first_call", stalls.first + 1),
                      number_of("last_call", stalls.last + 1),
                      number_of("distance", stalls.distance, "calls"),
                      number_of("epoch_starts", stalls.epoch_starts, "calls"),
                      time_of("median_of_stalls", stalls.typical),
                      time_of("median_of_others", stalls.usual),
                      time_of("waited", stalls.waited),
                      share_of("stalled_share", stalls.share)};
  finding.advice = advice_for(ranked);
  finding.at_stake = stalls.waited;
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "intermittent-stalls",
          .summary = "Most GetNext calls return at once, but some stall, again and again",
          .follows = {references::kFastEnough},
          .thresholds =
              {{"min_stalls", 3, "calls", "minimum stalled calls; one or two may be noise from the machine"},
               {"min_share", 0.05, "share",
                "minimum share of the time spent in them; at this share XProf calls a job moderately input-bound"}},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::intermittent_stalls
