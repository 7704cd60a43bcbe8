// Every rule on measurements written by hand: when it fires, when it stays silent, and when it says that it could not
// be evaluated.

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "diagnose/budgets.h"
#include "diagnose/catalog.h"
#include "diagnose/dataset_words.h"
#include "diagnose/diagnose.h"
#include "measured_pipeline.h"

namespace doctor::rules_test {
namespace {

using Chain = std::vector<std::string>;

std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const CatalogEntry& entry : rule_catalog()) rules.push_back(entry.rule);
  return rules;
}

struct Outcome {
  std::vector<Finding> findings;
  std::string not_evaluated;
};

Outcome ask(std::string_view rule, const Measurements& measurements, const ThresholdSettings& settings = {}) {
  const std::vector<Rule> rules = all_rules();
  Diagnosis diagnosis = diagnose(measurements, rules, settings);
  Outcome outcome;
  for (Finding& finding : diagnosis.findings) {
    if (finding.rule == rule) outcome.findings.push_back(std::move(finding));
  }
  for (const NotEvaluated& entry : diagnosis.not_evaluated) {
    if (entry.rule == rule) outcome.not_evaluated = entry.reason;
  }
  return outcome;
}

/// "warning", "note", "silent" or "not evaluated".
std::string answer(std::string_view rule, const Measurements& measurements, const ThresholdSettings& settings = {}) {
  const Outcome outcome = ask(rule, measurements, settings);
  if (!outcome.not_evaluated.empty()) return outcome.findings.empty() ? "not evaluated" : "both";
  if (outcome.findings.empty()) return "silent";
  return outcome.findings.front().severity == Severity::warning ? "warning" : "note";
}

MeasuredPipeline sequential_map() {
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", "Map", "TFRecord"}).waits_for("Map");
}

MeasuredPipeline fused_map(std::int64_t parallelism) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "MapAndBatch", "TFRecord"});
  pipeline["MapAndBatch"].dataset_name = "fused(MapDataset:3,BatchDatasetV2:4)";
  pipeline["MapAndBatch"].attributes = {{"parallelism", parallelism, {}}};
  return pipeline.waits_for("MapAndBatch");
}

MeasuredPipeline parallel_map(double utilization) {
  constexpr std::int64_t kCores = 4;
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", "ParallelMapV2", "TFRecord"})
      .waits_for("ParallelMapV2")
      .uses_cores(utilization * static_cast<double>(kCores), kCores);
}

/// Calls of which some stall; what they cost follows from `share`.
MeasuredPipeline stalling(double count, double share = 0.4, double input_share = 0.8) {
  MeasuredPipeline pipeline = sequential_map();
  pipeline.waits_for("Map", 0.9, input_share);
  Stalls& stalls = pipeline.pipeline().stalls.emplace();
  stalls.count = static_cast<std::size_t>(count);
  stalls.first = 3;
  stalls.last = 8;
  stalls.distance = 5;
  stalls.typical = 20 * kPicosecondsPerMillisecond;
  stalls.usual = kPicosecondsPerMillisecond;
  stalls.share = share;
  stalls.culprit = pipeline.id_of("Map");
  return pipeline;
}

MeasuredPipeline changing(double share_before, double share_after) {
  MeasuredPipeline pipeline = sequential_map();
  PaceChange& change = pipeline.pipeline().pace_change.emplace();
  change.from = 5;
  change.before = (share_before < share_after ? 1 : 20) * kPicosecondsPerMillisecond;
  change.after = (share_before < share_after ? 20 : 1) * kPicosecondsPerMillisecond;
  change.share_before = share_before;
  change.share_after = share_after;
  change.culprit = pipeline.id_of("Map");
  return pipeline;
}

/// Ten calls that all wait alike: what is not sure of them is what the trace does not explain.
MeasuredPipeline sure_to(double confidence) {
  constexpr double kOfTenCalls = 10 / 11.5;
  MeasuredPipeline pipeline = sequential_map();
  // A little more, so that no rounding decides at the threshold itself.
  pipeline.waits_for("Map", (confidence + 1e-6) / kOfTenCalls);
  pipeline.pipeline().steady.critical[0] = 0;
  return pipeline;
}

MeasuredPipeline python_map(double python_share) {
  const auto python = static_cast<Picoseconds>(std::llround(python_share * 1e9));
  return sequential_map().runs({{"EagerPyFunc", python}, {"Mul", 1'000'000'000 - python}});
}

MeasuredPipeline python_generator() {
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", "FlatMap", "Generator"}).waits_for("Generator");
}

MeasuredPipeline interleaved(const std::string& interleave, double culprit_share = 0.9) {
  return MeasuredPipeline({"Root", "Prefetch", "BatchV2", interleave, "FlatMap", "TFRecord"})
      .waits_for("TFRecord", culprit_share);
}

MeasuredPipeline filter(std::uint64_t inputs_per_100) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", "Filter", "Range"});
  pipeline["Range"].calls = inputs_per_100;
  return pipeline.waits_for("Filter");
}

/// A slow map before a filter that keeps so many of its 100 elements.
MeasuredPipeline filtered_map(std::uint64_t kept) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", "Filter", "Map", "Range"});
  pipeline["Filter"].calls = kept;
  return pipeline.waits_for("Map");
}

/// A job that does not wait, whose input and whatever else keep parts of four cores busy, and Python for a part of the
/// time.
MeasuredPipeline taking_cores(double input, double everything, double python = 0) {
  MeasuredPipeline pipeline = sequential_map();
  pipeline.waits_for("Map", 0.9, 0.01).uses_cores(0, 4);
  const auto part = [](double share) { return std::llround(share * static_cast<double>(kPicosecondsPerSecond)); };
  pipeline.pipeline().input_load = InputLoad{{0, kPicosecondsPerSecond}, part(4 * input), part(python), 4 * everything};
  return pipeline;
}

MeasuredPipeline repeated(const Chain& chain, std::uint64_t epochs) {
  MeasuredPipeline pipeline(chain);
  pipeline["BatchV2"].epochs = epochs;
  return pipeline.waits_for("Map");
}

MeasuredPipeline epochs(std::uint64_t count) {
  return repeated({"Root", "Prefetch", "ForeverRepeat", "BatchV2", "Map", "TFRecord"}, count);
}

MeasuredPipeline unseen(double share) {
  MeasuredPipeline pipeline = sequential_map();
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  steady.unseen = std::llround(share * static_cast<double>(steady.waited));
  return pipeline;
}

MeasuredPipeline without_prefetch() {
  return MeasuredPipeline({"Root", "ForeverRepeat", "BatchV2", "Map", "TFRecord"}).waits_for("Map");
}

MeasuredPipeline injected_prefetch() {
  MeasuredPipeline pipeline = sequential_map();
  pipeline["Prefetch"].dataset_name = "inject/prefetch_4_PrefetchDataset:5";
  return pipeline;
}

MeasuredPipeline with_level(MeasuredPipeline pipeline, double input_share) {
  pipeline.pipeline().cadence.share = pipeline.pipeline().trimmed_cadence.share = input_share;
  return pipeline;
}

constexpr double kMild = 0.1;
constexpr double kHealthy = 0.01;

MeasuredPipeline filling_shuffle(double microseconds = 5000) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", "ShuffleV3", "TFRecord"});
  pipeline.waits_for("TFRecord", 0.9, kHealthy);
  pipeline.pipeline().shuffle_fill =
      ShuffleFill{pipeline.id_of("ShuffleV3"), 10'000, std::llround(microseconds * 1e6), 10'000};
  return pipeline;
}

MeasuredPipeline filling_cache() {
  MeasuredPipeline pipeline({"Root", "Prefetch", "BatchV2", "MemoryCacheImpl", "Map", "TFRecord"});
  pipeline.waits_for("Map");
  pipeline.pipeline().cache_fills = {{pipeline.id_of("MemoryCacheImpl"), 100, 100}};
  return pipeline;
}

MeasuredPipeline warming_up(MeasuredPipeline pipeline) {
  PipelineMeasurement& measured = pipeline.pipeline();
  measured.cadence.share = measured.trimmed_cadence.share = kHealthy;
  measured.warmup = measured.steady;
  measured.warmup.waited *= 2;
  return pipeline;
}

MeasuredPipeline bare_get_next() {
  MeasuredPipeline pipeline = sequential_map();
  pipeline.pipeline().root = kNoIterator;
  pipeline.pipeline().prefetch = pipeline.pipeline().outermost = kNoIterator;
  pipeline.pipeline().steady.culprit = kNoIterator;
  return pipeline;
}

MeasuredPipeline feeding_another() {
  MeasuredPipeline pipeline = without_prefetch();
  pipeline.pipeline().feeds_another = true;
  return pipeline;
}

MeasuredPipeline without_calls() {
  MeasuredPipeline pipeline = sequential_map();
  pipeline.host().pipelines.clear();
  return pipeline;
}

MeasuredPipeline without_tf_data() {
  MeasuredPipeline pipeline = without_calls();
  pipeline.host().iterators.clear();
  pipeline.host().iterator_event_count = 0;
  return pipeline;
}

MeasuredPipeline without_events() {
  MeasuredPipeline pipeline = without_tf_data();
  pipeline.host().event_count = 0;
  return pipeline;
}

MeasuredPipeline damaged(MeasuredPipeline pipeline) {
  pipeline.host().loss.add("events_malformed", 3);
  return pipeline;
}

MeasuredPipeline device_hop() {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Generator"});
  pipeline.waits_for("Generator");
  pipeline.pipeline().is_device = true;
  pipeline["Generator"].is_device_hop = true;
  return pipeline;
}

MeasuredPipeline without_budget() {
  MeasuredPipeline pipeline = parallel_map(0.1);
  pipeline.pipeline().cpu_budget.reset();
  return pipeline;
}

/// A parallel map of four cores whose parallelism is `parallelism`, chosen by AUTOTUNE or not.
MeasuredPipeline tuned_map(const std::string& autotune, std::int64_t parallelism, double utilization = 0.1) {
  return parallel_map(utilization)
      .sets("ParallelMapV2", "autotune", autotune)
      .sets("ParallelMapV2", "parallelism", parallelism)
      .makes_elements_in(1);
}

/// Such a map where AUTOTUNE chose, and such a part of its time is in ops of its function.
MeasuredPipeline limited_map(std::int64_t parallelism, double utilization = 0.1, double share_in_ops = 1) {
  MeasuredPipeline pipeline = tuned_map("true", parallelism, utilization);
  const PhaseMeasurement& steady = pipeline.pipeline().steady;
  const auto time = static_cast<double>(steady.critical[index_of(steady.culprit)]);
  return pipeline.runs({{"EagerPyFunc", std::llround(share_in_ops * time)}});
}

MeasuredPipeline tuned_interleave(const std::string& autotune, std::int64_t parallelism, std::int64_t cycle_length) {
  return interleaved("ParallelInterleaveV4")
      .uses_cores(0.4, 4)
      .sets("ParallelInterleaveV4", "autotune", autotune)
      .sets("ParallelInterleaveV4", "parallelism", parallelism)
      .sets("ParallelInterleaveV4", "cycle_length", cycle_length)
      .makes_elements_in(1);
}

/// A prefetch whose buffer is full at times; the stages before it are sequential.
MeasuredPipeline bursts(const std::string& autotune, double producer_share = 0.5) {
  return sequential_map().sets("Prefetch", "autotune", autotune).makes_elements_in(producer_share);
}

constexpr std::int64_t kRamBudget = 1000;

MeasuredPipeline bursts_of_large_elements(std::int64_t megabytes, double producer_share = 0.5) {
  return bursts("true", producer_share)
      .sets("Root", "ram_budget_megabytes", kRamBudget)
      .sets("Prefetch", "buffered_bytes_MB", megabytes - 100)
      .sets("Map", "buffered_bytes_MB", 100);
}

MeasuredPipeline splitting_map(double pool_share, double utilization = 1.0) {
  MeasuredPipeline pipeline = parallel_map(utilization);
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  steady.pool_threads = pool_share * steady.busy_threads;
  return pipeline;
}

MeasuredPipeline splitting_map_below(const std::string& option) {
  MeasuredPipeline pipeline = MeasuredPipeline({"Model", option, "Prefetch", "ParallelMapV2", "Range"});
  pipeline.waits_for("ParallelMapV2").uses_cores(4, 4).pipeline().steady.pool_threads = 2;
  return pipeline;
}

/// A shuffle of decoded elements, `megabytes` of them in its buffer, in a job that does not wait.
MeasuredPipeline shuffled(std::int64_t megabytes, const Chain& chain) {
  return MeasuredPipeline(chain)
      .waits_for("BatchV2", 0.9, kHealthy)
      .sets("Root", "ram_budget_megabytes", kRamBudget)
      .sets("ShuffleV3", "buffered_bytes_MB", megabytes);
}

const Chain kDecodeThenShuffle = {"Root", "Prefetch", "BatchV2", "ShuffleV3", "ParallelMapV2", "TFRecord"};

MeasuredPipeline shuffle_of_unknown_size(std::int64_t elements) {
  return MeasuredPipeline(kDecodeThenShuffle).sets("ShuffleV3", "buffer_size", elements);
}

/// A map that calls its function so often for a GetNext, for so long, with such a part of that outside of its ops.
MeasuredPipeline many_calls(double per_get_next, double call_us, double overhead_share) {
  MeasuredPipeline pipeline = sequential_map();
  const auto calls = static_cast<std::uint64_t>(std::llround(per_get_next * 10));
  pipeline["Map"].calls = calls;
  pipeline["Map"].self = std::llround(call_us * 1e6 * static_cast<double>(calls));
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  const Picoseconds time = steady.critical[index_of(steady.culprit)];
  steady.in_function[index_of(steady.culprit)] = time;
  return pipeline.runs({{"Cast", std::llround((1 - overhead_share) * static_cast<double>(time))}});
}

MeasuredPipeline many_unseen_calls() {
  MeasuredPipeline pipeline = many_calls(250, 20, 1);
  pipeline.pipeline().steady.in_function = {};
  return pipeline;
}

/// Such calls of a map that TF fused with the batch behind it, four at once.
MeasuredPipeline many_fused_calls(std::uint64_t per_get_next, double call_us) {
  MeasuredPipeline pipeline = fused_map(4);
  const std::uint64_t calls = per_get_next * 10;
  pipeline["MapAndBatch"].calls = 10;
  pipeline["MapAndBatch"].total = std::llround(call_us * 1e6 * static_cast<double>(calls) / 4);
  pipeline["TFRecord"].calls = calls;
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  steady.in_function[index_of(steady.culprit)] = 1;
  return pipeline;
}

/// A pipeline that is made so often, and what part of the time that takes.
MeasuredPipeline remade(double times, double share) {
  MeasuredPipeline pipeline = sequential_map();
  const Picoseconds span = 1'000'000 * kPicosecondsPerMicrosecond;
  const Picoseconds cost = std::llround(share * static_cast<double>(span));
  pipeline.pipeline().remade =
      RemadeIterator{static_cast<std::size_t>(std::llround(times)), cost - cost / 4, cost / 4, span};
  return pipeline;
}

/// A device pipeline over a host pipeline of two iterators, and where its waits go.
MeasuredPipeline device_pipeline(double host_share, double device_share) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Generator", "Map", "Range"});
  pipeline.waits_for(host_share > device_share ? "Map" : "Generator", 0);
  pipeline.pipeline().is_device = true;
  pipeline["Generator"].is_device_hop = true;
  for (const char* host_side : {"Map", "Range"}) pipeline[host_side].root = pipeline.id_of("Map");
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  const auto waited = static_cast<double>(steady.waited);
  steady.critical = {};
  steady.critical[index_of(pipeline.id_of("Map"))] = std::llround(host_share * waited);
  // A little of it is passing elements between threads.
  steady.critical[index_of(pipeline.id_of("Generator"))] = std::llround(device_share * waited * 0.95);
  steady.handoff = std::llround(device_share * waited * 0.05);
  return pipeline;
}

/// A job that does not wait, with a device that computes half of the time: a second, 10,000 kernels.
MeasuredPipeline with_device(MeasuredPipeline pipeline = with_level(sequential_map(), kHealthy)) {
  pipeline.host().devices = {"/device:GPU:0"};
  DeviceActivity& device = pipeline.host().device_profile.devices.emplace_back();
  device.name = "/device:GPU:0";
  device.window = {0, kPicosecondsPerSecond};
  device.busy = device.kernels = device.kernel_sum = device.full_precision = kPicosecondsPerSecond / 2;
  device.kernel_count = 10'000;
  device.median_kernel = 20 * kPicosecondsPerMicrosecond;
  device.of_named_ops = device.kernel_sum;
  device.launch_gaps = 0;
  return pipeline;
}

DeviceActivity& device_of(MeasuredPipeline& pipeline) {
  return pipeline.host().device_profile.devices.front();
}

Picoseconds part_of_second(double share) {
  return std::llround(share * static_cast<double>(kPicosecondsPerSecond));
}

MeasuredPipeline copying(double uncovered_share) {
  MeasuredPipeline pipeline = with_device();
  device_of(pipeline).to_device = {100, 1'000'000, kPicosecondsPerSecond / 2};
  device_of(pipeline).uncovered_copies_to_device = part_of_second(uncovered_share);
  return pipeline;
}

MeasuredPipeline launching(double share, double median_us = 20) {
  MeasuredPipeline pipeline = with_device();
  device_of(pipeline).launch_gaps = part_of_second(share);
  device_of(pipeline).median_kernel = std::llround(median_us * 1e6);
  return pipeline;
}

/// Half a second of kernels, with parts of it in 16 bits, in eligible ops, and of these on TensorCores.
MeasuredPipeline computing(double half_share, double eligible_share, double tensor_core_share = 0) {
  MeasuredPipeline pipeline = with_device();
  DeviceActivity& device = device_of(pipeline);
  device.half_precision = part_of_second(half_share / 2);
  device.full_precision = device.kernel_sum - device.half_precision;
  device.tensor_core_eligible = part_of_second(eligible_share / 2);
  device.on_tensor_cores = part_of_second(tensor_core_share * eligible_share / 2);
  return pipeline;
}

/// A consumer that waits four fifths of the time, and a device that idles for so much of the time meanwhile.
MeasuredPipeline exposed(double share) {
  MeasuredPipeline pipeline = with_device(sequential_map());
  PipelineMeasurement& measured = pipeline.pipeline();
  measured.exposed = {measured.cadence, measured.trimmed_cadence, part_of_second(share)};
  measured.exposed->cadence.share = measured.exposed->trimmed_cadence.share = share;
  return pipeline;
}

MeasuredPipeline without_kernels() {
  MeasuredPipeline pipeline = with_device();
  pipeline.host().device_profile = {};
  return pipeline;
}

MeasuredPipeline without_op_names(MeasuredPipeline pipeline) {
  device_of(pipeline).of_named_ops = 0;
  return pipeline;
}

MeasuredPipeline without_host_ops() {
  MeasuredPipeline pipeline = with_device();
  device_of(pipeline).launch_gaps.reset();
  return pipeline;
}

MeasuredPipeline of_timeline(MeasuredPipeline pipeline) {
  pipeline.host().device_profile.is_aligned = false;
  return pipeline;
}

TEST_CASE("which rules fire on what") {
  struct Case {
    std::string rule;
    std::string situation;
    MeasuredPipeline pipeline;
    std::string answer;
  };
  const std::vector<Case> cases = {
      {"input-bound", "waits most of the time", sequential_map(), "warning"},
      {"input-bound", "waits a little", with_level(sequential_map(), kMild), "note"},
      {"input-bound", "does not wait", with_level(sequential_map(), kHealthy), "silent"},
      {"input-bound", "waits, nothing seen inside", bare_get_next(), "warning"},
      {"input-bound", "only feeds another pipeline", feeding_another(), "silent"},
      {"input-bound", "no call seen", without_calls(), "not evaluated"},

      {"input-bound", "waits, a device works meanwhile", exposed(0.01), "silent"},
      {"input-bound", "waits, a device idles a little meanwhile", exposed(0.1), "note"},
      {"input-bound", "waits, a device idles meanwhile", exposed(0.5), "warning"},

      {"device-idle-for-input", "idles", exposed(0.5), "warning"},
      {"device-idle-for-input", "idles a little", exposed(0.1), "note"},
      {"device-idle-for-input", "works meanwhile", exposed(0.01), "silent"},
      {"device-idle-for-input", "no device", sequential_map(), "not evaluated"},
      {"device-idle-for-input", "no device, no call seen", without_calls(), "not evaluated"},
      {"device-idle-for-input", "no kernel", without_kernels(), "not evaluated"},

      {"host-to-device-copy", "copies", copying(0.5), "warning"},
      {"host-to-device-copy", "copies a little", copying(0.1), "note"},
      {"host-to-device-copy", "kernels run meanwhile", copying(0.01), "silent"},
      {"host-to-device-copy", "no copies", with_device(), "silent"},
      {"host-to-device-copy", "no device", sequential_map(), "not evaluated"},
      {"host-to-device-copy", "no kernel", without_kernels(), "not evaluated"},
      {"host-to-device-copy", "a TF1 timeline", of_timeline(copying(0.5)), "not evaluated"},

      {"kernel-launch-bound", "gaps", launching(0.2), "note"},
      {"kernel-launch-bound", "few gaps", launching(0.02), "silent"},
      {"kernel-launch-bound", "long kernels", launching(0.2, 500), "silent"},
      {"kernel-launch-bound", "no device", sequential_map(), "not evaluated"},
      {"kernel-launch-bound", "no kernel", without_kernels(), "not evaluated"},
      {"kernel-launch-bound", "the host's ops not seen", without_host_ops(), "not evaluated"},

      {"full-precision", "32 bits", computing(0, 0.9), "note"},
      {"full-precision", "16 bits", computing(0.9, 0.9), "silent"},
      {"full-precision", "32 bits, few eligible ops", computing(0, 0.1), "silent"},
      {"full-precision", "a TF1 timeline", of_timeline(computing(0, 0.9)), "not evaluated"},
      {"full-precision", "no device", sequential_map(), "not evaluated"},
      {"full-precision", "no kernel", without_kernels(), "not evaluated"},
      {"full-precision", "no op names", without_op_names(computing(0, 0.9)), "not evaluated"},

      {"tensor-cores-unused", "unused", computing(0, 0.9), "note"},
      {"tensor-cores-unused", "used", computing(0, 0.9, 0.5), "silent"},
      {"tensor-cores-unused", "few eligible ops", computing(0, 0.1), "silent"},
      {"tensor-cores-unused", "a TF1 timeline", of_timeline(computing(0, 0.9)), "not evaluated"},
      {"tensor-cores-unused", "no device", sequential_map(), "not evaluated"},
      {"tensor-cores-unused", "no kernel", without_kernels(), "not evaluated"},
      {"tensor-cores-unused", "no op names", without_op_names(computing(0, 0.9)), "not evaluated"},

      {"intermittent-stalls", "stalls", stalling(3), "warning"},
      {"intermittent-stalls", "stalls, does not wait", stalling(3, 0.06, kHealthy), "note"},
      {"intermittent-stalls", "none", sequential_map(), "silent"},
      {"intermittent-stalls", "no call seen", without_calls(), "not evaluated"},

      {"changing-pace", "slower", changing(0.01, 0.5), "warning"},
      {"changing-pace", "slower, and waits little", changing(0.01, 0.1), "note"},
      {"changing-pace", "faster", changing(0.5, 0.01), "note"},
      {"changing-pace", "even", sequential_map(), "silent"},
      {"changing-pace", "no call seen", without_calls(), "not evaluated"},

      {"remade-iterator", "for every step", remade(30, 0.5), "warning"},
      {"remade-iterator", "but it costs next to nothing", remade(30, 0.01), "silent"},
      {"remade-iterator", "made once", sequential_map(), "silent"},
      {"remade-iterator", "no call seen", without_calls(), "not evaluated"},

      {"missing-prefetch", "none", without_prefetch(), "warning"},
      {"missing-prefetch", "none, TF 1 root", MeasuredPipeline({"Model", "BatchV2", "Map"}).waits_for("Map"),
       "warning"},
      {"missing-prefetch", "none, waits a little", with_level(without_prefetch(), kMild), "warning"},
      {"missing-prefetch", "none, does not wait", with_level(without_prefetch(), kHealthy), "silent"},
      {"missing-prefetch", "present", sequential_map(), "silent"},
      {"missing-prefetch", "inserted by TF", injected_prefetch(), "note"},
      {"missing-prefetch", "inserted by TF, does not wait", with_level(injected_prefetch(), kHealthy), "silent"},
      {"missing-prefetch", "nothing seen inside", bare_get_next(), "not evaluated"},
      {"missing-prefetch", "only feeds another pipeline", feeding_another(), "silent"},

      {"slow-source", "reads files", interleaved("ParallelInterleaveV4"), "warning"},
      {"slow-source", "waits a little", with_level(interleaved("ParallelInterleaveV4"), kMild), "silent"},
      {"slow-source", "a transformation is slow", sequential_map(), "silent"},
      {"slow-source", "nothing seen inside", bare_get_next(), "not evaluated"},

      {"slow-transformation", "a map", sequential_map(), "warning"},
      {"slow-transformation", "waits a little", with_level(sequential_map(), kMild), "silent"},
      {"slow-transformation", "a source is slow", python_generator(), "silent"},
      {"slow-transformation", "no tf.data", without_tf_data(), "not evaluated"},

      {"sequential-map", "a map", sequential_map(), "warning"},
      {"sequential-map", "a map, waits a little", with_level(sequential_map(), kMild), "warning"},
      {"sequential-map", "a map, does not wait", with_level(sequential_map(), kHealthy), "silent"},
      {"sequential-map", "fused, parallelism 1", fused_map(1), "warning"},
      {"sequential-map", "fused, parallelism 2", fused_map(2), "silent"},
      {"sequential-map", "a parallel map", parallel_map(0.1), "silent"},
      {"sequential-map", "nothing seen inside", bare_get_next(), "not evaluated"},

      {"sequential-interleave", "above the culprit", interleaved("Interleave"), "warning"},
      {"sequential-interleave", "waits a little", with_level(interleaved("Interleave"), kMild), "silent"},
      {"sequential-interleave", "parallel", interleaved("ParallelInterleaveV4"), "silent"},
      {"sequential-interleave", "below the culprit",
       MeasuredPipeline({"Root", "Prefetch", "Map", "Interleave", "TFRecord"}).waits_for("Map"), "silent"},
      {"sequential-interleave", "no call seen", without_calls(), "not evaluated"},

      {"sequential-only-transformation", "a filter", filter(100), "warning"},
      {"sequential-only-transformation", "a batch",
       MeasuredPipeline({"Root", "Prefetch", "BatchV2", "Range"}).waits_for("BatchV2"), "warning"},
      {"sequential-only-transformation", "a parallel batch",
       MeasuredPipeline({"Root", "Prefetch", "ParallelBatch", "Range"}).waits_for("ParallelBatch"), "silent"},
      {"sequential-only-transformation", "a map", sequential_map(), "silent"},
      {"sequential-only-transformation", "nothing seen inside", bare_get_next(), "not evaluated"},

      {"low-parallelism", "idle cores", parallel_map(0.1), "warning"},
      {"low-parallelism", "busy cores", parallel_map(1.0), "silent"},
      {"low-parallelism", "a sequential map", sequential_map().uses_cores(0.1, 4), "silent"},
      {"low-parallelism", "fused, parallelism 1", fused_map(1).uses_cores(0.1, 4), "silent"},
      {"low-parallelism", "fused, parallelism 2", fused_map(2).uses_cores(0.1, 4), "warning"},
      {"low-parallelism", "cores unknown", without_budget(), "not evaluated"},
      {"low-parallelism", "a parallel batch copies unseen",
       MeasuredPipeline({"Root", "Prefetch", "ParallelBatch", "ParallelMapV2", "TFRecord"})
           .waits_for("ParallelMapV2")
           .uses_cores(0.4, 4),
       "not evaluated"},

      {"cpu-saturated", "busy cores", parallel_map(1.0), "warning"},
      {"cpu-saturated", "idle cores", parallel_map(0.1), "silent"},
      {"cpu-saturated", "a sequential map", sequential_map().uses_cores(4, 4), "silent"},
      {"cpu-saturated", "cores unknown", without_budget(), "not evaluated"},

      {"python-function", "mostly Python", python_map(0.9), "warning"},
      {"python-function", "mostly Python, only at the start", warming_up(python_map(0.9)), "warning"},
      {"python-function", "mostly Python, does not wait", with_level(python_map(0.9), kHealthy), "silent"},
      {"python-function", "no ops seen", sequential_map(), "silent"},
      {"python-function", "a generator", python_generator().runs({{"EagerPyFunc", 1'000'000}}), "silent"},

      {"python-generator", "a generator", python_generator(), "warning"},
      {"python-generator", "only at the start", warming_up(python_generator()), "warning"},
      {"python-generator", "does not wait", with_level(python_generator(), kHealthy), "silent"},
      {"python-generator", "a device pipeline's hop", device_hop(), "silent"},
      {"python-generator", "nothing seen inside", bare_get_next(), "not evaluated"},

      {"shuffle-fill", "fills", filling_shuffle(), "note"},
      {"shuffle-fill", "full", sequential_map(), "silent"},
      {"shuffle-fill", "fills in no time", filling_shuffle(200), "silent"},
      {"shuffle-fill", "fills, for a time that the window cuts off", filling_shuffle(0), "note"},
      {"shuffle-fill", "no call seen", without_calls(), "not evaluated"},

      {"cache-fill", "fills", filling_cache(), "note"},
      {"cache-fill", "no cache", sequential_map(), "silent"},
      {"cache-fill", "no call seen", without_calls(), "not evaluated"},

      {"uncached-repeat", "two epochs", epochs(2), "warning"},
      {"uncached-repeat", "one epoch", epochs(1), "note"},
      {"uncached-repeat", "one epoch, random", epochs(1).runs({{"RandomUniform", 1'000'000}}), "silent"},
      {"uncached-repeat", "an endless repeat before the slow map",
       repeated({"Root", "Prefetch", "FiniteRepeat", "BatchV2", "Map", "ForeverRepeat", "TFRecord"}, 2), "silent"},
      {"uncached-repeat", "a batch is slow", epochs(2).waits_for("BatchV2"), "silent"},
      {"uncached-repeat", "a cache between",
       repeated({"Root", "Prefetch", "ForeverRepeat", "BatchV2", "MemoryCacheImpl", "Map", "TFRecord"}, 2), "silent"},
      {"uncached-repeat", "a cache before the slow map",
       repeated({"Root", "Prefetch", "ForeverRepeat", "BatchV2", "Map", "MemoryCache", "TFRecord"}, 2), "warning"},
      {"uncached-repeat", "no repeat", repeated({"Root", "Prefetch", "BatchV2", "Map", "TFRecord"}, 2), "silent"},
      {"uncached-repeat", "waits a little", with_level(epochs(2), kMild), "silent"},
      {"uncached-repeat", "nothing seen inside", bare_get_next(), "not evaluated"},

      {"filter-drops-most", "keeps a tenth", filter(1000), "warning"},
      {"filter-drops-most", "keeps all", filter(100), "silent"},
      {"filter-drops-most", "keeps a tenth of what the culprit makes", filtered_map(10), "warning"},
      {"filter-drops-most", "keeps all of what the culprit makes", filtered_map(100), "silent"},
      {"filter-drops-most", "the culprit comes after it", filtered_map(10).waits_for("BatchV2"), "silent"},
      {"filter-drops-most", "does not wait", with_level(filter(1000), kHealthy), "silent"},
      {"filter-drops-most", "nothing seen inside", bare_get_next(), "not evaluated"},

      {"no-input-pipeline", "events without tf.data", without_tf_data(), "warning"},
      {"no-input-pipeline", "iterators", without_calls(), "silent"},
      {"no-input-pipeline", "a pipeline", sequential_map(), "silent"},
      {"no-input-pipeline", "no events", without_events(), "not evaluated"},
      {"no-input-pipeline", "damaged", damaged(without_tf_data()), "not evaluated"},

      {"truncated-window", "no call of a consumer", without_calls(), "warning"},
      {"truncated-window", "half of the wait unseen", unseen(0.5), "warning"},
      {"truncated-window", "half of it unseen, waits a little", with_level(unseen(0.5), kMild), "silent"},
      {"truncated-window", "all of it seen", sequential_map(), "silent"},
      {"truncated-window", "no tf.data", without_tf_data(), "not evaluated"},

      {"autotune-off", "parallelism 2 of 4, idle cores", tuned_map("false", 2), "warning"},
      {"autotune-off", "the same, waits a little", with_level(tuned_map("false", 2), kMild), "note"},
      {"autotune-off", "the same, does not wait", with_level(tuned_map("false", 2), kHealthy), "silent"},
      {"autotune-off", "parallelism 2 of 4, busy cores", tuned_map("false", 2, 1), "silent"},
      {"autotune-off", "parallelism 4 of 4", tuned_map("false", 4), "silent"},
      {"autotune-off", "parallelism 4, a pool of 8", tuned_map("false", 4).sets("Root", "threadpool_size", 8),
       "warning"},
      {"autotune-off", "AUTOTUNE chose 2", tuned_map("true", 2), "silent"},
      {"autotune-off", "parallelism not in the trace",
       parallel_map(0.1).sets("ParallelMapV2", "autotune", "false").makes_elements_in(1), "not evaluated"},
      {"autotune-off", "cores unknown",
       without_budget().sets("ParallelMapV2", "autotune", "false").makes_elements_in(1), "not evaluated"},
      {"autotune-off", "a sequential map", sequential_map().uses_cores(0.1, 4).makes_elements_in(1), "silent"},
      {"autotune-off", "an interleave of 2 in a cycle of 8", tuned_interleave("false", 2, 8), "warning"},
      {"autotune-off", "an interleave of 8 in a cycle of 8", tuned_interleave("false", 8, 8), "silent"},
      {"autotune-off", "a fixed buffer runs empty, and full", bursts("false"), "warning"},
      {"autotune-off", "a buffer of AUTOTUNE does", bursts("true"), "silent"},
      {"autotune-off", "nobody knows whose buffer does", sequential_map().makes_elements_in(0.5), "silent"},
      {"autotune-off", "a fixed buffer that is never full", bursts("false", 1), "silent"},
      {"autotune-off", "a fixed buffer bridges what it can, parallelism 2",
       tuned_map("false", 2).makes_elements_in(0.5), "silent"},
      {"autotune-off", "nothing seen inside", bare_get_next(), "not evaluated"},

      {"autotune-limited", "the pool is used up by calls that wait", limited_map(4), "warning"},
      {"autotune-limited", "by calls that compute", limited_map(4, 0.5), "silent"},
      {"autotune-limited", "a pool smaller than the cores is, by calls that compute",
       limited_map(2, 0.5).sets("Root", "threadpool_size", 2), "warning"},
      {"autotune-limited", "by what is no op of the function", limited_map(4, 0.1, 0.1), "silent"},
      {"autotune-limited", "AUTOTUNE stays at 1 for calls that wait", limited_map(1), "warning"},
      {"autotune-limited", "AUTOTUNE stays at 1 for calls that compute", limited_map(1, 0.25), "silent"},
      {"autotune-limited", "busy cores", limited_map(4, 1), "silent"},
      {"autotune-limited", "waits a little", with_level(limited_map(4), kMild), "silent"},
      {"autotune-limited", "a fixed value", tuned_map("false", 4), "silent"},
      {"autotune-limited", "an interleave at its cycle length", tuned_interleave("true", 2, 2), "warning"},
      {"autotune-limited", "an interleave below it", tuned_interleave("true", 2, 8), "silent"},
      {"autotune-limited", "fused, AUTOTUNE chose 1",
       fused_map(1)
           .sets("MapAndBatch", "autotune", "true")
           .uses_cores(0, 4)
           .makes_elements_in(1)
           .runs({{"EagerPyFunc", kPicosecondsPerSecond}}),
       "warning"},
      {"autotune-limited", "parallelism not in the trace",
       parallel_map(0.1).sets("ParallelMapV2", "autotune", "true").makes_elements_in(1), "not evaluated"},
      {"autotune-limited", "cores unknown",
       without_budget().sets("ParallelMapV2", "autotune", "true").makes_elements_in(1), "not evaluated"},
      {"autotune-limited", "buffers fill the RAM budget", bursts_of_large_elements(kRamBudget), "warning"},
      {"autotune-limited", "buffers do not", bursts_of_large_elements(500), "silent"},
      {"autotune-limited", "RAM budget unknown", bursts("true"), "not evaluated"},
      {"autotune-limited", "nothing seen inside", bare_get_next(), "not evaluated"},
      {"sequential-map", "fused, AUTOTUNE chose 1", fused_map(1).sets("MapAndBatch", "autotune", "true"), "silent"},

      {"intra-op-parallelism", "ops split their work on full cores", splitting_map(0.4), "warning"},
      {"intra-op-parallelism", "on idle cores", splitting_map(0.4, 0.5), "silent"},
      {"intra-op-parallelism", "they may, but hardly do", splitting_map(0.05), "silent"},
      {"intra-op-parallelism", "the root says 1", splitting_map(0.4).sets("Root", "intra_op_parallelism", 1), "silent"},
      {"intra-op-parallelism", "the root says 2", splitting_map(0.4).sets("Root", "intra_op_parallelism", 2),
       "warning"},
      {"intra-op-parallelism", "an iterator of the option", splitting_map_below("MaxIntraOpParallelism"), "silent"},
      {"intra-op-parallelism", "an iterator of another option", splitting_map_below("PrivateThreadPool"), "warning"},
      {"intra-op-parallelism", "no compute pool in the trace", splitting_map(0), "not evaluated"},
      {"intra-op-parallelism", "a sequential map", sequential_map().uses_cores(4, 4), "silent"},
      {"intra-op-parallelism", "cores unknown", without_budget(), "not evaluated"},

      {"memory-heavy-order", "decoded elements fill the budget", shuffled(900, kDecodeThenShuffle), "warning"},
      {"memory-heavy-order", "they do not", shuffled(10, kDecodeThenShuffle), "silent"},
      {"memory-heavy-order", "shuffled before they are decoded",
       shuffled(900, {"Root", "Prefetch", "BatchV2", "Map", "ShuffleV3", "TFRecord"}), "silent"},
      {"memory-heavy-order", "shuffled behind a flat_map",
       shuffled(900, {"Root", "Prefetch", "BatchV2", "ShuffleV3", "FlatMap", "TFRecord"}), "silent"},
      {"memory-heavy-order", "a cache",
       MeasuredPipeline({"Root", "MemoryCacheImpl", "Map", "Range"})
           .sets("Root", "ram_budget_megabytes", kRamBudget)
           .sets("MemoryCacheImpl", "buffered_bytes_MB", 900),
       "warning"},
      {"memory-heavy-order", "a fixed prefetch",
       sequential_map()
           .sets("Root", "ram_budget_megabytes", kRamBudget)
           .sets("Prefetch", "autotune", "false")
           .sets("Prefetch", "buffered_bytes_MB", 900),
       "warning"},
      {"memory-heavy-order", "a prefetch of AUTOTUNE",
       sequential_map()
           .sets("Root", "ram_budget_megabytes", kRamBudget)
           .sets("Prefetch", "autotune", "true")
           .sets("Prefetch", "buffered_bytes_MB", 900),
       "silent"},
      {"memory-heavy-order", "budget unknown",
       MeasuredPipeline(kDecodeThenShuffle).sets("ShuffleV3", "buffered_bytes_MB", 900), "not evaluated"},
      {"memory-heavy-order", "many elements of unknown size", shuffle_of_unknown_size(100'000), "note"},
      {"memory-heavy-order", "a few of unknown size", shuffle_of_unknown_size(100), "silent"},
      {"memory-heavy-order", "no call seen", without_calls(), "not evaluated"},

      {"unvectorized-map", "many tiny calls", many_calls(250, 20, 1), "warning"},
      {"unvectorized-map", "waits a little", with_level(many_calls(250, 20, 1), kMild), "silent"},
      {"unvectorized-map", "few calls", many_calls(10, 20, 1), "silent"},
      {"unvectorized-map", "long calls, all of it overhead", many_calls(250, 500, 1), "warning"},
      {"unvectorized-map", "a window of few calls, large batches",
       many_calls(10, 20, 1).sets("BatchV2", "batch_size", 256), "warning"},
      {"unvectorized-map", "short calls that work", many_calls(250, 20, 0.1), "silent"},
      {"unvectorized-map", "fused, many tiny calls", many_fused_calls(250, 20), "warning"},
      {"unvectorized-map", "fused, few calls", many_fused_calls(10, 20), "silent"},
      {"unvectorized-map", "fused, long calls", many_fused_calls(250, 500), "warning"},
      {"unvectorized-map", "calls not in the trace", many_unseen_calls(), "not evaluated"},
      {"unvectorized-map", "a filter", filter(1000), "silent"},
      {"unvectorized-map", "nothing seen inside", bare_get_next(), "not evaluated"},

      {"device-pipeline-starved", "the host pipeline is slow", device_pipeline(0.9, 0.05), "note"},
      {"device-pipeline-starved", "handing over is slow", device_pipeline(0.05, 0.9), "warning"},
      {"device-pipeline-starved", "the wait is not seen", device_pipeline(0.3, 0.2), "silent"},
      {"device-pipeline-starved", "does not wait", with_level(device_pipeline(0.9, 0.05), kHealthy), "silent"},
      {"device-pipeline-starved", "a host pipeline", sequential_map(), "silent"},
      {"device-pipeline-starved", "nothing seen inside", bare_get_next(), "not evaluated"},

      {"input-takes-cores", "half of all cores, which are full", taking_cores(0.5, 1), "note"},
      {"input-takes-cores", "half of all cores, a quarter is idle", taking_cores(0.5, 0.75), "silent"},
      {"input-takes-cores", "hardly any of full cores", taking_cores(0.01, 1), "silent"},
      {"input-takes-cores", "mostly Python", taking_cores(0, 0.2, 0.9), "note"},
      {"input-takes-cores", "the job is input-bound", with_level(taking_cores(0.5, 1), 0.8), "silent"},
      {"input-takes-cores", "a device computes", with_device(taking_cores(0.5, 1)), "silent"},
      {"input-takes-cores", "not the first pipeline of its host", with_level(sequential_map(), kHealthy), "silent"},
      {"input-takes-cores", "no call seen", without_calls(), "not evaluated"},

      {"damaged-trace", "damaged", damaged(sequential_map()), "warning"},
      {"damaged-trace", "damaged, no tf.data", damaged(without_tf_data()), "warning"},
      {"damaged-trace", "complete", sequential_map(), "silent"},

      {"straggling-host", "one host; for several see host_comparison_test.cpp", sequential_map(), "silent"},
  };
  std::set<std::string> rules;
  for (const Case& example : cases) {
    CAPTURE(example.rule);
    CAPTURE(example.situation);
    CHECK(answer(example.rule, example.pipeline.measurements()) == example.answer);
    rules.insert(example.rule);
  }
  for (const Rule& rule : all_rules()) CHECK_MESSAGE(rules.contains(std::string(rule.id)), rule.id, " has no case");
  CHECK(answer("damaged-trace", {}) == "not evaluated");
}

TEST_CASE("every threshold decides: on either side of it, and where the user moves it") {
  struct Flip {
    std::string rule;
    std::string threshold;
    double step;
    std::function<MeasuredPipeline(double)> with_quantity;
    bool (*fires)(double quantity, double threshold);
  };
  const auto at_least = [](double quantity, double threshold) { return quantity >= threshold; };
  const auto at_most = [](double quantity, double threshold) { return quantity <= threshold; };
  const auto above = [](double quantity, double threshold) { return quantity > threshold; };
  const std::vector<Flip> flips = {
      {"input-bound", "min_share", 0.1, [](double share) { return with_level(sequential_map(), share); }, at_least},
      {"input-bound", "min_mild_share", 0.02, [](double share) { return with_level(sequential_map(), share); },
       at_least},
      {"input-bound", "min_latency", 10,
       [](double microseconds) {
         MeasuredPipeline pipeline = sequential_map();
         pipeline.pipeline().trimmed_mean = std::llround(microseconds * 1e6);
         return pipeline;
       },
       above},
      {"input-bound", "min_confidence", 0.1, sure_to, at_least},
      {"intermittent-stalls", "min_stalls", 1, [](double count) { return stalling(count); }, at_least},
      {"intermittent-stalls", "min_share", 0.02, [](double share) { return stalling(3, share); }, at_least},
      {"changing-pace", "min_difference", 0.02, [](double share) { return changing(0.5, 0.5 + share); }, at_least},
      {"changing-pace", "min_share_after", 0.05, [](double share) { return changing(0.01, share); }, at_least},
      {"remade-iterator", "min_times", 1, [](double times) { return remade(times, 0.5); }, at_least},
      {"remade-iterator", "min_share", 0.02, [](double share) { return remade(30, share); }, at_least},
      {"sequential-map", "min_culprit_share", 0.1,
       [](double share) { return sequential_map().waits_for("Map", share); }, at_least},
      {"sequential-interleave", "min_culprit_share", 0.1, [](double share) { return interleaved("Interleave", share); },
       at_least},
      {"low-parallelism", "max_utilization", 0.1, parallel_map, at_most},
      {"cpu-saturated", "min_utilization", 0.1, parallel_map, at_least},
      {"python-function", "min_python_share", 0.1, python_map, at_least},
      {"uncached-repeat", "min_epochs", 1, [](double count) { return epochs(static_cast<std::uint64_t>(count)); },
       at_least},
      {"filter-drops-most", "min_inputs_per_output", 1,
       [](double ratio) { return filter(static_cast<std::uint64_t>(std::llround(ratio * 100))); }, at_least},
      {"truncated-window", "max_unseen_share", 0.1, unseen, above},
      {"autotune-off", "max_producer_share", 0.1, [](double share) { return bursts("false", share); }, at_most},
      {"autotune-off", "max_utilization", 0.1, [](double share) { return tuned_map("false", 2, share); }, at_most},
      {"autotune-limited", "max_producer_share", 0.1,
       [](double share) { return bursts_of_large_elements(kRamBudget, share); }, at_most},
      {"autotune-limited", "max_utilization", 0.1, [](double share) { return limited_map(16, share); }, at_most},
      {"autotune-limited", "max_computing_share", 0.1, [](double share) { return limited_map(2, share * 2 * 0.9 / 4); },
       at_most},
      {"autotune-limited", "min_share_in_ops", 0.1, [](double share) { return limited_map(4, 0.1, share); }, at_least},
      {"autotune-limited", "min_budget_used", 0.05,
       [](double share) { return bursts_of_large_elements(std::llround(share * kRamBudget)); }, at_least},
      {"intra-op-parallelism", "min_utilization", 0.1, [](double share) { return splitting_map(0.5, share); },
       at_least},
      {"intra-op-parallelism", "min_pool_share", 0.1, [](double share) { return splitting_map(share); }, at_least},
      {"memory-heavy-order", "min_budget_share", 0.1,
       [](double share) { return shuffled(std::llround(share * kRamBudget), kDecodeThenShuffle); }, at_least},
      {"memory-heavy-order", "min_elements_of_unknown_size", 1000,
       [](double count) { return shuffle_of_unknown_size(std::llround(count)); }, at_least},
      {"unvectorized-map", "min_calls", 10, [](double calls) { return many_calls(calls, 20, 1); }, at_least},
      {"unvectorized-map", "min_overhead_share", 0.1, [](double share) { return many_calls(250, 20, share); },
       at_least},
      {"input-takes-cores", "min_utilization", 0.1, [](double share) { return taking_cores(0.5, share); }, at_least},
      {"input-takes-cores", "min_core_share", 0.05, [](double share) { return taking_cores(share, 1); }, at_least},
      {"input-takes-cores", "min_python_share", 0.1, [](double share) { return taking_cores(0, 0, share); }, above},
      {"shuffle-fill", "min_duration", 100, [](double time) { return filling_shuffle(time); }, at_least},
      {"device-idle-for-input", "min_share", 0.05, exposed, at_least},
      {"device-idle-for-input", "min_mild_share", 0.02, exposed, at_least},
      {"host-to-device-copy", "min_share", 0.05, copying, at_least},
      {"host-to-device-copy", "min_mild_share", 0.02, copying, at_least},
      {"kernel-launch-bound", "min_share", 0.01, [](double share) { return launching(share); }, at_least},
      {"kernel-launch-bound", "max_median_kernel", 10, [](double median) { return launching(0.2, median); }, at_most},
      {"full-precision", "max_half_share", 0.05, [](double share) { return computing(share, 0.9); }, at_most},
      {"full-precision", "min_eligible_share", 0.1, [](double share) { return computing(0, share); }, at_least},
      {"tensor-cores-unused", "min_eligible_share", 0.1, [](double share) { return computing(0, share); }, at_least},
      {"tensor-cores-unused", "max_tensor_core_share", 0.05, [](double share) { return computing(0, 0.9, share); },
       at_most},
      {"device-pipeline-starved", "min_host_share", 0.1, [](double share) { return device_pipeline(share, 0); },
       at_least},
      {"device-pipeline-starved", "min_device_share", 0.1, [](double share) { return device_pipeline(0, share); },
       at_least},
  };
  using RuleAndThreshold = std::pair<std::string, std::string>;
  const std::set<RuleAndThreshold> elsewhere = {
      {"sequential-map", "min_utilization_for_caution"},  // "a caution comes at its threshold", below
      {"kernel-launch-bound", "min_high_share"},          // "much launching is said to be much", below
      {"straggling-host", "min_ratio"},        // "each threshold of the straggler decides", host_comparison_test.cpp
      {"straggling-host", "min_share_above"},  // likewise
  };
  std::set<RuleAndThreshold> seen = elsewhere;
  for (const Flip& flip : flips) {
    CAPTURE(flip.rule);
    CAPTURE(flip.threshold);
    CHECK_MESSAGE(seen.insert({flip.rule, flip.threshold}).second, "tested twice");
    const std::vector<Rule> rules = all_rules();
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule& r) { return r.id == flip.rule; });
    REQUIRE(rule != rules.end());
    const auto threshold = std::find_if(rule->thresholds.begin(), rule->thresholds.end(),
                                        [&](const Threshold& t) { return t.name == flip.threshold; });
    REQUIRE(threshold != rule->thresholds.end());
    for (const double quantity : {threshold->value - flip.step, threshold->value, threshold->value + flip.step}) {
      for (const double moved : {-1.5, 0.0, 1.5}) {
        const double set = threshold->value + moved * flip.step;
        CAPTURE(quantity);
        CAPTURE(set);
        const bool has_mild_share =
            flip.rule == "input-bound" || flip.rule == "device-idle-for-input" || flip.rule == "host-to-device-copy";
        const bool is_note_rule = flip.rule == "kernel-launch-bound" || flip.rule == "full-precision" ||
                                  flip.rule == "tensor-cores-unused" || flip.rule == "input-takes-cores" ||
                                  flip.rule == "shuffle-fill";
        const std::string otherwise = has_mild_share && flip.threshold == "min_share" ? "note"
                                      : flip.threshold == "min_share_after"           ? "note"
                                      : flip.threshold == "min_epochs"                ? "note"
                                      : flip.threshold == "min_confidence"            ? "not evaluated"
                                                                                      : "silent";
        const bool is_note = is_note_rule || flip.threshold == "min_mild_share" ||
                             flip.threshold == "min_elements_of_unknown_size" || flip.threshold == "min_host_share";
        const std::string expected = is_note ? "note" : "warning";
        const std::string said =
            answer(flip.rule, flip.with_quantity(quantity).measurements(), {{flip.rule, {{flip.threshold, set}}}});
        CHECK((said == expected) == flip.fires(quantity, set));
        if (!flip.fires(quantity, set)) CHECK(said == otherwise);
      }
    }
  }
  for (const Rule& rule : all_rules()) {
    for (const Threshold& threshold : rule.thresholds) {
      CHECK_MESSAGE(seen.erase({std::string(rule.id), std::string(threshold.name)}) == 1, rule.id, ".", threshold.name,
                    " is not tested");
    }
  }
  for (const RuleAndThreshold& stale : seen) FAIL_CHECK(stale.first, ".", stale.second, " is no threshold");
}

bool mentions(const Finding& finding, const std::string& text) {
  for (const Advice& advice : finding.advice) {
    if (advice.text.find(text) != std::string::npos) return true;
    if (advice.code && advice.code->find(text) != std::string::npos) return true;
  }
  return finding.message.find(text) != std::string::npos;
}

bool says(std::string_view rule, const MeasuredPipeline& pipeline, const std::string& text,
          const ThresholdSettings& settings = {}) {
  const Outcome outcome = ask(rule, pipeline.measurements(), settings);
  REQUIRE(outcome.findings.size() == 1);
  return mentions(outcome.findings.front(), text);
}

TEST_CASE("findings speak in the user's terms") {
  CHECK(says("sequential-map", fused_map(1), "your .map().batch(), fused by TF"));
  CHECK(says("sequential-map", sequential_map(), "Dataset.map, which runs one call at a time"));
  CHECK(says("slow-source", interleaved("ParallelInterleaveV4"), "Files are read in parallel already"));
  CHECK(says("slow-source", interleaved("Interleave"), "from_tensor_slices(filenames).interleave"));
  CHECK(says("slow-source", MeasuredPipeline({"Root", "Prefetch", "TextLine"}).waits_for("TextLine"),
             "tf.data.TextLineDataset,"));
  CHECK(says("sequential-only-transformation", filter(100), "return dataset.filter(predicate)"));
  CHECK(says("missing-prefetch", injected_prefetch(), "TF inserted it"));
}

TEST_CASE("advice carries its cautions") {
  CHECK(says("low-parallelism", parallel_map(0.1).runs({{"EagerPyFunc", 1'000'000}}), "Careful"));
  CHECK_FALSE(says("low-parallelism", parallel_map(0.1), "Careful"));

  CHECK(says("uncached-repeat", epochs(2).runs({{"RandomUniform", 1'000'000}}), "its function uses RandomUniform"));
  CHECK_FALSE(says("uncached-repeat", epochs(2), "Careful"));
  CHECK(says("uncached-repeat",
             repeated({"Root", "Prefetch", "ForeverRepeat", "BatchV2", "Map", "ShuffleV3", "TFRecord"}, 2),
             "Dataset.shuffle stands before it"));

  CHECK(says("cpu-saturated", parallel_map(1), "max_intra_op_parallelism"));
  CHECK_FALSE(
      says("cpu-saturated", parallel_map(1).sets("Root", "intra_op_parallelism", 1), "max_intra_op_parallelism"));

  CHECK(says("low-parallelism", tuned_map("false", 2), "tf.data.AUTOTUNE"));
  CHECK(says("low-parallelism", tuned_map("false", 4), "private_threadpool_size"));
  CHECK(says("low-parallelism", tuned_map("true", 2), "private_threadpool_size"));
  CHECK(says("low-parallelism", parallel_map(0.1), "tf.data.AUTOTUNE"));

  CHECK(says("autotune-limited", limited_map(4), "the thread pool has 4 threads"));
  CHECK(says("autotune-limited", limited_map(4), "private_threadpool_size"));
  CHECK(says("autotune-limited", limited_map(2).sets("Root", "threadpool_size", 2), "less than the cores"));
  CHECK(says("autotune-limited", limited_map(2), "it counts CPU time"));
  CHECK_FALSE(says("autotune-limited", limited_map(2), "private_threadpool_size"));
  CHECK(says("autotune-limited", tuned_interleave("true", 2, 2), "cycle length of 2"));
  CHECK(says("autotune-limited", limited_map(4), "Careful"));
  CHECK_FALSE(says("autotune-limited", tuned_interleave("true", 2, 2), "Careful"));

  CHECK(says("sequential-map", sequential_map().uses_cores(3.2, 4), "3.2 of 4 cores"));

  MeasuredPipeline cached({"Root", "Prefetch", "MemoryCacheImpl", "Map", "TFRecord"});
  CHECK_FALSE(says("slow-transformation", cached.waits_for("Map"), ".cache()"));
  CHECK_FALSE(says("slow-transformation", sequential_map().runs({{"RandomUniform", 1'000'000'000}}), ".cache()"));
  CHECK(says("slow-transformation", sequential_map(), ".cache()"));
}

TEST_CASE("advice fits what the user wrote") {
  // TF runs the map in parallel: the number of calls is not hers.
  MeasuredPipeline parallelised = tuned_map("true", 4);
  parallelised["ParallelMapV2"].dataset_name = "MapDataset:3";
  CHECK(says("low-parallelism", parallelised, "without num_parallel_calls in your code"));
  CHECK(says("low-parallelism", parallelised, "your .map() (TF runs it in parallel by itself)"));
  CHECK_FALSE(says("low-parallelism", tuned_map("true", 4), "in your code"));
  CHECK(says("autotune-limited", limited_map(4), "num_parallel_calls=8"));
  CHECK_FALSE(says("autotune-limited", limited_map(4), "your code"));

  // A pool smaller than the cores is raised before anything else, and no number is a constant.
  const MeasuredPipeline small_pool = tuned_map("false", 8).sets("Root", "threadpool_size", 1);
  CHECK(says("low-parallelism", small_pool, "The pool that runs the function has 1 thread"));
  CHECK(says("low-parallelism", small_pool, "private_threadpool_size = 8"));
  CHECK_FALSE(says("low-parallelism", small_pool, "num_parallel_calls="));
  CHECK(says("low-parallelism", tuned_map("false", 4), "Allow more calls at once, and give"));
  CHECK(says("low-parallelism", tuned_map("true", 4), "than AUTOTUNE does"));
  CHECK(says("low-parallelism", tuned_map("true", 4), "private_threadpool_size = 8"));

  // Under Python's lock the parallel form is no line to paste.
  const Outcome python = ask("sequential-map", python_map(0.9).measurements());
  REQUIRE(python.findings.size() == 1);
  CHECK(mentions(python.findings[0], "Only if the Python function sleeps or waits"));
  CHECK_FALSE(python.findings[0].advice.front().code.has_value());
  CHECK_FALSE(says("sequential-map", python_map(0.4), "Only if"));

  CHECK(says("sequential-only-transformation", filter(100), "source().shard(NUM_SHARDS"));
  CHECK(says("sequential-only-transformation",
             MeasuredPipeline({"Root", "Prefetch", "Filter", "TFRecord"}).waits_for("Filter"), "list_files("));
  const Chain csv = {"Root", "Prefetch", "BatchV2", "ShuffleAndRepeat", "LegacyParallelInterleaveV2", "CSV"};
  CHECK(says("slow-source", MeasuredPipeline(csv).waits_for("CSV"), "num_parallel_reads"));
  CHECK(says("sequential-only-transformation", MeasuredPipeline(csv).waits_for("BatchV2"), "num_parallel_reads"));
  CHECK_FALSE(says("sequential-only-transformation", MeasuredPipeline(csv).waits_for("BatchV2"), ".batch("));
  CHECK(says("truncated-window", unseen(0.5), "range(30)"));
  CHECK(says("truncated-window", without_calls(), "range(30)"));
  CHECK(says("truncated-window", unseen(0.5), "train_step(next(iterator))"));
  CHECK(says("filter-drops-most", filtered_map(10), "10 of 100 elements"));
}

TEST_CASE("a cache is advised where it can be completed and read again") {
  const auto cached = [](const Chain& chain) { return MeasuredPipeline(chain).waits_for("Map"); };
  const Chain plain = {"Root", "Prefetch", "BatchV2", "Map", "TFRecord"};
  const Chain endless_before = {"Root", "Prefetch", "BatchV2", "Map", "ForeverRepeat", "TFRecord"};
  const Chain endless_after = {"Root", "Prefetch", "ForeverRepeat", "BatchV2", "Map", "TFRecord"};
  CHECK(says("slow-transformation", cached(plain), "dataset = dataset.cache()  # after the slow transformation"));
  CHECK(says("slow-transformation", cached(endless_before), "A cache after it would never be complete"));
  CHECK(says("slow-transformation", cached(endless_before), ".cache().repeat()"));
  CHECK_FALSE(says("slow-transformation", cached(endless_after), "cache"));  // uncached-repeat says it
  CHECK(says("uncached-repeat", cached(endless_after),
             "dataset.cache()  # after the slow transformation, before repeat"));
  CHECK(says("cpu-saturated", parallel_map(1), "dataset.cache()"));

  const Chain random_before = {"Root", "Prefetch", "BatchV2", "Map", "ParallelMapV2", "TFRecord"};
  MeasuredPipeline augmented = cached(random_before);
  augmented["ParallelMapV2"].random_ops = {"AdjustHue"};
  CHECK(says("slow-transformation", augmented, "Keep it out of a cache"));
  CHECK(says("slow-transformation", augmented, "uses AdjustHue"));
  CHECK_FALSE(says("slow-transformation", augmented, "dataset.cache()"));

  // What only puts elements together is not worth keeping.
  CHECK_FALSE(says("slow-transformation", MeasuredPipeline(plain).waits_for("BatchV2"), "cache"));

  MeasuredPipeline large =
      cached(plain).sets("BatchV2", "buffered_bytes_MB", 12).sets("BatchV2", "buffered_elements", 8);
  CHECK(says("slow-transformation", large, "about 1.5 MB an element"));
}

TEST_CASE("easy changes come before others of their severity") {
  const auto rules_of = [](const MeasuredPipeline& pipeline) {
    std::vector<std::string> order;
    const std::vector<Rule> rules = all_rules();
    for (const Finding& finding : diagnose(pipeline.measurements(), rules, {}).findings) order.push_back(finding.rule);
    return order;
  };
  // As much compute as input: a prefetch hides all of the wait. With more input than compute it cannot.
  CHECK(rules_of(with_level(without_prefetch(), 0.5)).front() == "missing-prefetch");
  CHECK(rules_of(with_level(without_prefetch(), 0.8)).front() != "missing-prefetch");
  CHECK(rules_of(many_calls(250, 20, 1)).front() == "unvectorized-map");
  CHECK(rules_of(filtered_map(10)).front() == "filter-drops-most");
}

TEST_CASE("a rule about devices is no budget's doubt where there is none") {
  const std::vector<Rule> rules = all_rules();
  const Measurements measurements = sequential_map().measurements();
  const Diagnosis diagnosis = diagnose(measurements, rules, {});
  Budget no_small_kernels;
  no_small_kernels.kind = BudgetKind::forbidden_rule;
  no_small_kernels.rule = "kernel-launch-bound";
  const std::vector<BudgetResult> results = check_budgets(measurements, diagnosis, std::vector{no_small_kernels});
  CHECK(outcome_of(results) == BudgetOutcome::met);
  for (const NotEvaluated& entry : diagnosis.not_evaluated) {
    CAPTURE(entry.rule);
    CHECK(entry.is_inapplicable == (entry.reason == "the trace shows no device"));
  }
}

TEST_CASE("much launching is said to be much") {
  CHECK(says("kernel-launch-bound", launching(0.15), "which is much"));
  CHECK_FALSE(says("kernel-launch-bound", launching(0.14), "which is much"));
  CHECK(says("kernel-launch-bound", launching(0.14), "which is much",
             {{"kernel-launch-bound", {{"min_high_share", 0.1}}}}));
  CHECK(says("kernel-launch-bound", launching(0.2), "gpu_private"));
}

TEST_CASE("the device with most kernel time stands for its host") {
  MeasuredPipeline pipeline = computing(0, 0.9);
  DeviceActivity idle = device_of(pipeline);
  idle.name = "/device:GPU:1";
  idle.kernel_sum /= 2;
  idle.tensor_core_eligible = 0;
  pipeline.host().device_profile.devices.push_back(idle);
  const Outcome outcome = ask("tensor-cores-unused", pipeline.measurements());
  REQUIRE(outcome.findings.size() == 1);
  CHECK(outcome.findings[0].subject == "/device:GPU:0");
}

TEST_CASE("a caution comes at its threshold") {
  const auto warns = [](double utilization, const ThresholdSettings& settings) {
    return says("sequential-map", sequential_map().uses_cores(4 * utilization, 4), "cores", settings);
  };
  CHECK(warns(0.8, {}));
  CHECK_FALSE(warns(0.79, {}));
  for (const double limit : {0.25, 0.5, 1.0}) {
    CAPTURE(limit);
    const ThresholdSettings set = {{"sequential-map", {{"min_utilization_for_caution", limit}}}};
    CHECK(warns(limit, set));
    CHECK_FALSE(warns(limit - 0.01, set));
  }
}

TEST_CASE("what replicas share is reported once, for each host") {
  MeasuredPipeline replicas = sequential_map();
  replicas.host().pipelines.push_back(replicas.pipeline());
  Measurements measurements = replicas.measurements();
  CHECK(ask("sequential-map", measurements).findings.size() == 1);
  measurements.hosts.push_back(measurements.hosts.front());
  CHECK(ask("sequential-map", measurements).findings.size() == 2);
  CHECK(ask("damaged-trace", measurements).findings.empty());
}

TEST_CASE("parents in a circle end no rule in a loop") {
  MeasuredPipeline circle = epochs(2);
  circle["ForeverRepeat"].parent = circle.id_of("TFRecord");
  circle["TFRecord"].children = {circle.id_of("ForeverRepeat")};
  // In a circle the endless repeat stands before the culprit, too.
  CHECK(answer("uncached-repeat", circle.measurements()) == "silent");
  CHECK(answer("sequential-interleave", circle.measurements()) == "silent");
}

TEST_CASE("iterators in words") {
  const auto words = [](const std::string& short_name, const std::string& dataset_name = {}) {
    IteratorMeasurement iterator;
    iterator.short_name = short_name;
    iterator.dataset_name = dataset_name;
    return describe(iterator);
  };
  CHECK(words("Map") == "Dataset.map");
  CHECK(words("ParallelMapV2") == "Dataset.map with num_parallel_calls");
  CHECK(words("ForeverRepeat") == "Dataset.repeat");
  CHECK(words("FixedLengthRecordV2") == "tf.data.FixedLengthRecordDataset");
  CHECK(words("ParallelInterleaveV4", "ParallelInterleaveDatasetV4:7") == "Dataset.interleave with num_parallel_calls");
  CHECK(words("Prefetch", "inject/prefetch_4_PrefetchDataset:5") == "Dataset.prefetch (inserted by TF)");
  CHECK(words("MapAndBatch", "fused(MapDataset:3,BatchDatasetV2:4)") == "your .map().batch(), fused by TF");
  CHECK(words("MapAndBatch", "fused(fused(MapDataset:1,MapDataset:2),BatchDatasetV2:3)") ==
        "your .map().map().batch(), fused by TF");
  CHECK(words("MapAndBatch", "fused(") == "your .map().batch(), run as one (MapAndBatch)");
  CHECK(words("MapAndBatch") == "your .map().batch(), run as one (MapAndBatch)");  // TF 2.4 gives no dataset name
  CHECK(words("Root", "inject/prefetch_4_PrefetchDataset:5") == "tf.data's own frame");
  CHECK(words("SomethingNewV7") == "SomethingNewV7");
  CHECK(words("") == "");
}

}  // namespace
}  // namespace doctor::rules_test
