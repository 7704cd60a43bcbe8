// What Python's frames show of a PyDataset that Keras trains on: the queue that its workers fill, and the user's
// function.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "diagnose/catalog.h"
#include "pipeline.h"
#include "report/report.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "unwrapped.h"

namespace doctor::keras_frames_test {
namespace {

constexpr int kSteps = 40;
constexpr double kStepUs = 2000;

/// A training of so many steps, and what makes its batches.
struct KerasJob {
  double wait_us = 20;  ///< of each step
  int made = kSteps;    ///< batches that workers hand over while it trains
  int workers = 4;      ///< threads; 0: processes
  std::string name = "$py_dataset_adapter.py:271 _finite_enqueuer_generator";  ///< of JAX' frames of next()
};

double start_of(int step) {
  return 1000 + step * kStepUs;
}

void add_workers(const KerasJob& job, SyntheticTrace& trace) {
  trace.add("feeder", "$py_dataset_adapter.py:467 is_running", 1500, 1);
  for (int batch = 0; batch < job.made; ++batch) {
    const double end = start_of(batch) + 1500;
    trace.add("results", "$pool.py:776 _set", end, 2);
    if (job.workers == 0) continue;
    const std::string thread = "worker " + std::to_string(batch % job.workers);
    trace.add(thread, "$py_dataset_adapter.py:388 get_index", end - 1200, 1190);
    trace.add(thread, "$train.py:16 __getitem__", end - 1198, 1180);
    trace.add(thread, "$store.py:99 __getitem__", end - 1100, 1000);
  }
}

/// Recorded by TensorFlow's profiler: the queue is emptied by a generator of tf.data.
SyntheticTrace with_tensorflow(const KerasJob& job) {
  SyntheticTrace trace;
  for (int step = 0; step < kSteps; ++step) {
    trace.add("python", "IteratorGetNextOp::DoCompute", start_of(step), job.wait_us);
    trace.iterator("python", "Iterator::Root", 1, 0, start_of(step) + 1, job.wait_us - 2);
    trace.iterator("python", "Iterator::Root::FlatMap", 2, 1, start_of(step) + 2, job.wait_us - 4);
    trace.iterator("python", "Iterator::Root::FlatMap[0]::Generator", 3, 2, start_of(step) + 3, job.wait_us - 6);
  }
  add_workers(job, trace);
  return trace;
}

/// Recorded by JAX's profiler: all that is seen are frames.
SyntheticTrace with_jax(const KerasJob& job, bool has_workers = true) {
  SyntheticTrace trace;
  for (int step = 0; step < kSteps; ++step) {
    trace.add("main", job.name, start_of(step), job.wait_us);
    if (has_workers) trace.add("main", "$py_dataset_adapter.py:642 get", start_of(step) + 1, job.wait_us - 2);
    if (!has_workers) trace.add("main", "$train.py:16 __getitem__", start_of(step) + 1, job.wait_us - 2);
    trace.add("main", "PjitFunction(step)", start_of(step) + job.wait_us, 50);
  }
  if (has_workers) add_workers(job, trace);
  return trace;
}

struct Read {
  VerdictStatus status = VerdictStatus::inconclusive;
  std::string report;

  bool says(const std::string& words) const { return report.find(words) != std::string::npos; }
};

Read read(const SyntheticTrace& trace) {
  const TemporaryDirectory directory;
  const Analysis analysis = diagnose_files(
      std::vector<std::string>{directory.write("keras.xplane.pb", trace.to_xspace())}, {.rules = all_rules()});
  return {analysis.diagnosis.judgement.status, unwrapped(render_text(analysis.measurements, analysis.diagnosis, {}))};
}

TEST_CASE("a training that lives on the batches in Keras' queue is not judged") {
  for (const int workers : {0, 4}) {
    for (const bool is_jax : {false, true}) {
      const auto job_that_gets = [&](int made) {
        KerasJob job;
        job.made = made;
        job.workers = workers;
        return read(is_jax ? with_jax(job) : with_tensorflow(job));
      };
      CAPTURE(workers);
      CAPTURE(is_jax);
      const Read drained = job_that_gets(8);
      CHECK(drained.status == VerdictStatus::inconclusive);
      CHECK(drained.says("32 of the 40 recorded batches were ready before the recording began, and only 8 were made"));
      CHECK(drained.says("python -m tfdata_doctor --batches 11-90 train.py"));
      CHECK(job_that_gets(0).status == VerdictStatus::inconclusive);
      CHECK(job_that_gets(19).status == VerdictStatus::inconclusive);
      CHECK(job_that_gets(20).status == VerdictStatus::healthy);
    }
  }
}

TEST_CASE("what Keras' workers make ahead of the training is hidden by them") {
  for (const Read& healthy : {read(with_tensorflow({})), read(with_jax({}))}) {
    CHECK(healthy.status == VerdictStatus::healthy);
    CHECK(healthy.says("4 worker threads hide the 1.18 ms that __getitem__ at train.py:16 takes for a batch"));
  }
}

TEST_CASE("a training that waits for Keras' queue waits for the user's __getitem__") {
  KerasJob job;
  job.wait_us = 1400;
  const Read tensorflow = read(with_tensorflow(job));
  CHECK(tensorflow.status == VerdictStatus::input_bound);
  CHECK(tensorflow.says("__getitem__ at train.py:16 in 4 worker threads: over 99% of the waiting"));
  CHECK(tensorflow.says("Let several processes make the batches of your PyDataset"));
  CHECK_FALSE(tensorflow.says("prefetch"));
  const Read jax = read(with_jax(job));
  CHECK(jax.status == VerdictStatus::input_bound);
  CHECK(jax.says("__getitem__ at train.py:16 in 4 worker threads, 1.18 ms for a batch"));
  CHECK(jax.says("Let several processes make the batches of your PyDataset"));
  job.workers = 0;
  CHECK(read(with_tensorflow(job)).says("the queue of Keras' PyDataset: over 99% of the waiting"));
  CHECK(read(with_tensorflow(job)).says("Let more processes make the batches of your PyDataset"));
  CHECK(read(with_jax(job)).says("Let more processes make the batches of your PyDataset"));
}

TEST_CASE("a PyDataset without workers is made in next(), and no queue drains") {
  KerasJob job;
  job.name = "$py_dataset_adapter.py:257 _finite_generator";
  CHECK(read(with_jax(job, false)).status == VerdictStatus::healthy);
  job.wait_us = 1400;
  const Read bound = read(with_jax(job, false));
  CHECK(bound.status == VerdictStatus::input_bound);
  CHECK(bound.says("__getitem__ at train.py:16, 1.40 ms for a batch"));
}

TEST_CASE("a queue of Keras that nothing is seen to take from is told, with what records it") {
  SyntheticTrace trace;
  trace.add("main", "PjitFunction(step)", 1000, 50);
  add_workers({}, trace);
  const Read alone = read(trace);
  CHECK(alone.status == VerdictStatus::no_input_pipeline);
  CHECK(
      alone.says("how Keras makes batches of a PyDataset (__getitem__ at train.py:16 in 4 worker threads), but not "
                 "the training that takes them"));
  CHECK(alone.says("python -m tfdata_doctor train.py"));
}

TEST_CASE("workers say nothing of a pipeline that is no queue of theirs") {
  SyntheticTrace trace = with_tensorflow({});
  for (SyntheticTrace::Event& event : trace.events) {
    const std::size_t at = event.name.find("FlatMap");
    if (at != std::string::npos) event.name.replace(at, std::string_view("FlatMap").size(), "Prefetch");
  }
  CHECK_FALSE(read(trace).says("__getitem__"));
}

}  // namespace
}  // namespace doctor::keras_frames_test
