#include <fmt/format.h>

#include "diagnose/pipelines.h"
#include "text/numbers.h"

namespace doctor::rules::remade_iterator {
namespace {

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  examiner.is_about(ranked.pipeline.root);
  if (!examiner.holds("the pipeline is made anew for every step or two", ranked.pipeline.remade.has_value())) {
    return std::nullopt;
  }
  const RemadeIterator& remade = *ranked.pipeline.remade;
  if (!examiner.at_least(number_of("times_made", remade.times, "iterators"), "min_times")) return std::nullopt;
  if (!examiner.at_least(share_of("remaking_share", remade.share()), "min_share")) return std::nullopt;
  const auto times = static_cast<Picoseconds>(remade.times);
  Finding finding;
  finding.severity = Severity::warning;
  finding.subject = ranked[ranked.pipeline.root].long_name;
  finding.message = fmt::format(
      "the iterator is made anew for every step: {} times, {} of the time; each takes {} to make, {} more until its "
      "first element, and {} to end",
      format_count(remade.times), format_share(remade.share()), format_time(remade.making / times),
      format_time(remade.first_calls / times), format_time(remade.releasing / times));
  finding.evidence = {number_of("times_made", remade.times, "iterators"), share_of("remaking_share", remade.share()),
                      time_of("making", remade.making), time_of("first_elements", remade.first_calls),
                      time_of("releasing", remade.releasing)};
  finding.advice = {{{"Make one iterator before the loop",
                      "Take each step's element from it. It then prefetches while the step runs, and a shuffle buffer "
                      "is filled once."},
                     "iterator = iter(dataset.repeat())\nfor step in range(steps):\n    batch = next(iterator)",
                     fixes_to_iterate_once(ranked.host, ranked.pipeline.root)}};
  finding.is_easy = true;
  finding.at_stake = remade.making + remade.first_calls + remade.releasing;
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "remade-iterator",
          .summary = "The iterator is made anew for every step, so nothing is ever ready",
          .follows = {references::kBasicMechanics, references::kPrefetching},
          .thresholds =
              {{"min_times", 3, "iterators",
                "minimum number of times that the window shows it being made: two may be the ends of epochs"},
               {"min_share", 0.05, "share",
                "minimum share of the time that goes into making it, waiting for its first element and ending it; at "
                "this share XProf calls a job moderately input-bound"}},
          .check = each_pipeline<check_pipeline>};
}

}  // namespace doctor::rules::remade_iterator
