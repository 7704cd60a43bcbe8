#include <fmt/format.h>

#include <algorithm>

#include "diagnose/caching.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::uncached_repeat {
namespace {

/// Every epoch makes new iterators below the repeat, and from TF 2.15 on its number is in their names.
std::uint64_t epochs_seen(const RankedPipeline& ranked, IteratorId repeat) {
  std::uint64_t epochs = ranked.culprit().epochs;
  for (const IteratorId input : ranked[repeat].children) {
    epochs = std::max({epochs, ranked[input].epochs, ranked[input].instances});
  }
  return epochs;
}

/// The window shows that the work is done again: a repeat may be there for the next training alone.
Finding seen_again(const RankedPipeline& ranked, std::uint64_t epochs) {
  return culprit_finding(ranked, fmt::format("{}, which does the same work in every epoch ({} seen); nothing is cached",
                                             culprit_part(ranked), format_count(epochs)));
}

/// It shows one epoch, and a repeat.
Finding will_come_again(const RankedPipeline& ranked, IteratorId repeat) {
  Finding finding = culprit_finding(
      ranked, fmt::format("{}, and {} will ask for the same work again: if the result fits in memory{}, a cache() "
                          "between the two saves it from the second epoch on",
                          culprit_part(ranked), describe(ranked.host, repeat), size_of_elements(ranked)));
  finding.severity = Severity::note;
  return finding;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const IteratorId repeat = uncached_repeat_above(ranked);
  if (!examiner.holds("a repeat comes after the culprit, with no cache between the two", repeat != kNoIterator) ||
      !examiner.holds(culprit_is(ranked, "one whose result is worth keeping"), is_worth_caching(ranked)) ||
      !examiner.holds("no endless repeat or source comes before it", endless_before(ranked) == kNoIterator)) {
    return std::nullopt;
  }
  const std::uint64_t epochs = epochs_seen(ranked, repeat);
  const bool are_seen = examiner.at_least(number_of("epochs", epochs), "min_epochs");
  if (!are_seen && !examiner.holds("nothing random in the trace makes one epoch differ from the next",
                                   randomness_of_culprit(ranked).empty())) {
    return std::nullopt;
  }
  Finding finding = are_seen ? seen_again(ranked, epochs) : will_come_again(ranked, repeat);
  finding.evidence.push_back(number_of("epochs", epochs));
  if (std::optional<Advice> advice = advice_to_cache(ranked)) finding.advice = {std::move(*advice)};
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "uncached-repeat",
          .summary = "The work that the job waits for is done again in every epoch",
          .follows = {references::kCaching, references::kCpuUtilization},
          .thresholds = {{"min_epochs", 2, "epochs",
                          "minimum number of epochs in the window for a warning: one alone does not show that work is "
                          "done again, and gives a note"}},
          .check = each_culprit<Waits::bound, check_culprit>};
}

}  // namespace doctor::rules::uncached_repeat
