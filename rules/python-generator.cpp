#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "diagnose/dataset_words.h"
#include "diagnose/fix_advice.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "model/interleaving.h"

namespace doctor::rules::python_generator {
namespace {

/// Of a class of Keras that makes batches by their number, which several workers can do at once. Keras 2 takes their
/// number in fit, Keras 3 in the class (API references of keras.utils.Sequence and keras.utils.PyDataset).
std::optional<Advice> workers_for(const RankedPipeline& ranked) {
  const std::string maker = user_method(ranked.host, ranked.judgement.culprit);
  if (maker == "PyDataset") {
    return Advice{
        "Let several processes make the batches of your PyDataset side by side, each with a Python of its own.",
        "batches.workers = cores  # your keras.utils.PyDataset, before fit\n"
        "batches.use_multiprocessing = True"};
  }
  if (maker == "Sequence") {
    return Advice{
        "Let several processes make the batches of your Sequence side by side, each with a Python of its own.",
        "model.fit(batches, workers=cores, use_multiprocessing=True)"};
  }
  return std::nullopt;
}

/// Several generators side by side are a parallel interleave: of the flat_map that from_generator() puts above its own.
Advice several_generators(const RankedPipeline& ranked) {
  Advice advice{
      "Make a generator for each part of the data and interleave their datasets: while one waits (for files, the "
      "network), others go on. Python's lock lets only one of them compute at a time.",
      std::nullopt};
  const IteratorId parent = ranked.culprit().parent;
  if (parent == kNoIterator || kind_of(ranked[parent]) != "FlatMap") return advice;
  const Fix fix{FixKind::parallel_interleave, parent, {}, cycle_to_set(ranked.host, parent)};
  advice.code = code_to_interleave_parts(cycle_argument(fix));
  advice.fixes = {fix};
  return advice;
}

/// Reading needs no Python, whoever makes the data.
Advice files_for(const RankedPipeline& ranked) {
  return {"Write the data to files once and read those: reading them needs no Python and can be parallel.",
          "with tf.io.TFRecordWriter(filename) as writer:  # once, before training; several files\n"
          "  for example in generate():\n"
          "    writer.write(example.SerializeToString())\n"
          "\n"
          "dataset = tf.data.Dataset.from_tensor_slices(filenames).interleave(\n"
          "    tf.data.TFRecordDataset,\n"
          "    num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
          {{FixKind::files, ranked.judgement.culprit, {}, {}}}};
}

std::vector<Advice> advice_for_generator(const RankedPipeline& ranked) {
  return {files_for(ranked),
          {"Where it must stay a generator: let it yield whole batches (each element costs a call into Python and "
           "back), and move what it computes into Dataset.map.",
           std::nullopt},
          several_generators(ranked)};
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const bool is_python = dataset_kind(ranked.culprit()).source == Source::python && !ranked.culprit().is_device_hop;
  if (!examiner.holds(culprit_is(ranked, "a Python generator"), is_python)) return std::nullopt;
  Finding finding =
      culprit_finding(ranked, culprit_part(ranked) + ", a Python generator that makes one element at a time");
  finding.evidence.push_back(number_of("calls", ranked.culprit().calls, "calls"));
  // Of a class of Keras there is no generator of the user's to change: Keras makes it.
  const std::optional<Advice> workers = workers_for(ranked);
  finding.is_easy = workers.has_value();
  finding.advice = workers ? std::vector<Advice>{*workers, files_for(ranked)} : advice_for_generator(ranked);
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "python-generator",
          .summary = "The job waits for a Python generator",
          .follows = {references::kSourceDatasets, references::kGeneratorApi},
          .thresholds = {},
          .check = each_culprit<Waits::even_at_start, check_culprit>};
}

}  // namespace doctor::rules::python_generator
