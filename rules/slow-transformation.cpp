#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "base/time.h"
#include "diagnose/dataset_words.h"
#include "diagnose/pipelines.h"

namespace doctor::rules {
namespace {

constexpr std::size_t kOpsInMessage = 3;

/// "MatMul 557.4 ms, RandomUniform 162.5 ms"; empty where the trace shows no op of the culprit's function.
std::string longest_ops(const PhaseMeasurement& phase) {
  std::string text;
  for (std::size_t index = 0; index < std::min(kOpsInMessage, phase.function_ops.size()); ++index) {
    const FunctionOp& op = phase.function_ops[index];
    text += fmt::format("{}{} {}", index == 0 ? "" : ", ", op.op, format_time(op.self));
  }
  return text;
}

bool is_cached(const RankedPipeline& ranked) {
  const std::vector<IteratorId> above = iterators_above(ranked.host, ranked.judgement.culprit);
  return std::any_of(above.begin(), above.end(), [&](IteratorId id) { return is_cache(ranked[id]); });
}

std::optional<Advice> advice_for_kind(const RankedPipeline& ranked) {
  const std::string_view kind = kind_of(ranked.culprit());
  if (kind == "FlatMap") {
    return Advice{"flat_map makes one inner dataset at a time; interleave makes several at once.",
                  "dataset = dataset.interleave(f, num_parallel_calls=tf.data.AUTOTUNE)  # instead of flat_map(f)"};
  }
  if (kind == "Shuffle" || kind == "ShuffleAndRepeat") {
    return Advice{
        "Shuffle small elements (file names, serialized records) instead of decoded ones, and use a smaller "
        "buffer.",
        "dataset = dataset.shuffle(buffer_size).map(decode, num_parallel_calls=tf.data.AUTOTUNE)"};
  }
  return std::nullopt;
}

/// The same work in every epoch can be kept; random work must not be.
std::optional<Advice> advice_to_cache(const RankedPipeline& ranked) {
  if (is_cached(ranked)) return std::nullopt;
  if (const std::string random = randomness_of_culprit(ranked); !random.empty()) {
    return Advice{"Keep it out of a cache as it is: " + random +
                      ", and a cache would repeat the same random choices "
                      "in every epoch. Split off what is the same in every epoch, and cache that.",
                  std::nullopt};
  }
  return Advice{
      "If what comes out of it fits in memory and is the same in every epoch, cache it. Random augmentation "
      "and shuffling belong behind the cache.",
      "dataset = dataset.cache()  # behind the slow transformation"};
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const bool is_transformation = !ranked.culprit().is_source;
  if (!examiner.holds(culprit_is(ranked, "a transformation"), is_transformation)) return std::nullopt;
  std::string message = culprit_part(ranked);
  const std::string ops = longest_ops(ranked.phase());
  if (!ops.empty()) message += "; in its function mostly " + ops;
  Finding finding = culprit_finding(ranked, std::move(message));
  for (const FunctionOp& op : ranked.phase().function_ops) {
    if (finding.evidence.size() == 3 + kOpsInMessage) break;
    finding.evidence.push_back(time_of("op " + op.op, op.self));
  }
  for (const std::optional<Advice>& advice : {advice_for_kind(ranked), advice_to_cache(ranked)}) {
    if (advice) finding.advice.push_back(*advice);
  }
  return finding;
}

RuleResult check(const RuleContext& context) {
  return for_each_culprit(context, Waits::bound, check_culprit);
}

}  // namespace

Rule slow_transformation() {
  return {.id = "slow-transformation",
          .summary = "The job waits for one transformation of the pipeline",
          .thresholds = {},
          .check = check};
}

}  // namespace doctor::rules
