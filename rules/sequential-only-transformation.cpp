#include <fmt/format.h>

#include <algorithm>

#include "diagnose/fix_advice.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"

namespace doctor::rules::sequential_only_transformation {
namespace {

/// `make_shard`: the lines that make the dataset of a shard.
std::string code_with_shards(std::string_view make_shard, std::string_view call) {
  return fmt::format(
      "def make_dataset(shard_index):\n"
      "{}  return dataset{}\n"
      "\n"
      "dataset = tf.data.Dataset.range(NUM_SHARDS).interleave(\n"
      "    make_dataset, cycle_length=NUM_SHARDS, num_parallel_calls=tf.data.AUTOTUNE)\n"
      "dataset = dataset.prefetch(tf.data.AUTOTUNE)",
      make_shard, call);
}

/// For a pipeline that reads no files.
std::string code_without_files(std::string_view call) {
  return code_with_shards("  dataset = source().shard(NUM_SHARDS, shard_index)  # then transforms, as before\n", call);
}

std::string code_with(std::string_view call) {
  return "filenames = tf.data.Dataset.list_files(file_pattern, shuffle=False)\n\n" +
         code_with_shards(
             "  shard = filenames.shard(NUM_SHARDS, shard_index)\n"
             "  dataset = filenames_to_dataset(shard)  # reads and transforms, as before\n",
             call);
}

Advice parallel_batch(const RankedPipeline& ranked) {
  return {{"Run " + describe(ranked.host, ranked.judgement.culprit) + " in parallel",
           "It copies the elements of a batch on several threads, from TF 2.5 on."},
          "dataset = dataset.batch(batch_size, num_parallel_calls=tf.data.AUTOTUNE)",
          {{FixKind::parallel_batch, ranked.judgement.culprit, {}, {}}}};
}

Advice parallel_predicate(const RankedPipeline& ranked) {
  return {
      {"Compute the predicate in a parallel map, and filter by it", "A filter computes it for one element at a time."},
      "dataset = dataset.map(lambda x: (x, predicate(x)), num_parallel_calls=tf.data.AUTOTUNE)\n"
      "dataset = dataset.filter(lambda x, keep: keep).map(lambda x, keep: x)",
      {{FixKind::parallel_filter, ranked.judgement.culprit, {}, {}}}};
}

/// What makes the step itself faster, without copies of the pipeline.
std::optional<Advice> advice_for_step(const RankedPipeline& ranked) {
  const DatasetKind& kind = ranked.culprit().kind();
  if (kind.is_sequential(Trait::batch)) return parallel_batch(ranked);
  return kind.is_sequential(Trait::filter) ? std::optional(parallel_predicate(ranked)) : std::nullopt;
}

bool has_files(const RankedPipeline& ranked) {
  const auto is_of_files = [](const IteratorMeasurement& below) {
    return !reader_expression(below).empty() || below.has(Trait::lists_files);
  };
  return ranked.host.first_below(ranked.judgement.culprit, is_of_files) != kNoIterator;
}

/// The step is not in the user's own code.
std::vector<Advice> advice_for_made(std::string_view maker) {
  const bool is_csv = maker.ends_with("make_csv_dataset");
  return {{{is_csv ? "Let make_csv_dataset read more files at once"
                   : fmt::format("Build the dataset from its parts, without {}", maker),
            is_csv ? "It writes this step. Or build the dataset from CsvDataset, interleave and batch yourself."
                   : "It writes this step, so there is no line of yours to change."},
           is_csv ? std::optional<std::string>("dataset = tf.data.experimental.make_csv_dataset(\n"
                                               "    file_pattern, batch_size, num_parallel_reads=tf.data.AUTOTUNE)")
                  : std::nullopt}};
}

std::vector<Advice> advice_for(const RankedPipeline& ranked, std::string_view call) {
  if (const std::string_view maker = ranked.culprit().maker; !maker.empty()) {
    return advice_for_made(maker);
  }
  if (const std::optional<Advice> rows = advice_for_rows(ranked.host, ranked.judgement.culprit)) return {*rows};
  if (!has_files(ranked)) {
    std::vector<Advice> advice = {
        {{"Interleave several copies of the pipeline", "Each works on its share of the data."},
         code_without_files(call)}};
    if (std::optional<Advice> first = advice_for_step(ranked)) advice.insert(advice.begin(), *std::move(first));
    return advice;
  }
  std::vector<Advice> advice = {
      {{"Interleave several copies of the pipeline", "Each works on its share of the files."}, code_with(call)},
      {{"Shuffle the elements, not the files",
        "shuffle=False keeps the shares apart: if every copy listed the files in an order of its own, some would be "
        "read twice and others never. Every copy ends with a batch of its own that may be smaller."},
       std::nullopt}};
  if (std::optional<Advice> first = advice_for_step(ranked)) advice.insert(advice.begin(), *std::move(first));
  return advice;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const DatasetKind& kind = ranked.culprit().kind();
  const bool is_sequential = !kind.is_source() && !kind.code.empty();
  if (!examiner.holds(culprit_is(ranked, "a sequential transformation, such as filter, unbatch or batch"),
                      is_sequential))
    return std::nullopt;
  Finding finding =
      culprit_finding(ranked, culprit_part(ranked) + ", which works on one element at a time, on one thread");
  finding.evidence.push_back(number_of("calls", ranked.culprit().calls, "calls"));
  finding.advice = advice_for(ranked, kind.code);
  finding.is_easy = advice_for_rows(ranked.host, ranked.judgement.culprit).has_value();
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "sequential-only-transformation",
          .summary = "The job waits for a transformation that runs on one thread, such as filter or batch",
          .follows = {references::kTransformationDatasets},
          .thresholds = {},
          .check = each_culprit<Waits::bound, check_culprit>};
}

}  // namespace doctor::rules::sequential_only_transformation
