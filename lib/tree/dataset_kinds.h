#pragma once

#include <concepts>
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
enum class Trait : std::uint32_t {
  none = 0,
  /// The row covers all kinds that begin with this name: a package has many of them.
  prefix = 1U << 0U,
  /// Its input runs on other threads than its GetNext, so a call of it may wait for them.
  async = 1U << 1U,
  /// It works on several elements at once, on threads of this host.
  parallel = 1U << 2U,
  /// Its threads run a function of the user for its elements.
  dispatches_function = 1U << 3U,
  /// GetNext waits for a run of its function on another thread. (The function of a parallel interleave only makes
  /// datasets; GetNext waits for the iterators of these.)
  waits_for_function = 1U << 4U,
  /// It is a map and the batch after it in one.
  fused_batch = 1U << 5U,
  /// Its function makes a dataset for each element, so what stands inside is made again and again.
  makes_datasets = 1U << 6U,
  /// The element index after its name in a long name counts elements that are alike (files of an interleave, epochs of
  /// a repeat). Iterators that differ only in it are therefore one. Inputs of Zip and Concatenate are not alike.
  like_elements = 1U << 7U,
  /// It is a frame of the runtime, or only counts elements: it does no work of its own.
  frame = 1U << 8U,
  /// It is not a frame, but its elements leave it unchanged.
  passes_on = 1U << 9U,
  /// It keeps elements for later epochs, or is a part of such a dataset.
  cache = 1U << 10U,
  shuffle = 1U << 11U,  ///< with or without a fused repeat
  repeat = 1U << 12U,   ///< with or without a fused shuffle
  /// Its elements never end.
  endless = 1U << 13U,
  /// The user asked for its elements to stay in memory.
  buffer = 1U << 14U,
  /// Elements may leave it larger than they came.
  may_enlarge = 1U << 15U,
  /// It runs a function of the user whose result is worth keeping, or reads files. Datasets that only put elements
  /// together (Batch, Scan) do not have it.
  worth_caching = 1U << 16U,
  /// It has several inputs, which TensorFlow before 2.5 or so gives the same long name.
  several_inputs = 1U << 17U,
};

constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
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
    return (static_cast<std::uint32_t>(traits) & static_cast<std::uint32_t>(trait)) != 0;
  }
  bool is_source() const { return source != Source::none; }
  bool reads_files() const { return source == Source::files || source == Source::service; }
};

/// The row of a short name of any version. A kind that is not in the table gets a row without a name, words or
/// properties.
const DatasetKind& dataset_kind(std::string_view short_name);

/// The kind of a short name, without the version that the runtime appends: "ParallelMapV2" -> "ParallelMap",
/// "ParallelInterleaveDatasetV4" -> "ParallelInterleave".
std::string_view kind_of(std::string_view short_name);

/// The family of a kind, which names what it does in whatever form: "Map" for Map, ParallelMap and MapAndBatch, "Cache"
/// for all iterators of a cache, "Root" for the runtime's outermost iterator. For most kinds it is the kind itself.
std::string_view family_of(std::string_view short_name);

/// The kind of an iterator that keeps a pointer to its row, null until it is looked up. A trace has few iterators, and
/// their kinds are asked for often.
template <typename T>
concept KnowsItsKind = requires(const T& iterator) {
  { iterator.kind } -> std::convertible_to<const DatasetKind*>;
  { iterator.short_name } -> std::convertible_to<std::string_view>;
};

// The same questions about an iterator.

template <KnowsItsKind Iterator>
const DatasetKind& dataset_kind(const Iterator& iterator) {
  return iterator.kind != nullptr ? *iterator.kind : dataset_kind(iterator.short_name);
}

template <KnowsItsKind Iterator>
bool has_trait(const Iterator& iterator, Trait trait) {
  return dataset_kind(iterator).has(trait);
}

template <KnowsItsKind Iterator>
std::string_view kind_of(const Iterator& iterator) {
  const DatasetKind* const row = iterator.kind;  // a row for a prefix does not hold the iterator's own kind
  const bool is_of_name = row != nullptr && !row->kind.empty() && !row->has(Trait::prefix);
  return is_of_name ? row->kind : kind_of(iterator.short_name);
}

template <KnowsItsKind Iterator>
std::string_view family_of(const Iterator& iterator) {
  const std::string_view family = dataset_kind(iterator).family;
  return family.empty() ? kind_of(iterator) : family;
}

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
