#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../measured_pipeline.h"

/// Pipelines that the tests of several rules use; one that a single rule needs is written in the test of that rule.
namespace doctor::rule_test {

inline MeasuredPipeline sequential_map() {
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", "Map", "TFRecord"}).waits_for("Map");
}

inline MeasuredPipeline fused_map(std::int64_t parallelism) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "MapAndBatch", "TFRecord"});
  pipeline["MapAndBatch"].dataset_name = "fused(MapDataset:3,BatchDatasetV2:4)";
  pipeline["MapAndBatch"].attributes = {{"parallelism", parallelism, {}}};
  return pipeline.waits_for("MapAndBatch");
}

inline MeasuredPipeline parallel_map(double utilization) {
  constexpr std::int64_t kCores = 4;
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", "ParallelMapV2", "TFRecord"})
      .waits_for("ParallelMapV2")
      .uses_cores(utilization * static_cast<double>(kCores), kCores);
}

inline MeasuredPipeline python_map(double python_share) {
  const auto python = static_cast<Picoseconds>(std::llround(python_share * 1e9));
  return sequential_map().runs({{"EagerPyFunc", python}, {"Mul", 1'000'000'000 - python}});
}

inline MeasuredPipeline python_generator() {
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", "FlatMap", "Generator"}).waits_for("Generator");
}

inline MeasuredPipeline interleaved(const std::string& interleave, double culprit_share = 0.9) {
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", interleave, "FlatMap", "TFRecord"})
      .waits_for("TFRecord", culprit_share);
}

/// Of each of so many datasets of an interleave, or of another maker, a slow map makes so many elements.
inline MeasuredPipeline map_in_datasets(std::uint64_t datasets, std::uint64_t elements_of_each,
                                        const std::string& maker = "Interleave") {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", maker, "Map", "FromTensor"});
  IteratorMeasurement names = pipeline["FromTensor"];
  names.short_name = "Range";
  names.long_name = pipeline[maker].long_name + "::Range";
  names.parent = pipeline.id_of(maker);
  names.calls = datasets;
  pipeline["Map"].calls = datasets * (elements_of_each + 1);
  const auto id = static_cast<IteratorId>(pipeline.host().iterators.size());
  pipeline[maker].children.push_back(id);
  pipeline.host().iterators.push_back(names);
  pipeline.pipeline().members.push_back(id);
  return pipeline.sets(maker, "cycle_length", 4).waits_for("Map");
}

inline MeasuredPipeline filter(std::uint64_t inputs_per_100) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", "Filter", "Range"});
  pipeline["Range"].calls = inputs_per_100;
  return pipeline.waits_for("Filter");
}

/// A slow map before a filter that keeps so many of its 100 elements.
inline MeasuredPipeline filtered_map(std::uint64_t kept) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", "Filter", "Map", "Range"});
  pipeline["Filter"].calls = kept;
  return pipeline.waits_for("Map");
}

inline MeasuredPipeline repeated(const std::vector<std::string>& chain, std::uint64_t epochs) {
  MeasuredPipeline pipeline(chain);
  pipeline["BatchV2"].epochs = epochs;
  return pipeline.waits_for("Map");
}

inline MeasuredPipeline epochs(std::uint64_t count) {
  return repeated({"Root", "Prefetch", "ForeverRepeat", "BatchV2", "Map", "TFRecord"}, count);
}

inline MeasuredPipeline unseen(double share) {
  MeasuredPipeline pipeline = sequential_map();
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  steady.unseen = std::llround(share * static_cast<double>(steady.waited));
  return pipeline;
}

inline MeasuredPipeline without_prefetch() {
  return MeasuredPipeline({"Root", "ForeverRepeat", "BatchV2", "Map", "TFRecord"}).waits_for("Map");
}

inline MeasuredPipeline with_level(MeasuredPipeline pipeline, double input_share) {
  pipeline.pipeline().cadence.share = pipeline.pipeline().trimmed_cadence.share = input_share;
  return pipeline;
}

inline constexpr double kMild = 0.1;

inline constexpr double kHealthy = 0.01;

inline MeasuredPipeline warming_up(MeasuredPipeline pipeline) {
  PipelineMeasurement& measured = pipeline.pipeline();
  measured.cadence.share = measured.trimmed_cadence.share = kHealthy;
  measured.warmup = measured.steady;
  measured.warmup.waited *= 2;
  return pipeline;
}

inline MeasuredPipeline bare_get_next() {
  MeasuredPipeline pipeline = sequential_map();
  pipeline.pipeline().root = kNoIterator;
  pipeline.pipeline().prefetch = pipeline.pipeline().outermost = kNoIterator;
  pipeline.pipeline().steady.culprit = kNoIterator;
  return pipeline;
}

inline MeasuredPipeline feeding_another() {
  MeasuredPipeline pipeline = without_prefetch();
  pipeline.pipeline().feeds_another = true;
  return pipeline;
}

inline MeasuredPipeline without_calls() {
  MeasuredPipeline pipeline = sequential_map();
  pipeline.host().pipelines.clear();
  return pipeline;
}

inline MeasuredPipeline without_tf_data() {
  MeasuredPipeline pipeline = without_calls();
  pipeline.host().iterators.clear();
  pipeline.host().iterator_event_count = 0;
  return pipeline;
}

inline MeasuredPipeline damaged(MeasuredPipeline pipeline) {
  pipeline.host().loss.add("events_malformed", 3);
  return pipeline;
}

/// Of unknown cores as many are busy as 4 times `utilization`.
inline MeasuredPipeline without_budget(double utilization = 0.5) {
  MeasuredPipeline pipeline = parallel_map(utilization);
  pipeline.pipeline().cpu_budget.reset();
  return pipeline;
}

/// A parallel map of four cores whose parallelism is `parallelism`, chosen by AUTOTUNE or not.
inline MeasuredPipeline tuned_map(const std::string& autotune, std::int64_t parallelism, double utilization = 0.1) {
  return parallel_map(utilization)
      .sets("ParallelMapV2", "autotune", autotune)
      .sets("ParallelMapV2", "parallelism", parallelism)
      .makes_elements_in(1);
}

inline MeasuredPipeline tuned_interleave(const std::string& autotune, std::int64_t parallelism,
                                         std::int64_t cycle_length) {
  return interleaved("ParallelInterleaveV4")
      .uses_cores(0.4, 4)
      .sets("ParallelInterleaveV4", "autotune", autotune)
      .sets("ParallelInterleaveV4", "parallelism", parallelism)
      .sets("ParallelInterleaveV4", "cycle_length", cycle_length)
      .makes_elements_in(1);
}

/// A prefetch whose buffer is full at times; the stages before it are sequential.
inline MeasuredPipeline bursts(const std::string& autotune, double producer_share = 0.5) {
  return sequential_map().sets("Prefetch", "autotune", autotune).makes_elements_in(producer_share);
}

inline constexpr std::int64_t kRamBudget = 1000;

/// A map that calls its function so often for a GetNext, for so long, with such a part of that outside of its ops.
inline MeasuredPipeline many_calls(double per_get_next, double call_us, double overhead_share) {
  MeasuredPipeline pipeline = sequential_map();
  const auto calls = static_cast<std::uint64_t>(std::llround(per_get_next * 10));
  pipeline["Map"].calls = calls;
  pipeline["Map"].self = std::llround(call_us * 1e6 * static_cast<double>(calls));
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  const Picoseconds time = steady.critical[steady.culprit];
  steady.in_function[steady.culprit] = time;
  return pipeline.runs({{"Cast", std::llround((1 - overhead_share) * static_cast<double>(time))}});
}

/// A profile and ten marked steps of 100 ms, one after another.
inline MeasuredPipeline with_steps(MeasuredPipeline pipeline) {
  pipeline.host().profile.emplace();
  StepTable& table = pipeline.host().steps;
  table.source = StepSource::markers;
  const Picoseconds length = kPicosecondsPerSecond / 10;
  for (Picoseconds step = 0; step < 10; ++step) {
    table.steps.emplace_back().span = {step * length, (step + 1) * length};
  }
  return pipeline;
}

/// What goes on in the first `steps` of these steps, and takes such a part of all of them.
inline std::vector<Interval> in_steps(double steps, double share) {
  const Picoseconds length = kPicosecondsPerSecond / 10;
  const Picoseconds each = std::llround(share * static_cast<double>(10 * length) / steps);
  std::vector<Interval> spans;
  for (Picoseconds step = 0; step < std::llround(steps); ++step) {
    spans.push_back({step * length, step * length + each});
  }
  return spans;
}

/// A job that does not wait, with a device that computes half of the time: a second, 10,000 kernels, 10 steps.
inline MeasuredPipeline with_device(MeasuredPipeline pipeline = with_level(sequential_map(), kHealthy)) {
  pipeline.host().devices = {"/device:GPU:0"};
  DeviceActivity& device = pipeline.host().device_profile.devices.emplace_back();
  device.name = "/device:GPU:0";
  device.window = {0, kPicosecondsPerSecond};
  device.busy = device.kernels = device.kernel_sum = device.full_precision = kPicosecondsPerSecond / 2;
  device.kernel_count = 10'000;
  device.median_kernel = 20 * kPicosecondsPerMicrosecond;
  device.of_named_ops = device.kernel_sum;
  return with_steps(std::move(pipeline));
}

inline DeviceActivity& device_of(MeasuredPipeline& pipeline) {
  return pipeline.host().device_profile.devices.front();
}

inline Picoseconds part_of_second(double share) {
  return std::llround(share * static_cast<double>(kPicosecondsPerSecond));
}

/// Half a second of kernels, with parts of it in 16 bits, in eligible ops, and of these on TensorCores.
inline MeasuredPipeline computing(double half_share, double eligible_share, double tensor_core_share = 0) {
  MeasuredPipeline pipeline = with_device();
  DeviceActivity& device = device_of(pipeline);
  device.half_precision = part_of_second(half_share / 2);
  device.full_precision = device.kernel_sum - device.half_precision;
  device.tensor_core_eligible = part_of_second(eligible_share / 2);
  device.on_tensor_cores = part_of_second(tensor_core_share * eligible_share / 2);
  return pipeline;
}

/// A consumer that waits four fifths of the time, and a device that idles for so much of the time meanwhile.
inline MeasuredPipeline exposed(double share) {
  MeasuredPipeline pipeline = with_device(sequential_map());
  PipelineMeasurement& measured = pipeline.pipeline();
  measured.exposed = {measured.cadence, measured.trimmed_cadence, part_of_second(share)};
  measured.exposed->cadence.share = measured.exposed->trimmed_cadence.share = share;
  return pipeline;
}

inline MeasuredPipeline without_kernels() {
  MeasuredPipeline pipeline = with_device();
  pipeline.host().device_profile = {};
  return pipeline;
}

inline MeasuredPipeline without_op_names(MeasuredPipeline pipeline) {
  device_of(pipeline).of_named_ops = 0;
  return pipeline;
}

/// The kernels of a job of JAX.
inline MeasuredPipeline of_jax(MeasuredPipeline pipeline) {
  KernelRow& row = pipeline.host().device_profile.kernels.emplace_back();
  row.op_name = "jit(train_step)/jvp()/dot_general";
  row.total = kPicosecondsPerSecond / 2;
  return pipeline;
}

inline MeasuredPipeline of_timeline(MeasuredPipeline pipeline) {
  pipeline.host().device_profile.is_aligned = false;
  return pipeline;
}

/// make_csv_dataset of TF.
inline MeasuredPipeline csv_dataset() {
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", "ShuffleAndRepeat", "LegacyParallelInterleaveV2", "CSV"});
}

}  // namespace doctor::rule_test
