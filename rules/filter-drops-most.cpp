#include <fmt/format.h>

#include <algorithm>

#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "text/numbers.h"

namespace doctor::rules::filter_drops_most {
namespace {

bool is_filter(const IteratorMeasurement& iterator) {
  return iterator.has(Trait::filter);
}

std::uint64_t input_calls(const RankedPipeline& ranked, IteratorId filter) {
  std::uint64_t calls = 0;
  for (const IteratorId input : ranked[filter].children) calls += ranked[input].calls;
  return calls;
}

double inputs_per_output(const RankedPipeline& ranked, IteratorId filter) {
  const std::uint64_t outputs = std::max<std::uint64_t>(1, ranked[filter].calls);
  return static_cast<double>(input_calls(ranked, filter)) / static_cast<double>(outputs);
}

/// The culprit, or the filter after it that throws most of its work away.
IteratorId filter_at_or_after_culprit(const RankedPipeline& ranked) {
  IteratorId worst = is_filter(ranked.culprit()) ? ranked.judgement.culprit : kNoIterator;
  for (const IteratorId id : ranked.host.iterators_above(ranked.judgement.culprit)) {
    if (!is_filter(ranked[id])) continue;
    if (worst == kNoIterator || inputs_per_output(ranked, id) > inputs_per_output(ranked, worst)) worst = id;
  }
  return worst;
}

std::vector<Advice> advice_for(const RankedPipeline& ranked, IteratorId filter) {
  if (ranked[filter].maker == "Dataset.rejection_resample") {
    return {{{"Move the map after rejection_resample()",
              "It then runs on what is kept: what is dropped needs only what its class is told by."},
             "dataset = dataset.rejection_resample(class_func, target_dist)\n"
             "dataset = dataset.map(lambda label, example: f(example), num_parallel_calls=tf.data.AUTOTUNE)",
             {{FixKind::map_after, ranked.judgement.culprit, {}, {}}}}};
  }
  return {{{"Filter before the map",
            "Filter right after the source, on the raw record or the file name, before decoding: no work is done on "
            "what is dropped."},
           "dataset = dataset.filter(predicate).map(decode, num_parallel_calls=tf.data.AUTOTUNE)",
           {{FixKind::filter_first, filter, {}, {}}}},
          {"Test a whole batch with one call, then take it apart",
           "dataset = dataset.batch(1024).map(lambda batch: tf.boolean_mask(batch, predicate(batch))).unbatch()"},
          {{"Store the elements that pass, if they are the same in every epoch",
            "With cache() after the filter, or in files."},
           std::nullopt}};
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const IteratorId filter = filter_at_or_after_culprit(ranked);
  if (!examiner.holds(culprit_is(ranked, "a filter, or comes before one"), filter != kNoIterator)) return std::nullopt;
  const std::uint64_t inputs = input_calls(ranked, filter);
  const Evidence ratio = {"inputs_per_output", inputs_per_output(ranked, filter), "ratio"};
  if (!examiner.at_least(ratio, "min_inputs_per_output")) return std::nullopt;
  const bool is_culprit = filter == ranked.judgement.culprit;
  const std::string kept = fmt::format("{} of {} elements", format_count(ranked[filter].calls), format_count(inputs));
  Finding finding = culprit_finding(
      ranked, is_culprit ? fmt::format("{}, which keeps {}", culprit_part(ranked), kept)
                         : fmt::format("{}; {} after it keeps {}, and the work on the others is thrown away",
                                       culprit_part(ranked), describe(ranked.host, filter), kept));
  finding.subject = ranked[filter].long_name;
  finding.evidence.push_back(ratio);
  finding.evidence.push_back(number_of("inputs", inputs, "calls"));
  finding.evidence.push_back(number_of("outputs", ranked[filter].calls, "calls"));
  finding.advice = advice_for(ranked, filter);
  finding.is_easy = !is_culprit;
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "filter-drops-most",
          .summary = "A filter throws most elements away, after the work on them that the job waits for",
          .follows = {references::kTransformationDatasets},
          .thresholds = {{"min_inputs_per_output", 4, "ratio",
                          "minimum number of elements read for each one kept: at four, three quarters of what is made "
                          "upstream are thrown away"}},
          .check = each_culprit<Waits::even_at_start, check_culprit>};
}

}  // namespace doctor::rules::filter_drops_most
