#include <fmt/format.h>

#include <algorithm>

#include "diagnose/fix_advice.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "model/interleaving.h"

namespace doctor::rules::sequential_interleave {
namespace {

/// The nearest one above the culprit that works through its inner datasets in turn. A flat_map counts where nothing
/// else lets the culprit work on several elements at once.
IteratorId sequential_interleave_above(const RankedPipeline& ranked) {
  const IteratorId culprit = ranked.judgement.culprit;
  if (makes_one_element_a_dataset(ranked.host, culprit)) {
    const IteratorId maker = maker_of_dataset_around(ranked.host, culprit);
    if (ranked[maker].is_sequential(Trait::flat_map) && ranked[maker].maker.empty()) return maker;
  }
  return ranked.host.first_above(culprit, [](const OfKind& one) { return one.is_sequential(Trait::interleave); });
}

std::string code_for(const IteratorMeasurement& culprit, const Fix& fix) {
  const std::string_view reader = reader_expression(culprit);
  return fmt::format(
      "dataset = filenames.interleave(\n    {},\n    {}num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
      reader.empty() ? "dataset_of_file" : reader, cycle_argument(fix));
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const IteratorId interleave = sequential_interleave_above(ranked);
  if (!examiner.holds("an interleave that works on one dataset at a time comes after the culprit, " +
                          describe(ranked.host, ranked.judgement.culprit),
                      interleave != kNoIterator) ||
      !holds_job_up(ranked, examiner)) {
    return std::nullopt;
  }
  Finding finding = culprit_finding(ranked, fmt::format("{}, and {} after it works on one dataset at a time",
                                                        culprit_part(ranked), describe(ranked.host, interleave)));
  finding.subject = ranked[interleave].long_name;
  const Fix fix{FixKind::parallel_interleave, interleave, {}, cycle_to_set(ranked.host, interleave)};
  finding.advice = {{"Run interleave in parallel", code_for(ranked.culprit(), fix), {fix}},
                    {{"Leave deterministic=False out if the order must stay",
                      "It lets elements overtake each other. A low cycle_length limits how many datasets are open."},
                     std::nullopt}};
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "sequential-interleave",
          .summary = "An interleave reads one of its datasets at a time while the job waits",
          .follows = {references::kParallelExtraction, references::kSourceDatasets},
          .thresholds = {{"min_culprit_share", 0.20, "share",
                          "minimum share of the time waited that the slow dataset inside holds. Below a fifth the "
                          "change could not gain more than the verdict's own limit"}},
          .check = each_culprit<Waits::bound, check_culprit>};
}

}  // namespace doctor::rules::sequential_interleave
