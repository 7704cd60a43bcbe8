#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "diagnose/fix_advice.h"
#include "diagnose/loaders.h"
#include "diagnose/pipelines.h"
#include "diagnose/user_code.h"
#include "model/interleaving.h"

namespace doctor::rules::python_generator {
namespace {

/// Of a class of Keras that makes batches by their number, which several workers can do at once.
std::optional<Advice> workers_for(const RankedPipeline& ranked) {
  if (!is_made_by_keras(ranked.host, ranked.judgement.culprit)) return std::nullopt;
  const bool is_sequence = ranked.culprit().user_call.method() == "Sequence";
  return more_workers_of_keras(is_sequence ? "Sequence" : "PyDataset", batch_making_of(ranked.host, ranked.pipeline));
}

/// Several generators side by side are a parallel interleave: of the flat_map that from_generator() puts above its own.
/// A trace does not tell whether they would wait at the same time or for each other.
Advice several_generators(const RankedPipeline& ranked) {
  Advice advice{{"If the generator sleeps or waits, interleave several of them",
                 "Make one for each part of the data. What computes in Python gains nothing from threads: make it "
                 "cheaper, or let other processes do it, each with a Python of its own."},
                std::nullopt};
  const IteratorId parent = ranked.culprit().parent;
  if (parent == kNoIterator || !ranked[parent].is_sequential(Trait::flat_map)) return advice;
  const Fix fix{FixKind::parallel_interleave, parent, {}, cycle_to_set(ranked.host, parent)};
  advice.code = code_to_interleave_parts(cycle_argument(fix));
  advice.fixes = {fix};
  return advice;
}

/// Of a batch: so many are worth a call that makes all of them.
constexpr std::int64_t kManyElements = 8;

/// The elements of a batch: each is a call into Python.
std::optional<std::int64_t> elements_of_batch(const RankedPipeline& ranked) {
  for (const IteratorId id : ranked.host.iterators_above(ranked.judgement.culprit)) {
    if (const std::optional<std::int64_t> size = ranked[id].number("batch_size")) return size;
  }
  return std::nullopt;
}

Advice whole_batches(std::int64_t size) {
  return {
      {"Let the generator yield whole batches, and leave batch out",
       fmt::format("Each element costs a call into Python and back, {} for a batch. Its signature gets the dimension "
                   "of the batch.",
                   size)},
      "dataset = tf.data.Dataset.from_generator(\n"
      "    generate_batches, output_signature=signature)  # and no batch()"};
}

/// What runs in Python keeps its lock from all other threads.
Advice computing_in_map() {
  return {{"Move what the generator computes into a map of TensorFlow ops",
           "They run on several threads at once, which Python does not."},
          "dataset = tf.data.Dataset.from_generator(generate_raw, output_signature=signature).map(\n"
          "    f_in_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)"};
}

/// Reading needs no Python, whoever makes the data.
Advice files_for(const RankedPipeline& ranked) {
  return {{"Write the data to files once, and read those", "Reading them needs no Python and can be parallel."},
          "dataset = tf.data.TFRecordDataset(filenames, num_parallel_reads=tf.data.AUTOTUNE)",
          {{FixKind::files, ranked.judgement.culprit, {}, {}}}};
}

/// Whether it is the calls of the generator that take the time, rather than what it does in them.
bool is_mostly_calls(const RankedPipeline& ranked, Examiner& examiner) {
  const std::optional<std::int64_t> elements = elements_of_batch(ranked);
  const bool shows_function = ranked.phase().in_function[ranked.judgement.culprit] > 0;
  return elements.value_or(0) >= kManyElements && shows_function &&
         1 - share_in_ops(ranked) >= examiner["min_overhead_share"];
}

std::vector<Advice> advice_for(const RankedPipeline& ranked, bool calls_cost_most) {
  // Of a class of Keras there is no generator of the user's to change: Keras makes it.
  if (const std::optional<Advice> workers = workers_for(ranked)) return {*workers, files_for(ranked)};
  std::vector<Advice> advice = {computing_in_map(), files_for(ranked), several_generators(ranked)};
  if (calls_cost_most) advice.insert(advice.begin(), whole_batches(elements_of_batch(ranked).value_or(1)));
  return advice;
}

std::optional<Finding> check_culprit(const RankedPipeline& ranked, Examiner& examiner) {
  const bool is_python = ranked.culprit().kind().source == Source::python && !ranked.culprit().is_device_hop;
  if (!examiner.holds(culprit_is(ranked, "a Python generator"), is_python)) return std::nullopt;
  const bool is_of_keras = is_made_by_keras(ranked.host, ranked.judgement.culprit);
  Finding finding = culprit_finding(
      ranked, culprit_part(ranked) + (is_of_keras ? ", Python that makes the batches of a class of Keras"
                                                  : ", a Python generator that makes one element at a time"));
  finding.evidence.push_back(number_of("calls", ranked.culprit().calls, "calls"));
  const bool calls_cost_most = is_mostly_calls(ranked, examiner);
  finding.advice = advice_for(ranked, calls_cost_most);
  const bool computes = ranked.host.cycles.python_lock == PythonLock::held;
  finding.is_easy = calls_cost_most || computes || workers_for(ranked).has_value();
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "python-generator",
          .summary = "The job waits for a Python generator",
          .follows = {references::kSourceDatasets, references::kGeneratorApi},
          .thresholds = {{"min_overhead_share", 0.25, "share",
                          "minimum share of the generator's time in which no op runs, for the advice to yield whole "
                          "batches: it is what calling Python takes. A generator of rows of an array, 2.6 to 6.5 times "
                          "as fast by batches, "
                          "measured 0.35; generators that compute or sleep for an element 0.02 to 0.12"}},
          .check = each_culprit<Waits::even_at_start, check_culprit>};
}

}  // namespace doctor::rules::python_generator
