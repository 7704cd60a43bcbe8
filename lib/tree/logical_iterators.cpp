#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "trace/event_kind.h"
#include "tree/dataset_kinds.h"
#include "tree/tree_passes.h"

namespace doctor {
namespace {

/// What tells one logical iterator from another: the pipeline (one life of it, the first where it is iterated anew; all
/// of a trace without ids are one), the folded long name, and which input it is of each Zip above it whose inputs the
/// names do not tell apart.
using LogicalKey = std::tuple<std::size_t, std::string_view, std::vector<std::size_t>>;

class LogicalIteratorBuilder {
 public:
  LogicalIteratorBuilder(const Trace& trace, IteratorForest& forest)
      : trace_(trace), forest_(forest), tree_(find_instance_tree(trace)) {}

  void build();

 private:
  const IteratorInstance& instance(InstanceId id) const { return trace_.instances[id]; }
  std::vector<std::size_t> branches_of(InstanceId id) const;
  void add_instance(InstanceId id);
  void join(InstanceId id, IteratorId iterator_id);
  IteratorId parent_by_id(const LogicalIterator& iterator) const;
  IteratorId parent_by_name(IteratorId iterator) const;
  void link_parents();
  void find_roots();
  void find_loops();
  void choose_names();

  const Trace& trace_;
  IteratorForest& forest_;
  const InstanceTree tree_;
  std::map<LogicalKey, IteratorId> iterator_of_key_;
  std::vector<const LogicalKey*> keys_;  ///< indexed by IteratorId
  std::map<std::pair<std::size_t, std::uint64_t>, IteratorId>
      first_of_name_;  ///< by pipeline and hash of the folded name
  /// By hash of the folded name: the first iterator that has it, and how many do.
  std::unordered_map<std::uint64_t, std::pair<IteratorId, std::size_t>> all_of_name_;
};

std::vector<std::size_t> LogicalIteratorBuilder::branches_of(InstanceId id) const {
  std::vector<std::size_t> branches;
  for (std::size_t steps = 0; id != kNoInstance && steps < kLongestChain; ++steps) {
    if (tree_.input_numbers[index_of(id)] != kNoInput) branches.push_back(tree_.input_numbers[index_of(id)]);
    id = tree_.parents[index_of(id)];
  }
  return branches;
}

void LogicalIteratorBuilder::add_instance(InstanceId id) {
  const std::string_view folded = tree_.folded_names[index_of(id)];
  LogicalKey key{tree_.pipelines[index_of(id)], folded, branches_of(id)};
  auto place = iterator_of_key_.find(key);
  if (place == iterator_of_key_.end() && forest_.iterators.size() == kMostIterators) {
    ++forest_.too_many;
    return join(id, static_cast<IteratorId>(kMostIterators - 1));
  }
  if (place == iterator_of_key_.end()) {
    place = iterator_of_key_.emplace(std::move(key), static_cast<IteratorId>(forest_.iterators.size())).first;
    LogicalIterator iterator;
    iterator.long_name = folded;
    iterator.short_name = short_name_of(folded);
    iterator.known_kind = &dataset_kind(iterator.short_name);
    iterator.is_async = iterator.has(Trait::async);
    forest_.iterators.push_back(std::move(iterator));
    keys_.push_back(&place->first);
    const std::uint64_t hash = fnv1a_64(folded);
    first_of_name_.try_emplace({tree_.pipelines[index_of(id)], hash}, place->second);
    ++all_of_name_.try_emplace(hash, place->second, 0).first->second.second;
  }
  join(id, place->second);
}

void LogicalIteratorBuilder::join(InstanceId id, IteratorId iterator_id) {
  forest_.iterator_of_instance[index_of(id)] = iterator_id;
  LogicalIterator& iterator = forest_.iterators[iterator_id];
  iterator.instances.push_back(id);
  iterator.call_count += instance(id).event_count;
  if (iterator.dataset_name.empty()) iterator.dataset_name = trace_.strings[instance(id).dataset_name];
}

IteratorId LogicalIteratorBuilder::parent_by_id(const LogicalIterator& iterator) const {
  const InstanceId parent = tree_.parents[index_of(iterator.instances.front())];
  return parent == kNoInstance ? kNoIterator : forest_.iterator_of_instance[index_of(parent)];
}

/// The iterator of the longest proper prefix of the long name in the same pipeline: its calls may have been seen
/// although the call that encloses this one was cut off by the window, and TF1 timelines have no ids at all. Where the
/// calls of the parent end after the window, its parent id leads nowhere: then in any pipeline, if only one iterator
/// of the trace has that name.
IteratorId LogicalIteratorBuilder::parent_by_name(IteratorId iterator) const {
  const LogicalKey& key = *keys_[index_of(iterator)];
  const std::string_view folded = std::get<1>(key);
  const bool has_parent_id = instance(forest_[iterator].instances.front()).parent_id.has_value();
  IteratorId in_any_pipeline = kNoIterator;
  bool is_any_decided = false;
  const std::size_t separator = folded.rfind("::");
  const NamePrefixes prefixes(folded);
  for (auto prefix = prefixes.all().rbegin(); prefix != prefixes.all().rend(); ++prefix) {
    if (separator == std::string_view::npos || prefix->length > separator) continue;
    const auto is_prefix = [&](IteratorId id) {
      return std::get<1>(*keys_[index_of(id)]) == folded.substr(0, prefix->length);
    };
    const auto here = first_of_name_.find({std::get<0>(key), prefix->hash});
    if (here != first_of_name_.end() && is_prefix(here->second)) return here->second;
    const auto anywhere = all_of_name_.find(prefix->hash);
    if (is_any_decided || anywhere == all_of_name_.end() || !is_prefix(anywhere->second.first)) continue;
    is_any_decided = true;
    if (anywhere->second.second == 1 && has_parent_id) in_any_pipeline = anywhere->second.first;
  }
  return in_any_pipeline;
}

void LogicalIteratorBuilder::link_parents() {
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    const auto id = static_cast<IteratorId>(index);
    LogicalIterator& iterator = forest_.iterators[index];
    if (tree_.is_loop_input[index_of(iterator.instances.front())]) continue;
    iterator.parent = parent_by_id(iterator);
    if (iterator.parent == id || iterator.parent == kNoIterator) iterator.parent = parent_by_name(id);
  }
}

/// From here on every iterator has a root, parents form no cycle, and no tree is deeper than kLongestChain.
void LogicalIteratorBuilder::find_roots() {
  enum class State : std::uint8_t { open, below, done };
  std::vector<State> states(forest_.iterators.size(), State::open);
  std::vector<IteratorId> chain;
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    chain.clear();
    for (auto id = static_cast<IteratorId>(index); id != kNoIterator && states[index_of(id)] == State::open;) {
      states[index_of(id)] = State::below;
      chain.push_back(id);
      IteratorId& parent = forest_.iterators[id].parent;
      if (parent != kNoIterator && states[index_of(parent)] == State::below) parent = kNoIterator;
      id = parent;
    }
    for (; !chain.empty(); chain.pop_back()) {
      LogicalIterator& iterator = forest_.iterators[chain.back()];
      states[index_of(chain.back())] = State::done;
      if (iterator.parent != kNoIterator && forest_[iterator.parent].depth == kLongestChain) {
        iterator.parent = forest_[iterator.parent].parent;
        ++forest_.too_deep;
      }
      const bool is_root = iterator.parent == kNoIterator;
      iterator.root = is_root ? chain.back() : forest_[iterator.parent].root;
      iterator.depth = is_root ? 0 : forest_[iterator.parent].depth + 1;
    }
  }
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    const auto id = static_cast<IteratorId>(index);
    const IteratorId parent = forest_[id].parent;
    if (parent == kNoIterator) {
      forest_.roots.push_back(id);
    } else {
      forest_.iterators[parent].children.push_back(id);
    }
  }
}

/// Outermost iterators that an op consumes; the part of a loop in a tf.function that stands above its Scan is the loop.
void LogicalIteratorBuilder::find_loops() {
  std::unordered_set<IteratorId> loops;
  for (std::size_t index = 0; index < tree_.is_loop_input.size(); ++index) {
    const InstanceId scan = tree_.is_loop_input[index] ? tree_.parents[index] : kNoInstance;
    if (scan != kNoInstance) loops.insert(forest_[forest_.iterator_of_instance[index_of(scan)]].root);
  }
  for (const IteratorId root : forest_.roots) {
    if (is_loop_iterator(forest_[root].long_name) && !loops.contains(root)) forest_.loop_roots.push_back(root);
  }
}

/// A logical iterator of one long name keeps it as it is; its attributes are the latest of its instances.
void LogicalIteratorBuilder::choose_names() {
  for (LogicalIterator& iterator : forest_.iterators) {
    const StringId first_name = trace_.instances[iterator.instances.front()].long_name;
    bool has_one_name = true;
    for (const InstanceId id : iterator.instances) {
      const IteratorInstance& instance = trace_.instances[id];
      has_one_name = has_one_name && instance.long_name == first_name;
      for (const Attribute& attribute : instance.attributes) {
        const auto known = std::find_if(iterator.attributes.begin(), iterator.attributes.end(),
                                        [&](const Attribute& other) { return other.name == attribute.name; });
        if (known == iterator.attributes.end()) {
          iterator.attributes.push_back(attribute);
        } else {
          known->take_later(attribute);
        }
      }
    }
    if (has_one_name) iterator.long_name = trace_.strings[first_name];
    std::sort(iterator.attributes.begin(), iterator.attributes.end(),
              [&](const Attribute& a, const Attribute& b) { return trace_.strings[a.name] < trace_.strings[b.name]; });
  }
}

void LogicalIteratorBuilder::build() {
  forest_.iteration_of_instance = tree_.iterations;
  forest_.iterator_of_instance.assign(trace_.instances.size(), kNoIterator);
  for (const InstanceId id : tree_.by_appearance) add_instance(id);
  link_parents();
  find_roots();
  choose_names();
  find_loops();
}

}  // namespace

void build_logical_iterators(const Trace& trace, IteratorForest& forest) {
  LogicalIteratorBuilder(trace, forest).build();
}

}  // namespace doctor
