#pragma once

#include <string_view>

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

}  // namespace doctor
