#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// Where a source dataset takes its elements from.
enum class Source : std::uint8_t {
  none,     ///< not a source: it transforms an input
  files,    ///< files, or a remote store
  service,  ///< workers of the tf.data service
  memory,   ///< tensors that the program holds
  numbers,  ///< values that it computes
  python,   ///< a Python generator of the user, or the host pipeline of a device pipeline
};

/// A property of a kind of dataset. Traits are combined with `|`.
enum class Trait : std::uint64_t {
  none = 0,
  /// The row covers all kinds that begin with this name: a package has many of them.
  prefix = 1ULL << 0U,
  /// Its input runs on other threads than its GetNext, so a call of it may wait for them.
  async = 1ULL << 1U,
  /// It works on several elements at once, on threads of this host.
  parallel = 1ULL << 2U,
  /// Its threads run a function of the user for its elements.
  dispatches_function = 1ULL << 3U,
  /// GetNext waits for a run of its function on another thread. (The function of a parallel interleave only makes
  /// datasets; GetNext waits for the iterators of these.)
  waits_for_function = 1ULL << 4U,
  /// It is a map and the batch after it in one.
  fused_batch = 1ULL << 5U,
  /// Its function makes a dataset for each element, so what stands inside is made again and again.
  makes_datasets = 1ULL << 6U,
  /// The element index after its name in a long name counts elements that are alike (files of an interleave, epochs of
  /// a repeat). Iterators that differ only in it are therefore one. Inputs of Zip and Concatenate are not alike.
  like_elements = 1ULL << 7U,
  /// It is a frame of the runtime, or only counts elements: it does no work of its own.
  frame = 1ULL << 8U,
  /// It is not a frame, but its elements leave it unchanged.
  passes_on = 1ULL << 9U,
  /// It keeps elements for later epochs, or is a part of such a dataset.
  cache = 1ULL << 10U,
  shuffle = 1ULL << 11U,  ///< with or without a fused repeat
  repeat = 1ULL << 12U,   ///< with or without a fused shuffle
  /// Its elements never end.
  endless = 1ULL << 13U,
  /// The user asked for its elements to stay in memory.
  buffer = 1ULL << 14U,
  /// Elements may leave it larger than they came.
  may_enlarge = 1ULL << 15U,
  /// It runs a function of the user whose result is worth keeping, or reads files. Datasets that only put elements
  /// together (Batch, Scan) do not have it.
  worth_caching = 1ULL << 16U,
  /// It has several inputs, which TensorFlow before 2.5 or so gives the same long name.
  several_inputs = 1ULL << 17U,

  // What the user wrote, in whatever form the runtime runs it: a map is `map` alone, `parallel`, or fused with a batch.
  map = 1ULL << 18U,
  batch = 1ULL << 19U,
  filter = 1ULL << 20U,
  flat_map = 1ULL << 21U,
  interleave = 1ULL << 22U,
  prefetch = 1ULL << 23U,
  zip = 1ULL << 24U,
  skip = 1ULL << 25U,
  take = 1ULL << 26U,  ///< of a number of elements
  take_while = 1ULL << 27U,
  scan = 1ULL << 28U,
  window = 1ULL << 29U,
  snapshot = 1ULL << 30U,
  rebatch = 1ULL << 31U,
  ignore_errors = 1ULL << 32U,
  sampling = 1ULL << 33U,  ///< of several datasets, element by element
  csv = 1ULL << 34U,
  one_element = 1ULL << 35U,
  tensor_slices = 1ULL << 36U,
  random_numbers = 1ULL << 37U,
  lists_files = 1ULL << 38U,

  root = 1ULL << 39U,          ///< the runtime's outermost iterator
  since_tf_2_6 = 1ULL << 40U,  ///< older runtimes do not make it
  deprecated = 1ULL << 41U,    ///< another kind does the same in newer programs
  multi_device = 1ULL << 42U,  ///< it hands elements to several devices
  limits_op_threads = 1ULL << 43U,
  sleep = 1ULL << 44U,  ///< it waits before each element
  /// Its class in Python goes from file to file by a flat_map, or by an interleave where num_parallel_reads is set.
  goes_from_file_to_file = 1ULL << 45U,
};

constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b));
}

/// Everything that is known about a kind of dataset.
struct DatasetKind {
  std::string_view kind;   ///< the short name without its version: "ParallelMap"
  std::string_view words;  ///< its name in the Python API; empty if it has none there
  Trait traits = Trait::none;
  std::string_view family = {};  ///< empty if the family is the kind itself; see family_of()
  Source source = Source::none;
  /// Python code. For a source of files: the expression that makes it of one file name. For a dataset that works on one
  /// element after another by its nature: the user's call. Empty for others.
  std::string_view code = {};
  /// The attribute that holds the capacity of its buffer; empty if it has no buffer that can be tuned.
  std::string_view buffer_limit = {};

  constexpr bool has(Trait trait) const {
    return (static_cast<std::uint64_t>(traits) & static_cast<std::uint64_t>(trait)) != 0;
  }
  /// Whether it has the trait and works on one element after another.
  constexpr bool is_sequential(Trait trait) const { return has(trait) && !has(Trait::parallel); }
  /// The method of tf.data that it is: "map" for ParallelMap. Empty if it has none.
  std::string_view method() const;
  bool is_source() const { return source != Source::none; }
  bool reads_files() const { return source == Source::files || source == Source::service; }
};

/// The row of a short name of any version. A kind that is not in the table gets a row without a name, words or
/// properties.
const DatasetKind& dataset_kind(std::string_view short_name);

/// The row of a node of the dataset graph: "MapDataset:3" or "scope/MapDataset:3".
const DatasetKind& dataset_kind_of_node(std::string_view node);

/// "tf.data.Dataset.from_generator" -> "from_generator"; "Dataset.map with num_parallel_calls" -> "map".
std::string_view last_name(std::string_view words);

/// The kind of a short name, without the version that the runtime appends: "ParallelMapV2" -> "ParallelMap",
/// "ParallelInterleaveDatasetV4" -> "ParallelInterleave".
std::string_view kind_of(std::string_view short_name);

/// The family of a kind, which names what it does in whatever form: "Map" for Map, ParallelMap and MapAndBatch, "Cache"
/// for all iterators of a cache, "Root" for the runtime's outermost iterator. For most kinds it is the kind itself.
std::string_view family_of(std::string_view short_name);

/// What kind of dataset an iterator is of.
struct OfKind {
  std::string short_name;                   ///< "ParallelMapV2"
  const DatasetKind* known_kind = nullptr;  ///< the row of its kind; null until it is looked up

  const DatasetKind& kind() const { return known_kind != nullptr ? *known_kind : dataset_kind(short_name); }
  bool has(Trait trait) const { return kind().has(trait); }
  bool is_sequential(Trait trait) const { return kind().is_sequential(trait); }
  /// See kind_of(): the row of a prefix does not hold the iterator's own kind.
  std::string_view kind_name() const {
    return kind().kind.empty() || has(Trait::prefix) ? kind_of(short_name) : kind().kind;
  }
  std::string_view family() const { return kind().family.empty() ? kind_name() : kind().family; }
};

/// A name without the version that the runtime appends: "OptimizeDatasetV2" -> "OptimizeDataset".
std::string_view without_version(std::string_view name);

/// The datasets that TF's graph optimiser fused into one, in the order of the user's code:
/// "fused(fused(a,MapDataset:2),b)" -> a, MapDataset:2, b. A name that is not fused gives itself.
std::vector<std::string_view> fused_parts(std::string_view dataset_name);

/// The last part of a long name without its element index: "Iterator::Root::Zip[1]::Map[0]" -> "Map".
std::string_view short_name_of(std::string_view long_name);

/// Tests whether the iterator is below that of Dataset.reduce(), which `for x in dataset` in a tf.function also
/// becomes.
bool is_in_reduce(std::string_view long_name);

/// A long name with the indices of like elements dropped:
/// "Iterator::Root::ForeverRepeat[7]::Zip[1]::Map" -> "Iterator::Root::ForeverRepeat::Zip[1]::Map".
std::string fold_like_elements(std::string_view long_name);

}  // namespace doctor
