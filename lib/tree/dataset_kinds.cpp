#include "tree/dataset_kinds.h"

#include <algorithm>
#include <iterator>

#include "trace/event_kind.h"

namespace doctor {
namespace {

// The runtime splits some transformations by what they do (a repeat is forever, finite or empty; a cache reads, writes
// or is in memory): the user wrote one call.
using enum Trait;

/// One row for each kind of TF 1.15 to 2.21, sorted. A new kind of TF needs a row here and nothing else. Source: the
/// iterators in tensorflow/core/kernels/data.
constexpr DatasetKind kKinds[] = {
    // kind, words, traits, family, source, code, buffer_limit
    {"ArrayRecord", {}, prefix, {}, Source::files},
    {"AssertCardinality", "tf.data.experimental.assert_cardinality", frame},
    {"AssertNext", {}, frame},
    {"AutoShard", "sharding by tf.distribute", frame},
    {"Avro", {}, prefix, {}, Source::files},
    {"Batch", "Dataset.batch", batch | may_enlarge, {}, {}, ".batch(batch_size)"},
    {"BigQuery", {}, prefix, {}, Source::files},
    {"CSV",
     "tf.data.experimental.CsvDataset",
     csv,
     {},
     Source::files,
     "lambda name: tf.data.experimental.CsvDataset(name, record_defaults)"},
    {"Cache", "Dataset.cache", like_elements | passes_on | cache},
    {"ChooseFastest", {}, several_inputs},
    {"Concatenate", "Dataset.concatenate", several_inputs},
    {"DataService", "tf.data service", async, {}, Source::service},
    {"DenseToSparseBatch",
     "tf.data.experimental.dense_to_sparse_batch",
     may_enlarge,
     {},
     {},
     ".apply(tf.data.experimental.dense_to_sparse_batch(batch_size, row_shape))"},
    {"DirectedInterleave", "Dataset.sample_from_datasets", sampling | several_inputs},
    {"EmptyRepeat", "Dataset.repeat", like_elements | frame | repeat, "Repeat"},
    {"EmptySkip", "Dataset.skip", skip | frame, "Skip"},
    {"EmptyTake", "Dataset.take", take | frame, "Take"},
    {"FileCache", "Dataset.cache with a file", prefix | passes_on | cache, "Cache"},
    {"FileReader", "Dataset.cache with a file", passes_on | cache, "Cache"},
    {"FileWriter", "Dataset.cache with a file", passes_on | cache, "Cache"},
    {"Filter", "Dataset.filter", filter | worth_caching, {}, {}, ".filter(predicate)"},
    {"FilterByLastComponent", "Dataset.filter"},
    {"Finalize", {}, frame},
    {"FiniteRepeat", "Dataset.repeat", like_elements | frame | repeat, "Repeat"},
    {"FiniteSkip", "Dataset.skip", skip | frame, "Skip"},
    {"FiniteTake", "Dataset.take", take | frame, "Take"},
    {"FixedLengthRecord",
     "tf.data.FixedLengthRecordDataset",
     goes_from_file_to_file,
     {},
     Source::files,
     "lambda name: tf.data.FixedLengthRecordDataset(name, record_bytes)"},
    {"FlatMap", "Dataset.flat_map", flat_map | makes_datasets | like_elements | worth_caching},
    {"ForeverRepeat", "Dataset.repeat", like_elements | frame | repeat | endless, "Repeat"},
    {"ForeverTake", "Dataset.take", frame, "Take"},
    {"FromTensor", "tf.data.Dataset.from_tensors", one_element, {}, Source::memory},
    {"Generator", "tf.data.Dataset.from_generator", async | dispatches_function | worth_caching, {}, Source::python},
    {"GlobalShuffle", "global shuffle", shuffle},
    {"GroupByReducer", "tf.data.experimental.group_by_reducer", like_elements},
    {"GroupByWindow",
     "Dataset.group_by_window",
     like_elements,
     {},
     {},
     ".group_by_window(key_func, reduce_func, window_size)"},
    {"IgnoreErrors", "Dataset.ignore_errors", ignore_errors},
    {"Interleave", "Dataset.interleave", interleave | makes_datasets | like_elements | worth_caching},
    {"LMDB", {}, prefix, {}, Source::files},
    {"LegacyParallelInterleave", "tf.data.experimental.parallel_interleave",
     interleave | deprecated | async | parallel | dispatches_function | makes_datasets | like_elements | worth_caching,
     "Interleave"},
    {"LegacyRebatch", "Dataset.rebatch", rebatch | may_enlarge, "Rebatch"},
    {"Load", "tf.data.Dataset.load", like_elements, {}, Source::files},
    {"Map", "Dataset.map", map | may_enlarge | worth_caching},
    {"MapAndBatch",
     "your .map().batch(), run as one (MapAndBatch)",
     map | async | parallel | dispatches_function | waits_for_function | fused_batch | may_enlarge | worth_caching,
     "Map",
     {},
     {},
     "max_batch_results"},
    {"MapAndFilter", "Dataset.map with Dataset.filter", may_enlarge | worth_caching},
    {"MatchingFiles", "tf.data.Dataset.list_files", lists_files, {}, Source::files},
    {"MaxIntraOpParallelism", "Dataset.with_options (max_intra_op_parallelism)", limits_op_threads | frame},
    {"MemoryCache", "Dataset.cache", prefix | like_elements | passes_on | cache, "Cache"},
    {"MemoryCacheImpl", "Dataset.cache", passes_on | cache | buffer, "Cache"},
    {"MemoryReader", "Dataset.cache", passes_on | cache, "Cache"},
    {"MemoryWriter", "Dataset.cache", passes_on | cache, "Cache"},
    {"Model", "tf.data's own frame", root | frame, "Root"},
    {"MultiDeviceIterator", {}, multi_device | prefix | async},
    {"NumaMapAndBatch",
     "your .map().batch(), run as one (MapAndBatch)",
     map | async | parallel | dispatches_function | waits_for_function | fused_batch | may_enlarge | worth_caching,
     "Map",
     {},
     {},
     "max_batch_results"},
    {"OneShot", {}, frame},
    {"Options", "Dataset.with_options", frame},
    {"PaddedBatch", "Dataset.padded_batch", may_enlarge, {}, {}, ".padded_batch(batch_size)"},
    {"ParallelBatch", "Dataset.batch with num_parallel_calls", batch | async | parallel | like_elements | may_enlarge,
     "Batch"},
    {"ParallelFilter", "Dataset.filter with num_parallel_calls",
     filter | async | parallel | dispatches_function | waits_for_function | worth_caching, "Filter"},
    {"ParallelFlatMap", "Dataset.flat_map",
     flat_map | async | parallel | dispatches_function | makes_datasets | worth_caching, "FlatMap"},
    {"ParallelInterleave", "Dataset.interleave with num_parallel_calls",
     interleave | async | parallel | dispatches_function | makes_datasets | like_elements | worth_caching,
     "Interleave"},
    {"ParallelMap",
     "Dataset.map with num_parallel_calls",
     map | async | parallel | dispatches_function | waits_for_function | may_enlarge | worth_caching,
     "Map",
     {},
     {},
     "parallelism"},
    {"Parquet", {}, prefix, {}, Source::files},
    {"ParseExample", "tf.data.experimental.parse_example_dataset",
     async | parallel | waits_for_function | may_enlarge | worth_caching},
    {"Prefetch", "Dataset.prefetch", prefetch | async | passes_on, {}, {}, {}, "buffer_limit"},
    {"PrivateThreadPool", "Dataset.with_options (private_threadpool_size)", frame},
    {"Random", "tf.data.Dataset.random", random_numbers | endless, {}, Source::numbers},
    {"Range", "tf.data.Dataset.range", {}, {}, Source::numbers},
    {"Rebalance", {}, frame},
    {"Rebatch", "Dataset.rebatch", rebatch | like_elements | may_enlarge},
    {"RecordIO", {}, prefix, {}, Source::files},
    {"Repeat", "Dataset.repeat", like_elements | frame | repeat},
    {"Reverb", {}, prefix, {}, Source::files},
    {"Root", "tf.data's own frame", root | since_tf_2_6 | frame},
    {"SSTable", {}, prefix, {}, Source::files},
    {"Save", "Dataset.save", like_elements},
    {"Scan", "Dataset.scan", scan},
    {"Shard", "Dataset.shard", passes_on},
    {"Shuffle", "Dataset.shuffle", shuffle | buffer, {}, {}, {}, "buffer_size"},
    {"ShuffleAndRepeat",
     "tf.data.experimental.shuffle_and_repeat",
     shuffle | repeat | endless | buffer,
     {},
     {},
     {},
     "buffer_size"},
    {"Skip", "Dataset.skip", skip | frame},
    {"Sleep", {}, sleep},
    {"SlidingWindow", "Dataset.window"},
    {"Sloppy", {}, prefix | like_elements},
    {"Snapshot", "Dataset.snapshot", snapshot | async | dispatches_function | like_elements},
    {"SparseTensorSlice", "tf.data.Dataset.from_tensor_slices", {}, {}, Source::memory},
    {"Sql", "tf.data.experimental.SqlDataset", {}, {}, Source::files},
    {"TFRecord", "tf.data.TFRecordDataset", goes_from_file_to_file, {}, Source::files, "tf.data.TFRecordDataset"},
    {"Take", "Dataset.take", take | frame},
    {"TakeWhile", "Dataset.take_while", take_while},
    {"Tensor", "tf.data.Dataset.from_tensors", {}, {}, Source::memory},
    {"TensorSlice", "tf.data.Dataset.from_tensor_slices", tensor_slices, {}, Source::memory},
    {"TextLine", "tf.data.TextLineDataset", goes_from_file_to_file, {}, Source::files, "tf.data.TextLineDataset"},
    {"Unbatch", "Dataset.unbatch", like_elements, {}, {}, ".unbatch()"},
    {"Unique", "Dataset.unique"},
    {"WeightedFlatMap", "Dataset.sample_from_datasets", like_elements},
    {"Window", "Dataset.window", window | like_elements},
    {"Zip", "Dataset.zip", zip | several_inputs},
};

constexpr bool is_before(const DatasetKind& row, std::string_view kind) {
  return row.kind < kind;
}

static_assert(std::is_sorted(std::begin(kKinds), std::end(kKinds),
                             [](const DatasetKind& a, const DatasetKind& b) { return a.kind < b.kind; }));

}  // namespace

const DatasetKind& dataset_kind(std::string_view short_name) {
  static constexpr DatasetKind kUnknown = {};
  const std::string_view kind = kind_of(short_name);
  const DatasetKind* const found = std::lower_bound(std::begin(kKinds), std::end(kKinds), kind, is_before);
  if (found != std::end(kKinds) && found->kind == kind) return *found;
  const auto is_like = [&](const DatasetKind& row) { return row.has(prefix) && kind.starts_with(row.kind); };
  const DatasetKind* const like = std::find_if(std::begin(kKinds), std::end(kKinds), is_like);
  return like != std::end(kKinds) ? *like : kUnknown;
}

const DatasetKind& dataset_kind_of_node(std::string_view node) {
  node = node.substr(0, node.find(':'));
  const std::size_t scope = node.rfind('/');
  return dataset_kind(scope == std::string_view::npos ? node : node.substr(scope + 1));
}

std::string_view last_name(std::string_view words) {
  words = words.substr(0, words.find(' '));
  const std::size_t dot = words.rfind('.');
  return dot == std::string_view::npos ? words : words.substr(dot + 1);
}

std::string_view DatasetKind::method() const {
  const bool is_of_api = words.find("Dataset") != std::string_view::npos || words.starts_with("tf.data.");
  return is_of_api ? last_name(words) : std::string_view{};
}

std::string_view kind_of(std::string_view short_name) {
  constexpr std::string_view kSuffix = "Dataset";
  std::string_view kind = without_version(short_name);
  if (kind.size() > kSuffix.size() && kind.ends_with(kSuffix)) kind.remove_suffix(kSuffix.size());
  return kind;
}

std::string_view family_of(std::string_view short_name) {
  const std::string_view family = dataset_kind(short_name).family;
  return family.empty() ? kind_of(short_name) : family;
}

std::vector<std::string_view> fused_parts(std::string_view dataset_name) {
  std::vector<std::string_view> parts;
  while (!dataset_name.empty()) {
    const std::size_t end = std::min(dataset_name.find_first_of("(),"), dataset_name.size());
    const std::string_view part = dataset_name.substr(0, end);
    if (!part.empty() && part != "fused") parts.push_back(part);
    dataset_name.remove_prefix(std::min(end + 1, dataset_name.size()));
  }
  return parts;
}

std::string_view without_version(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  const bool has_version = end < name.size() && end > 1 && name[end - 1] == 'V';
  return has_version ? name.substr(0, end - 1) : name;
}

std::string_view short_name_of(std::string_view long_name) {
  const std::size_t separator = long_name.rfind("::");
  return without_element_index(separator == std::string_view::npos ? long_name : long_name.substr(separator + 2));
}

bool is_in_reduce(std::string_view long_name) {
  return long_name.starts_with("ReduceIterator::");
}

std::string fold_like_elements(std::string_view long_name) {
  std::string folded;
  folded.reserve(long_name.size());
  for (std::size_t begin = 0; begin <= long_name.size();) {
    const std::size_t separator = long_name.find("::", begin);
    const std::size_t end = separator == std::string_view::npos ? long_name.size() : separator;
    const std::string_view part = long_name.substr(begin, end - begin);
    const std::string_view kind = without_element_index(part);
    if (begin > 0) folded += "::";
    folded += kind.size() < part.size() && dataset_kind(kind).has(like_elements) ? kind : part;
    begin = end + 2;
  }
  return folded;
}

}  // namespace doctor
