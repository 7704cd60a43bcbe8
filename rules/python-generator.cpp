#include <fmt/format.h>

#include "diagnose/dataset_words.h"
#include "diagnose/pipelines.h"

namespace doctor::rules::python_generator {
namespace {

std::vector<Advice> advice_for(const RankedPipeline& ranked) {
  return {{"Write the data to files once and read those: reading them needs no Python and can be parallel.",
           "with tf.io.TFRecordWriter(filename) as writer:  # once, before training; several files\n"
           "  for example in generate():\n"
           "    writer.write(example.SerializeToString())\n"
           "\n"
           "dataset = tf.data.Dataset.from_tensor_slices(filenames).interleave(\n"
           "    tf.data.TFRecordDataset,\n"
           "    num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)",
           {{FixKind::files, ranked.judgement.culprit, {}, {}}}},
          {"Where it must stay a generator: let it yield whole batches (each element costs a call into Python and "
           "back), and move what it computes into Dataset.map.",
           std::nullopt},
          {"Several generators side by side help only where they wait (for files, the network): Python's lock lets "
           "only one of them compute at a time.",
           std::nullopt}};
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const bool is_python = dataset_kind(ranked.culprit()).source == Source::python && !ranked.culprit().is_device_hop;
  if (!examiner.holds(culprit_is(ranked, "a Python generator"), is_python)) return std::nullopt;
  Finding finding =
      culprit_finding(ranked, culprit_part(ranked) + ", a Python generator that makes one element at a time");
  finding.evidence.push_back(number_of("calls", ranked.culprit().calls, "calls"));
  finding.advice = advice_for(ranked);
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
