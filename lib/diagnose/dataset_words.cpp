#include "diagnose/dataset_words.h"

#include <algorithm>
#include <array>

#include "tree/dataset_kind.h"

namespace doctor {
namespace {

struct KindWords {
  std::string_view kind;
  std::string_view words;
};

/// Dataset kinds of TF 1.15 to 2.21. The runtime splits some transformations by what they do (a repeat is forever,
/// finite or empty; a cache reads, writes or is in memory): the user wrote one call.
constexpr KindWords kWords[] = {
    {"Map", "Dataset.map"},
    {"ParallelMap", "Dataset.map with num_parallel_calls"},
    {"MapAndBatch", "your .map().batch(), run as one (MapAndBatch)"},
    {"NumaMapAndBatch", "your .map().batch(), run as one (MapAndBatch)"},
    {"MapAndFilter", "Dataset.map with Dataset.filter"},
    {"Batch", "Dataset.batch"},
    {"ParallelBatch", "Dataset.batch with num_parallel_calls"},
    {"PaddedBatch", "Dataset.padded_batch"},
    {"DenseToSparseBatch", "tf.data.experimental.dense_to_sparse_batch"},
    {"Unbatch", "Dataset.unbatch"},
    {"Rebatch", "Dataset.rebatch"},
    {"LegacyRebatch", "Dataset.rebatch"},
    {"Filter", "Dataset.filter"},
    {"ParallelFilter", "Dataset.filter with num_parallel_calls"},
    {"FilterByLastComponent", "Dataset.filter"},
    {"FlatMap", "Dataset.flat_map"},
    {"ParallelFlatMap", "Dataset.flat_map"},
    {"Interleave", "Dataset.interleave"},
    {"ParallelInterleave", "Dataset.interleave with num_parallel_calls"},
    {"LegacyParallelInterleave", "tf.data.experimental.parallel_interleave"},
    {"DirectedInterleave", "Dataset.sample_from_datasets"},
    {"WeightedFlatMap", "Dataset.sample_from_datasets"},
    {"Shuffle", "Dataset.shuffle"},
    {"ShuffleAndRepeat", "tf.data.experimental.shuffle_and_repeat"},
    {"GlobalShuffle", "global shuffle"},
    {"Cache", "Dataset.cache"},
    {"MemoryCache", "Dataset.cache"},
    {"MemoryCacheImpl", "Dataset.cache"},
    {"MemoryReader", "Dataset.cache"},
    {"MemoryWriter", "Dataset.cache"},
    {"FileCache", "Dataset.cache with a file"},
    {"FileReader", "Dataset.cache with a file"},
    {"FileWriter", "Dataset.cache with a file"},
    {"Repeat", "Dataset.repeat"},
    {"ForeverRepeat", "Dataset.repeat"},
    {"FiniteRepeat", "Dataset.repeat"},
    {"EmptyRepeat", "Dataset.repeat"},
    {"Take", "Dataset.take"},
    {"FiniteTake", "Dataset.take"},
    {"ForeverTake", "Dataset.take"},
    {"EmptyTake", "Dataset.take"},
    {"Skip", "Dataset.skip"},
    {"FiniteSkip", "Dataset.skip"},
    {"EmptySkip", "Dataset.skip"},
    {"TakeWhile", "Dataset.take_while"},
    {"Zip", "Dataset.zip"},
    {"Concatenate", "Dataset.concatenate"},
    {"Window", "Dataset.window"},
    {"WindowDataset", "Dataset.window"},
    {"Scan", "Dataset.scan"},
    {"Shard", "Dataset.shard"},
    {"AutoShard", "sharding by tf.distribute"},
    {"Unique", "Dataset.unique"},
    {"IgnoreErrors", "Dataset.ignore_errors"},
    {"GroupByWindow", "Dataset.group_by_window"},
    {"GroupByReducer", "tf.data.experimental.group_by_reducer"},
    {"SlidingWindow", "Dataset.window"},
    {"ParseExample", "tf.data.experimental.parse_example_dataset"},
    {"Prefetch", "Dataset.prefetch"},
    {"Snapshot", "Dataset.snapshot"},
    {"Save", "Dataset.save"},
    {"Load", "tf.data.Dataset.load"},
    {"DataService", "tf.data service"},
    {"Range", "tf.data.Dataset.range"},
    {"Random", "tf.data.Dataset.random"},
    {"Tensor", "tf.data.Dataset.from_tensors"},
    {"FromTensor", "tf.data.Dataset.from_tensors"},
    {"TensorSlice", "tf.data.Dataset.from_tensor_slices"},
    {"SparseTensorSlice", "tf.data.Dataset.from_tensor_slices"},
    {"Generator", "tf.data.Dataset.from_generator"},
    {"TFRecord", "tf.data.TFRecordDataset"},
    {"TextLine", "tf.data.TextLineDataset"},
    {"FixedLengthRecord", "tf.data.FixedLengthRecordDataset"},
    {"CSV", "tf.data.experimental.CsvDataset"},
    {"Sql", "tf.data.experimental.SqlDataset"},
    {"MatchingFiles", "tf.data.Dataset.list_files"},
    {"Root", "tf.data's own frame"},
    {"Model", "tf.data's own frame"},
    {"Options", "Dataset.with_options"},
    {"MaxIntraOpParallelism", "Dataset.with_options (max_intra_op_parallelism)"},
    {"PrivateThreadPool", "Dataset.with_options (private_threadpool_size)"},
    {"AssertCardinality", "tf.data.experimental.assert_cardinality"},
};

constexpr std::string_view kFused = "fused(";
constexpr std::string_view kMethodOf = "Dataset.";

std::string_view words_of(std::string_view kind) {
  const auto* found =
      std::find_if(std::begin(kWords), std::end(kWords), [&](const KindWords& row) { return row.kind == kind; });
  return found == std::end(kWords) ? std::string_view{} : found->words;
}

/// "MapDataset:3" or "scope/MapDataset:3" -> ".map()"; empty for what has no method of that name.
std::string method_call(std::string_view node) {
  node = node.substr(0, node.find(':'));
  const std::size_t scope = node.rfind('/');
  if (scope != std::string_view::npos) node.remove_prefix(scope + 1);
  std::string_view words = words_of(without_version(node));
  if (!words.starts_with(kMethodOf)) return {};
  words.remove_prefix(kMethodOf.size());
  return "." + std::string(words.substr(0, words.find(' '))) + "()";
}

/// "fused(MapDataset:3,BatchDatasetV2:4)" -> ".map().batch()". Fusions of fusions are flattened: the user's order
/// stays.
std::string fused_calls(std::string_view dataset_name) {
  std::string calls;
  while (!dataset_name.empty()) {
    const std::size_t end = std::min(dataset_name.find_first_of("(),"), dataset_name.size());
    calls += method_call(dataset_name.substr(0, end));
    dataset_name.remove_prefix(std::min(end + 1, dataset_name.size()));
  }
  return calls;
}

}  // namespace

std::string_view kind_of(const IteratorMeasurement& iterator) {
  return without_version(iterator.short_name);
}

std::string_view words_of_kind(const IteratorMeasurement& iterator) {
  const std::string_view words = words_of(kind_of(iterator));
  return words.empty() ? words_of(iterator.short_name) : words;
}

std::string describe(const IteratorMeasurement& iterator) {
  if (is_fused(iterator)) {
    const std::string calls = fused_calls(iterator.dataset_name);
    if (!calls.empty()) return "your " + calls + ", fused by TF";
  }
  if (iterator.is_device_hop) return "the hand-over from the host pipeline to the device";
  std::string_view words = words_of_kind(iterator);
  if (words.empty()) words = iterator.short_name;
  return std::string(words) + (is_injected(iterator) ? " (inserted by TF)" : "");
}

bool is_fused(const IteratorMeasurement& iterator) {
  // The root carries the name of what stands below it.
  return iterator.dataset_name.starts_with(kFused) && kind_of(iterator) != "Root";
}

bool is_injected(const IteratorMeasurement& iterator) {
  return iterator.dataset_name.starts_with("inject/") && kind_of(iterator) != "Root";
}

bool is_sequential_map(const IteratorMeasurement& iterator) {
  const std::string_view kind = kind_of(iterator);
  if (kind == "Map") return true;
  return kind == "MapAndBatch" && iterator.number("parallelism") == 1 && iterator.text("autotune") != "true";
}

bool is_parallel(const IteratorMeasurement& iterator) {
  // Prefetch makes one element at a time, a Generator is Python, the data service works on other hosts, and a snapshot
  // waits for its files.
  static constexpr std::array<std::string_view, 4> kOthers = {"Prefetch", "Generator", "DataService", "Snapshot"};
  return iterator.is_async && std::find(kOthers.begin(), kOthers.end(), kind_of(iterator)) == kOthers.end();
}

bool is_cache(const IteratorMeasurement& iterator) {
  return words_of(kind_of(iterator)).starts_with("Dataset.cache") ||
         iterator.short_name.find("Cache") != std::string::npos;
}

bool is_shuffle(const IteratorMeasurement& iterator) {
  return kind_of(iterator).starts_with("Shuffle");
}

std::string_view reader_expression(const IteratorMeasurement& iterator) {
  static constexpr KindWords kReaders[] = {
      {"TFRecord", "tf.data.TFRecordDataset"},
      {"TextLine", "tf.data.TextLineDataset"},
      {"FixedLengthRecord", "lambda name: tf.data.FixedLengthRecordDataset(name, record_bytes)"},
      {"CSV", "lambda name: tf.data.experimental.CsvDataset(name, record_defaults)"},
  };
  for (const KindWords& reader : kReaders) {
    if (reader.kind == kind_of(iterator)) return reader.words;
  }
  return {};
}

}  // namespace doctor
