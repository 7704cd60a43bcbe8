#pragma once

#include "base/hash.h"
#include "base/time.h"
#include "base/work.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The fnv1a_64() of every prefix of a long name that ends with one of its parts, with and without the element index at
/// its end. They are computed in one pass, because a name may have a hundred thousand parts.
struct NamePrefix {
  std::size_t length = 0;
  std::uint64_t hash = 0;
};

class NamePrefixes {
 public:
  explicit NamePrefixes(std::string_view name) {
    constexpr std::size_t kNone = std::string_view::npos;
    constexpr std::size_t kUsualParts = 16;
    prefixes_.reserve(kUsualParts);
    std::size_t open = kNone;  // the place of the last '[' in this part
    std::uint64_t hash = kEmptyHash;
    std::uint64_t hash_before_open = 0;
    for (std::size_t index = 0; index <= name.size(); ++index) {
      if (index == name.size() || name.substr(index, 2) == "::") {
        const bool has_index = open != kNone && index > 0 && name[index - 1] == ']';
        if (has_index) prefixes_.push_back({open, hash_before_open});
        prefixes_.push_back({index, hash});
        open = kNone;
      }
      if (index == name.size()) break;
      if (name[index] == '[') {
        open = index;
        hash_before_open = hash;
      }
      hash = hash_with(hash, static_cast<unsigned char>(name[index]));  // collisions do no harm: matches are compared
    }
  }

  /// All prefixes from the shortest to the longest, which is the whole name.
  const std::vector<NamePrefix>& all() const { return prefixes_; }

 private:
  std::vector<NamePrefix> prefixes_;
};

inline constexpr std::size_t kNoInput = static_cast<std::size_t>(-1);

/// The longest chain of parents that is followed, and the greatest depth of a tree: a trace may hold a cycle of parent
/// ids, or a chain of a hundred thousand. Real pipelines are less than a hundred deep.
inline constexpr std::size_t kLongestChain = 256;

/// The parents and pipelines of a trace's instances. Indexed by InstanceId unless stated otherwise.
struct InstanceTree {
  std::vector<InstanceId> by_appearance;  ///< all instances in the order in which they appear in time, not in the file
  /// Long names without the indices of like elements. Most are as in the trace, which outlives the tree; the others are
  /// in `changed_names`.
  std::vector<std::string_view> folded_names;
  std::deque<std::string> changed_names;  ///< in no order
  std::vector<InstanceId> parents;        ///< the instance that calls it; kNoInstance for an outermost one
  /// the input of the Scan that a loop in a tf.function takes its elements from
  std::vector<bool> is_loop_input;
  /// number of its pipeline; a recreated pipeline has that of its first life. 0: all instances of a trace without ids
  std::vector<std::size_t> pipelines;
  std::vector<std::size_t> input_numbers;  ///< the number of the input of a Zip that it is; kNoInput for most
  /// The number of earlier iterations of its pipeline. Empty if no pipeline was iterated before.
  std::vector<std::uint32_t> iterations;
};

InstanceTree find_instance_tree(const Trace& trace);

/// What the trace shows of one pipeline from its creation to its end: all instances below one outermost instance.
struct PipelineLife {
  std::optional<PipelineMaking> making;  ///< set if the window shows it
  std::uint64_t root_calls = 0;          ///< calls of the outermost iterator
  Interval roots{};                      ///< from their first start to their last
  Interval all{};                        ///< likewise of all its iterators
  std::vector<std::string_view> names;   ///< long names with the indices of like elements dropped; sorted, each once
  /// The node of the dataset graph that distinguishes the datasets of a program, "BatchDatasetV2:4". It is that of the
  /// outermost iterator that has one; empty if the trace has none.
  std::string_view dataset;
};

/// The pipeline that a life belongs to, and the number of lives before it.
struct Iteration {
  std::size_t pipeline = 0;  ///< index of its first life
  std::uint32_t number = 0;

  friend bool operator==(const Iteration&, const Iteration&) = default;
};

/// Finds the lives that are one pipeline iterated anew. `for x in dataset` and the validation of Keras make one in
/// every epoch, and `next(iter(dataset))` in every step.
///
/// Such lives have the same transformations, and each is made after the consumer asked the one before for its last
/// element. Replicas of a distribution strategy have the same transformations too, but are all made before any is
/// asked. If the window shows no creation, both must have two calls of their roots or more, and no call at a common
/// time. Training and validation with the same transformations are told apart by the nodes of their datasets, if these
/// recur; a program that builds its dataset anew for each epoch has new nodes each time.
///
/// The result is indexed as `lives`.
std::vector<Iteration> find_recreated_pipelines(std::span<const PipelineLife> lives);

/// The first half of build_tree(): logical iterators with names, instances, parents, children and roots. Their calls
/// are still empty.
void build_logical_iterators(const Trace& trace, IteratorForest& forest);

/// Finds the background work: calls that no other iterator call encloses and that are not the consumer's. Fills
/// LogicalIterator::top_calls and block_latest_end, and IteratorForest::loose_root_calls. The iterators must exist.
void collect_outermost_calls(const Trace& trace, IteratorForest& forest, const WorkOptions& work);

}  // namespace doctor
