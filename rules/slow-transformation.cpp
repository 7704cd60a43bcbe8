#include <fmt/format.h>

#include <algorithm>

#include "base/time.h"
#include "diagnose/caching.h"
#include "diagnose/fix_advice.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "model/candidates.h"
#include "model/interleaving.h"
#include "text/numbers.h"

namespace doctor::rules::slow_transformation {
namespace {

constexpr std::size_t kOpsInMessage = 3;

/// "MatMul 557.4 ms, RandomUniform 162.5 ms"; empty where the trace shows no op of the culprit's function.
std::string longest_ops(const CulpritFunction& function) {
  std::string text;
  for (std::size_t index = 0; index < std::min(kOpsInMessage, function.ops.size()); ++index) {
    const FunctionOp& op = function.ops[index];
    text += fmt::format("{}{} {}", index == 0 ? "" : ", ", op.op, format_time(op.self));
  }
  return text;
}

bool opens_windows(const RankedPipeline& ranked) {
  return ranked.culprit().is_sequential(Trait::flat_map) && takes_windows(ranked.host, ranked.judgement.culprit);
}

std::optional<Advice> advice_for_kind(const RankedPipeline& ranked) {
  if (opens_windows(ranked)) {
    return Advice{{"Gather the windows of a batch out of the series",
                   "Each is a dataset of its own now, and flat_map opens them one after another. An interleave in its "
                   "place made that slower."},
                  "dataset = tf.data.Dataset.range(count).batch(batch_size).map(\n"
                  "    lambda first: tf.gather(series, first[:, None] + tf.range(window_size, dtype=tf.int64)),\n"
                  "    num_parallel_calls=tf.data.AUTOTUNE)"};
  }
  if (ranked.culprit().is_sequential(Trait::flat_map) && ranked.culprit().maker.empty()) {
    const Fix fix{FixKind::parallel_interleave,
                  ranked.judgement.culprit,
                  {},
                  cycle_to_set(ranked.host, ranked.judgement.culprit)};
    return Advice{
        {"Use interleave in place of flat_map", "It works on several inner datasets at a time."},
        fmt::format("dataset = dataset.interleave(f, {}num_parallel_calls=tf.data.AUTOTUNE)", cycle_argument(fix)),
        {fix}};
  }
  if (std::optional<Advice> rows = advice_for_rows(ranked.host, ranked.judgement.culprit)) {
    // Of the batch and the source their own rules say it.
    return ranked.culprit().has(Trait::shuffle) ? rows : std::nullopt;
  }
  if (ranked.culprit().has(Trait::shuffle) && ranked.culprit().maker.empty()) {
    return Advice{
        {"Shuffle before decoding, and with a smaller buffer", "File names and serialized records are small."},
        "dataset = dataset.shuffle(buffer_size).map(decode, num_parallel_calls=tf.data.AUTOTUNE)"};
  }
  return std::nullopt;
}

/// Where the epochs are repeated, uncached-repeat gives this advice.
std::optional<Advice> advice_for_epochs(const RankedPipeline& ranked) {
  return uncached_repeat_above(ranked) == kNoIterator ? advice_to_cache(ranked) : std::nullopt;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const bool is_transformation = !ranked.culprit().is_source;
  if (!examiner.holds(culprit_is(ranked, "a transformation"), is_transformation)) return std::nullopt;
  std::string message = culprit_part(ranked);
  const std::string ops = longest_ops(ranked.function());
  if (!ops.empty()) message += "; in its function mostly " + ops;
  Finding finding = culprit_finding(ranked, std::move(message));
  for (const FunctionOp& op : ranked.function().ops) {
    if (finding.evidence.size() == 3 + kOpsInMessage) break;
    finding.evidence.push_back(time_of("op " + op.op, op.self));
  }
  finding.is_easy = opens_windows(ranked);
  for (const std::optional<Advice>& advice : {advice_for_kind(ranked), advice_for_epochs(ranked)}) {
    if (advice) finding.advice.push_back(*advice);
  }
  finding.advice.push_back(
      {ops.empty()
           ? AdviceText("Make this step faster first", "No other change to the pipeline makes the job faster before.")
           : AdviceText("Make the function itself cheaper", "Most of its time is in " + ops + "."),
       std::nullopt});
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "slow-transformation",
          .summary = "The job waits for one transformation of the pipeline",
          .follows = {references::kTransformationDatasets, references::kCaching},
          .thresholds = {},
          .check = each_culprit<Waits::bound, check_culprit>};
}

}  // namespace doctor::rules::slow_transformation
