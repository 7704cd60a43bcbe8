#pragma once

#include <chrono>

#include "base/time.h"
#include "model/prediction.h"

namespace doctor {

/// A public page, or a section of one, that advice follows.
struct Reference {
  std::string_view title;  ///< of the page, with the section's after it: "Page: Section"
  std::string_view url;    ///< https
};

/// The pages that rules name, each written once. The anchors are those of tensorflow.org.
namespace references {

// Analyze tf.data performance with the TF Profiler
inline constexpr Reference kAnalysis{"Analyze tf.data performance with the TF Profiler",
                                     "https://www.tensorflow.org/guide/data_performance_analysis"};
inline constexpr Reference kFastEnough{
    "Analyze tf.data performance with the TF Profiler: Is your tf.data pipeline producing data fast enough?",
    "https://www.tensorflow.org/guide/"
    "data_performance_analysis#1_is_your_tfdata_pipeline_producing_data_fast_enough"};
inline constexpr Reference kArePrefetching{
    "Analyze tf.data performance with the TF Profiler: Are you prefetching data?",
    "https://www.tensorflow.org/guide/data_performance_analysis#2_are_you_prefetching_data"};
inline constexpr Reference kCpuUtilization{
    "Analyze tf.data performance with the TF Profiler: Are you reaching high CPU utilization?",
    "https://www.tensorflow.org/guide/data_performance_analysis#3_are_you_reaching_high_cpu_utilization"};
inline constexpr Reference kIdentifyBottleneck{
    "Analyze tf.data performance with the TF Profiler: Identifying the bottleneck",
    "https://www.tensorflow.org/guide/data_performance_analysis#identifying_the_bottleneck"};
inline constexpr Reference kSourceDatasets{
    "Analyze tf.data performance with the TF Profiler: Source datasets",
    "https://www.tensorflow.org/guide/data_performance_analysis#source_datasets"};
inline constexpr Reference kTransformationDatasets{
    "Analyze tf.data performance with the TF Profiler: Transformation datasets",
    "https://www.tensorflow.org/guide/data_performance_analysis#transformation_datasets"};

// Better performance with the tf.data API
inline constexpr Reference kPrefetching{"Better performance with the tf.data API: Prefetching",
                                        "https://www.tensorflow.org/guide/data_performance#prefetching"};
inline constexpr Reference kParallelExtraction{
    "Better performance with the tf.data API: Parallelizing data extraction",
    "https://www.tensorflow.org/guide/data_performance#parallelizing_data_extraction"};
inline constexpr Reference kParallelTransformation{
    "Better performance with the tf.data API: Parallelizing data transformation",
    "https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation"};
inline constexpr Reference kCaching{"Better performance with the tf.data API: Caching",
                                    "https://www.tensorflow.org/guide/data_performance#caching"};
inline constexpr Reference kVectorizing{"Better performance with the tf.data API: Vectorizing mapping",
                                        "https://www.tensorflow.org/guide/data_performance#vectorizing_mapping"};
inline constexpr Reference kMemoryFootprint{
    "Better performance with the tf.data API: Reducing memory footprint",
    "https://www.tensorflow.org/guide/data_performance#reducing_memory_footprint"};

// Other guides and tutorials
inline constexpr Reference kBasicMechanics{"tf.data: Build TensorFlow input pipelines: Basic mechanics",
                                           "https://www.tensorflow.org/guide/data#basic_mechanics"};
inline constexpr Reference kShuffling{"tf.data: Build TensorFlow input pipelines: Randomly shuffling input data",
                                      "https://www.tensorflow.org/guide/data#randomly_shuffling_input_data"};
inline constexpr Reference kCollecting{"Optimize TensorFlow performance using the Profiler: Collect performance data",
                                       "https://www.tensorflow.org/guide/profiler#collect_performance_data"};
inline constexpr Reference kInstallingProfiler{
    "Optimize TensorFlow performance using the Profiler: Install the Profiler and GPU prerequisites",
    "https://www.tensorflow.org/guide/profiler#install_the_profiler_and_gpu_prerequisites"};
inline constexpr Reference kBestPractices{
    "Optimize TensorFlow performance using the Profiler: Best practices for optimal model performance",
    "https://www.tensorflow.org/guide/profiler#best_practices_for_optimal_model_performance"};
inline constexpr Reference kGpuAnalysis{"Optimize TensorFlow GPU performance with the TensorFlow Profiler",
                                        "https://www.tensorflow.org/guide/gpu_performance_analysis"};
inline constexpr Reference kRetracing{"Better performance with tf.function: Controlling retracing",
                                      "https://www.tensorflow.org/guide/function#controlling_retracing"};
inline constexpr Reference kMixedPrecision{"Mixed precision", "https://www.tensorflow.org/guide/mixed_precision"};
inline constexpr Reference kXla{"XLA: Optimizing Compiler for Machine Learning", "https://www.tensorflow.org/xla"};
inline constexpr Reference kMultiWorker{"Multi-worker training with Keras",
                                        "https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras"};
inline constexpr Reference kDistributedInput{"Distributed Input",
                                             "https://www.tensorflow.org/tutorials/distribute/input"};

// API reference
inline constexpr Reference kCacheApi{"tf.data.Dataset.cache",
                                     "https://www.tensorflow.org/api_docs/python/tf/data/Dataset#cache"};
inline constexpr Reference kShuffleApi{"tf.data.Dataset.shuffle",
                                       "https://www.tensorflow.org/api_docs/python/tf/data/Dataset#shuffle"};
inline constexpr Reference kGeneratorApi{"tf.data.Dataset.from_generator",
                                         "https://www.tensorflow.org/api_docs/python/tf/data/Dataset#from_generator"};
inline constexpr Reference kAutotuneOptions{
    "tf.data.experimental.AutotuneOptions",
    "https://www.tensorflow.org/api_docs/python/tf/data/experimental/AutotuneOptions"};
inline constexpr Reference kThreadingOptions{"tf.data.ThreadingOptions",
                                             "https://www.tensorflow.org/api_docs/python/tf/data/ThreadingOptions"};
inline constexpr Reference kPyFunction{"tf.py_function", "https://www.tensorflow.org/api_docs/python/tf/py_function"};

}  // namespace references

/// A finding that the user has seen and accepts, for a reason and a time.
struct Suppression {
  std::string rule;
  std::string subject;  ///< pattern over the finding's subject; empty: whatever it is about
  std::string reason;   ///< foreign text
  std::optional<std::chrono::year_month_day> expires;  ///< the last day on which it counts; none: it never ends
  std::string source;  ///< where it was written: "--suppress", "/job/.tfdata-doctor.toml:12". Foreign text
};

enum class Severity { note, warning, error };

/// A number that a finding rests on. `unit` is "us", "ms", "share" (0..1), "calls", "elements", "cores", "events",
/// or empty for a plain number.
struct Evidence {
  std::string name;
  double value = 0;
  std::string unit;
};

/// What a change is predicted to bring.
struct Gain {
  double now = 0;  ///< steps a second, of the model
  Prediction then;

  double factor() const { return now > 0 ? then.estimate / now : 1; }
  double low() const { return now > 0 ? then.low / now : 1; }
  double high() const { return now > 0 ? then.high / now : 1; }
};

/// Why it is not known what a change brings.
enum class NoGainBecause {
  nobody_waits,
  too_many_events,  ///< more than a model takes
  too_few_calls,
  too_few_elements,
  no_threads,           ///< TF1 timelines do not show them
  no_consumer,          ///< no call of one
  no_iterators,         ///< of tf.data, of which a model is made
  rate_not_reproduced,  ///< by any model of the pipeline
  unknown_change,       ///< to the model
  too_many_changes,     ///< to predict them all
};

/// What to do: the action in one sentence, and what to know about it.
struct AdviceText {
  AdviceText(std::string what) : action(std::move(what)) {}  // NOLINT(google-explicit-constructor): most have no detail
  AdviceText(const char* what) : action(what) {}             // NOLINT(google-explicit-constructor)
  AdviceText(std::string what, std::string about_it) : action(std::move(what)), detail(std::move(about_it)) {}

  std::string action;  ///< one sentence without its period: "Run map in parallel"
  std::string detail;  ///< further sentences; may be empty

  std::string whole() const { return detail.empty() ? action + "." : action + ". " + detail; }
};

/// A change to make. `code` holds lines of Python that the user can take over.
struct Advice {
  AdviceText text;
  std::optional<std::string> code;
  std::vector<Fix> fixes = {};    ///< what a model can predict of it; empty: nothing
  std::optional<Gain> gain = {};  ///< filled in by diagnose(), where there is a model that can be relied upon
  NoGainBecause no_gain_because = NoGainBecause::nobody_waits;  ///< why it has no gain; filled in by diagnose()
  /// Which versions of TensorFlow run the code, and what to write in others; filled in by diagnose(). Empty where the
  /// trace shows that its version does.
  std::string versions = {};
  /// It keeps elements in a cache, and the trace shows no end of an epoch, before which that is never read from; filled
  /// in by diagnose().
  bool is_unproven = false;
};

/// One fault that a rule saw in this trace. Plain data; words for a sink are rendered from it.
struct Finding {
  std::string rule;                     ///< filled in by diagnose()
  bool states_verdict = false;          ///< Rule::states_verdict of the rule; filled in by diagnose()
  bool depends_on_load = false;         ///< Rule::judges_load of the rule; filled in by diagnose()
  std::vector<Reference> follows = {};  ///< Rule::follows of the rule; filled in by diagnose()
  Severity severity = Severity::warning;
  std::string subject;  ///< long name of the iterator at fault; empty if it is the whole trace or pipeline
  std::string message;  ///< one sentence with its numbers
  std::vector<Evidence> evidence;
  std::vector<Advice> advice;
  std::vector<Advice> without_gain = {};  ///< what would be advised if it gained anything; filled in by diagnose()
  Picoseconds at_stake = 0;               ///< time waited for because of it: orders findings of one severity
  bool is_easy = false;  ///< its first advice is a small change that is sure to gain: it comes before the others
  std::optional<std::size_t> host;             ///< index into Measurements::hosts; none: the run as a whole
  std::optional<std::size_t> pipeline;         ///< index into Judgement::pipelines; none: no pipeline in particular
  std::optional<Suppression> suppressed = {};  ///< why it does not count; none: it does
};

}  // namespace doctor
