// Two profilers' files of one process: read as one host, on one clock; and what a file of another framework shows
// alone.

#include "trace/recording_pairs.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "diagnose/catalog.h"
#include "pipeline.h"
#include "report/report.h"
#include "unwrapped.h"
#include "written_recording_pair.h"
#include "written_tpu_traces.h"

namespace doctor::recording_pairs_test {
namespace {

using namespace recording_pair;

Analysis analyzed(const Files& files) {
  return diagnose_files(files.paths, {.rules = all_rules()});
}

const PipelineMeasurement& pipeline_of(const Analysis& analysis) {
  REQUIRE(analysis.measurements.hosts.size() == 1);
  REQUIRE(!analysis.measurements.hosts[0].pipelines.empty());
  return analysis.measurements.hosts[0].pipelines[0];
}

TEST_CASE("two files of one process are found by the markers of their steps, whatever their clocks say") {
  const Files files{RecordedJob{}};
  const std::vector<RecordingPair> pairs = find_recording_pairs(files.paths, {});
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].input == 1);
  CHECK(pairs[0].other == 0);
  CHECK(pairs[0].shift_ns == doctest::Approx(kApartNs).epsilon(0.0001));
}

TEST_CASE("without markers the calls of one file are in the frames of the other") {
  RecordedJob job;
  job.has_markers = false;
  job.has_frames = true;
  job.wait_us = 700;
  const Files files{job};
  const std::vector<RecordingPair> pairs = find_recording_pairs(files.paths, {});
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].shift_ns == doctest::Approx(kApartNs).epsilon(0.0002));
}

TEST_CASE("two runs of one program are two pairs, however their files are called") {
  RecordedJob early;
  RecordedJob late;
  early.jitter_us = 40;
  late.jitter_us = 90;
  const TemporaryDirectory directory;
  const std::vector<std::string> files = {directory.write("a.xplane.pb", apart(rest_of(late).to_message())),
                                          directory.write("b.xplane.pb", input_of(early).to_xspace()),
                                          directory.write("c.xplane.pb", apart(rest_of(early).to_message())),
                                          directory.write("d.xplane.pb", input_of(late).to_xspace())};
  const std::vector<RecordingPair> pairs = find_recording_pairs(files, {});
  REQUIRE(pairs.size() == 2);
  for (const RecordingPair& pair : pairs) CHECK(pair.other == (pair.input == 1 ? 2 : 0));
}

TEST_CASE("of many hosts the names of files say which two are of one") {
  const TemporaryDirectory directory;
  std::vector<std::string> files;
  for (int host = 0; host < 6; ++host) {
    RecordedJob job;
    job.jitter_us = 10 * host;
    const std::string name = "worker" + std::to_string(host);
    files.push_back(directory.write(name + ".jax.xplane.pb", apart(rest_of(job).to_message())));
    files.push_back(directory.write(name + ".xplane.pb", input_of(job).to_xspace()));
  }
  const std::vector<RecordingPair> pairs = find_recording_pairs(files, {});
  CHECK(pairs.size() == 6);
  for (const RecordingPair& pair : pairs) CHECK(pair.other + 1 == pair.input);
}

TEST_CASE("files that have nothing in common are two hosts") {
  RecordedJob job;
  const std::string input = input_of(job).to_xspace();
  job.has_markers = false;
  const Files files(input, apart(rest_of(job).to_message()));
  CHECK(find_recording_pairs(files.paths, {}).empty());
  CHECK(analyzed(files).measurements.hosts.size() == 2);
}

TEST_CASE("two files of TensorFlow are two hosts, whatever markers they have") {
  const std::string input = input_of({}).to_xspace();
  const Files files(input, input);
  CHECK(find_recording_pairs(files.paths, {}).empty());
}

TEST_CASE("the two are one host, with the steps of both once") {
  const Analysis analysis = analyzed(Files{RecordedJob{}});
  const HostMeasurement& host = analysis.measurements.hosts.at(0);
  CHECK(pipeline_of(analysis).cadence.share == doctest::Approx(0.5).epsilon(0.02));
  CHECK(host.files.size() == 2);
  CHECK(host.hosts == std::vector<std::string>{"host-1"});
  CHECK(host.step_markers.size() == kSteps);
  CHECK(host.loss.complete());
  CHECK(analysis.diagnosis.judgement.status == VerdictStatus::input_bound);
}

TEST_CASE("a device in one file hides the waits in the other") {
  TpuTrace rest(rest_of({}).to_message());
  for (int step = 0; step < kSteps; ++step) rest.op(1000 + step * kStepUs, kStepUs, {});
  const Files files(input_of({}).to_xspace(), apart(rest.to_message()));
  const Analysis analysis = analyzed(files);
  REQUIRE(pipeline_of(analysis).exposed.has_value());
  CHECK(pipeline_of(analysis).input_share() < 0.01);
  CHECK(analysis.diagnosis.judgement.status == VerdictStatus::healthy);
}

TEST_CASE("the consumer waits in next(), not in GetNext alone") {
  RecordedJob job;
  job.has_frames = true;
  job.wait_us = 100;
  job.beside_us = 250;
  CHECK(pipeline_of(analyzed(Files{job})).cadence.share == doctest::Approx(0.3).epsilon(0.03));
  job.has_frames = false;
  CHECK(pipeline_of(analyzed(Files{job})).cadence.share == doctest::Approx(0.05).epsilon(0.03));
}

TEST_CASE("a step of a loop that runs ahead of XLA takes as long as XLA") {
  RecordedJob job;
  job.step_us = 1100;
  job.compute_us = 10000;  // the loop is done after 44 ms, its steps after 400
  const double share = pipeline_of(analyzed(Files{job})).cadence.share;
  CHECK(share == doctest::Approx(0.1).epsilon(0.05));
  job.compute_us = 900;
  CHECK(pipeline_of(analyzed(Files{job})).cadence.share > 0.85);
}

/// Thread time of the ops and programs in a usual step of the consumer, in us.
double core_time_of(const Files& files) {
  const Analysis analysis = analyzed(files);
  const std::vector<ConsumerCycles>& consumers = analysis.measurements.hosts.at(0).cycles.consumers;
  REQUIRE(!consumers.empty());
  return consumers[0].steps.at(consumers[0].steps.size() / 2).core_time;
}

TEST_CASE("programs of XLA on the CPU are work of the step: its threads count, and those that wait for them do not") {
  RecordedJob job;
  job.wait_us = 100;
  SyntheticTrace rest = rest_of(job);
  for (int step = 0; step < kSteps; ++step) {
    const double start = 1200 + step * kStepUs;
    rest.add("tf_XLAPjRtCpuClient/1", "ThunkExecutor::Execute", start, 300);
    rest.add("tf_XLAPjRtCpuClient/1", "ThunkExecutor::Execute (wait for completion)", start + 300, 500);
    for (const char* thread : {"tf_XLAEigen/2", "tf_XLAEigen/3"}) {
      rest.add(thread, "ThreadpoolListener::StartRegion", start + 300, 0);
      rest.add(thread, "ThunkExecutor::Execute", start + 310, 380);
      rest.add(thread, "ThreadpoolListener::StopRegion", start + 700, 0);
    }
  }
  CHECK(core_time_of(Files(input_of(job).to_xspace(), apart(rest.to_message()))) == doctest::Approx(300 + 2 * 400));
}

/// A trace without tf.data of a loop that waits in frames of this name.
Analysis with_frames_alone(const std::string& frame, double wait_us, const std::string& other_event) {
  SyntheticTrace trace;
  for (int step = 0; step < kSteps; ++step) {
    const double start = 1000 + step * kStepUs;
    trace.add("main", frame, start, wait_us);
    trace.add("main", other_event, start + wait_us, 10);
  }
  const TemporaryDirectory directory;
  return diagnose_files(std::vector<std::string>{directory.write("alone.xplane.pb", trace.to_xspace())},
                        {.rules = all_rules()});
}

std::string report_of(const Analysis& analysis) {
  return unwrapped(render_text(analysis.measurements, analysis.diagnosis, {}));
}

bool says(const Analysis& analysis, const std::string& words) {
  return report_of(analysis).find(words) != std::string::npos;
}

TEST_CASE("frames of next() alone show how much a loop of JAX waits, and what to record") {
  const Analysis bound = with_frames_alone("$dataset_ops.py:4775 __next__", 1460, "PjitFunction(step)");
  CHECK(bound.diagnosis.judgement.status == VerdictStatus::input_bound);
  CHECK(bound.diagnosis.judgement.confidence < 0.7);
  CHECK(says(bound, "73%"));
  CHECK(says(bound, "which is JAX's, shows how long the loop waits in next() of tf.data"));
  CHECK(says(bound, "python -m tfdata_doctor train.py"));
  const Analysis healthy = with_frames_alone("$dataset_ops.py:4775 __next__", 40, "PjitFunction(step)");
  CHECK(healthy.diagnosis.judgement.status == VerdictStatus::healthy);
}

TEST_CASE("loops over Grain and PyTorch are never told to record with TensorFlow") {
  struct Row {
    std::string frame, event, name, cure;
  };
  for (const Row& row :
       {Row{"$data_loader.py:410 __next__", "PjitFunction(step)", "Grain", "python -m tfdata_doctor --batches"},
        Row{"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "aten::mm", "worker processes of PyTorch",
            "Record without worker"},
        Row{"torch/utils/data/dataloader.py(630): __next__", "aten::mm", "PyTorch", "torch.profiler.schedule("}}) {
    CAPTURE(row.frame);
    const Analysis analysis = with_frames_alone(row.frame, 1200, row.event);
    CHECK(analysis.diagnosis.judgement.status == VerdictStatus::input_bound);
    CHECK(says(analysis, "60%"));
    CHECK(says(analysis, row.name));
    for (const char* const word : {"tf.", "TF 2", "ensor"}) CHECK_FALSE(says(analysis, word));
    CHECK(says(analysis, row.cure));
  }
}

TEST_CASE("a trace without any loader is called by the framework's name") {
  const Analysis torch = with_frames_alone("something else", 1200, "aten::mm");
  CHECK(torch.diagnosis.judgement.status == VerdictStatus::no_input_pipeline);
  CHECK(says(torch, "of this PyTorch trace show no loop over a DataLoader"));
  for (const char* const word : {"tf.", "TF 2", "ensor"}) CHECK_FALSE(says(torch, word));
  const Analysis jax = with_frames_alone("something else", 1200, "PjitFunction(step)");
  CHECK(says(jax, "JAX"));
  CHECK(says(jax, "python -m tfdata_doctor"));
}

}  // namespace
}  // namespace doctor::recording_pairs_test
