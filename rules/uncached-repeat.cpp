#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "diagnose/dataset_words.h"
#include "diagnose/pipelines.h"

namespace doctor::rules {
namespace {

bool is_repeat(const IteratorMeasurement& iterator) {
  return iterator.short_name.ends_with("Repeat");
}

/// The outermost repeat whose epochs redo the culprit's work; none where a cache keeps it from being redone.
IteratorId uncached_repeat_above(const RankedPipeline& ranked) {
  if (is_cache(ranked.culprit())) return kNoIterator;
  IteratorId repeat = kNoIterator;
  for (const IteratorId id : iterators_above(ranked.host, ranked.judgement.culprit)) {
    if (is_cache(ranked[id])) return kNoIterator;
    if (is_repeat(ranked[id])) repeat = id;
  }
  return repeat;
}

/// Every epoch makes new iterators below the repeat, and from TF 2.15 on its number stands in their names.
std::uint64_t epochs_seen(const RankedPipeline& ranked, IteratorId repeat) {
  std::uint64_t epochs = ranked.culprit().epochs;
  for (const IteratorId input : ranked[repeat].children) {
    epochs = std::max({epochs, ranked[input].epochs, ranked[input].instances});
  }
  return epochs;
}

std::vector<Advice> advice_for(const RankedPipeline& ranked) {
  std::vector<Advice> advice = {
      {"Keep the result of the first epoch, if it fits in memory (cache(filename) keeps it on disk).",
       "dataset = dataset.cache()  # behind the slow transformation, before repeat() and before anything random"}};
  const std::string random = randomness_of_culprit(ranked);
  if (!random.empty()) {
    advice.push_back({fmt::format("Careful: {}. A cache behind it would repeat the same random choices in every epoch; "
                                  "split the function, and cache before the random part.",
                                  random),
                      std::nullopt});
  }
  return advice;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const IteratorId repeat = uncached_repeat_above(ranked);
  if (!examiner.holds("a repeat stands above the culprit, and no cache between the two", repeat != kNoIterator)) {
    return std::nullopt;
  }
  const std::uint64_t epochs = epochs_seen(ranked, repeat);
  if (!examiner.at_least(number_of("epochs", epochs, "epochs"), "min_epochs")) return std::nullopt;
  Finding finding =
      culprit_finding(ranked, fmt::format("{}, which does the same work in every epoch ({} seen); nothing is cached",
                                          culprit_part(ranked), format_count(epochs)));
  finding.evidence.push_back(number_of("epochs", epochs, "epochs"));
  finding.advice = advice_for(ranked);
  return finding;
}

RuleResult check(const RuleContext& context) {
  return for_each_culprit(context, Waits::bound, check_culprit);
}

}  // namespace

Rule uncached_repeat() {
  return {.id = "uncached-repeat",
          .summary = "The work that the job waits for is redone in every epoch",
          .thresholds = {{"min_epochs", 2, "epochs",
                          "epochs that the window must show: with one alone, nothing is seen to be redone"}},
          .check = check};
}

}  // namespace doctor::rules
