#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// Where a source dataset takes its elements from.
enum class Source : std::uint8_t {
  none,     ///< it is not a source: it transforms an input
  files,    ///< files, or a remote store
  service,  ///< workers of the tf.data service
  memory,   ///< tensors that the program holds
  numbers,  ///< it computes them
  python,   ///< a Python generator of the user, or the host pipeline of a device pipeline
};

/// What holds of a kind of dataset. Traits are combined with `|`.
enum class Trait : std::uint32_t {
  none = 0,
  /// Kinds that begin with this name are like it: a package has many of them.
  prefix = 1U << 0U,
  /// Its input runs on other threads than its GetNext, so that a call of it may wait for them.
  async = 1U << 1U,
  /// It works on several elements at once, on threads of this host.
  parallel = 1U << 2U,
  /// Its threads run a function of the user for its elements.
  dispatches_function = 1U << 3U,
  /// GetNext waits for a run of its function on another thread. (The function of a parallel interleave only makes
  /// datasets; GetNext waits for the iterators of these.)
  waits_for_function = 1U << 4U,
  /// A map and the batch after it in one.
  fused_batch = 1U << 5U,
  /// Its function makes a dataset for each element: what stands inside is made anew again and again.
  makes_datasets = 1U << 6U,
  /// The element index after it in a long name counts elements that are alike (files of an interleave, epochs of a
  /// repeat), so that iterators that differ only in it are one. Inputs of Zip and Concatenate are not alike.
  like_elements = 1U << 7U,
  /// The runtime's frame, or it only counts elements: it does no work of its own.
  frame = 1U << 8U,
  /// Not a frame, but its elements leave it as they came.
  passes_on = 1U << 9U,
  /// It keeps elements for later epochs, or is a part of what does.
  cache = 1U << 10U,
  shuffle = 1U << 11U,  ///< fused with a repeat or not
  repeat = 1U << 12U,   ///< fused with a shuffle or not
  /// Its elements never end.
  endless = 1U << 13U,
  /// The user asked for its elements to stay in memory.
  buffer = 1U << 14U,
  /// Elements may leave it larger than they came.
  may_enlarge = 1U << 15U,
  /// It runs a function of the user, whose result is worth keeping. What only puts elements together (Batch, Scan) is
  /// not; what reads files always is.
  worth_caching = 1U << 16U,
  /// It has several inputs, which TensorFlow before 2.5 or so gives the same long name.
  several_inputs = 1U << 17U,
};

constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

/// All that is known about a kind of dataset.
struct DatasetKind {
  std::string_view kind;   ///< the short name without its version: "ParallelMap"
  std::string_view words;  ///< what it is called in the Python API; empty if it has no name there
  Trait traits = Trait::none;
  std::string_view family = {};  ///< empty if it is the kind; see family_of()
  Source source = Source::none;
  /// Python: of a source of files the expression that makes it of one file name; of what works on one element after
  /// another by its nature the user's call. Empty for others.
  std::string_view code = {};
  /// The attribute that says how many elements its buffer may hold; empty if it has no buffer that can be tuned.
  std::string_view buffer_limit = {};

  constexpr bool has(Trait trait) const {
    return (static_cast<std::uint32_t>(traits) & static_cast<std::uint32_t>(trait)) != 0;
  }
  bool is_source() const { return source != Source::none; }
  bool reads_files() const { return source == Source::files || source == Source::service; }
};

/// The row of a short name of any version. For a kind that the table does not have, a row without a name, words or any
/// property.
const DatasetKind& dataset_kind(std::string_view short_name);

/// The kind of a short name: without the version that the runtime appends, "ParallelMapV2" -> "ParallelMap",
/// "ParallelInterleaveDatasetV4" -> "ParallelInterleave".
std::string_view kind_of(std::string_view short_name);

/// What a kind of dataset does, whatever its form: "Map" for Map, ParallelMap and MapAndBatch, "Cache" for all the
/// iterators of a cache, "Root" for the runtime's outermost iterator; for most kinds the kind itself.
std::string_view family_of(std::string_view short_name);

/// An iterator that keeps the row of its kind, or null where that is still to be looked up: of a trace there are few,
/// and all that is asked of them, asked often.
template <typename T>
concept KnowsItsKind = requires(const T& iterator) {
  { iterator.kind } -> std::convertible_to<const DatasetKind*>;
  { iterator.short_name } -> std::convertible_to<std::string_view>;
};

// The same of an iterator.

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
  const DatasetKind* const row = iterator.kind;  // not of this name where it is one of kinds that begin alike
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

/// The datasets that TF's graph optimiser made one of, in the order of the user's code:
/// "fused(fused(a,MapDataset:2),b)" -> a, MapDataset:2, b. One for what is not fused.
std::vector<std::string_view> fused_parts(std::string_view dataset_name);

/// The last part of a long name without its element index: "Iterator::Root::Zip[1]::Map[0]" -> "Map".
std::string_view short_name_of(std::string_view long_name);

/// Whether the iterator is below the one of Dataset.reduce(): also what `for x in dataset` in a tf.function becomes.
bool is_in_reduce(std::string_view long_name);

/// A long name with the indices of like elements dropped:
/// "Iterator::Root::ForeverRepeat[7]::Zip[1]::Map" -> "Iterator::Root::ForeverRepeat::Zip[1]::Map".
std::string fold_like_elements(std::string_view long_name);

}  // namespace doctor
