#include "tree/logical_iterators.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "tree/dataset_kind.h"
#include "tree/recreated_pipelines.h"

namespace doctor {
namespace {

using Token = std::uint64_t;

/// What tells one logical iterator from another: the pipeline (id of its outermost iterator, the first of them where it
/// is iterated anew, 0 where the trace has no ids), the folded long name, and which input it is of each Zip above it
/// whose inputs the names do not tell apart.
using LogicalKey = std::tuple<Token, std::string, std::vector<std::size_t>>;

/// Longest chain of parents that is followed: a trace may hold a cycle of parent ids.
constexpr std::size_t kLongestChain = 256;

class LogicalIteratorBuilder {
 public:
  LogicalIteratorBuilder(const Trace& trace, IteratorForest& forest) : trace_(trace), forest_(forest) {}

  void build();

 private:
  const IteratorInstance* find(std::optional<Token> id) const;
  void find_pipelines();
  Token root_of(const IteratorInstance& instance) const;
  void number_unnamed_inputs();
  std::vector<std::size_t> branches_of(const IteratorInstance& instance) const;
  void add_instance(InstanceId id);
  IteratorId parent_by_id(const LogicalIterator& iterator) const;
  IteratorId parent_by_name(IteratorId iterator) const;
  IteratorId parent_in_only_pipeline(IteratorId iterator) const;
  void link_parents();
  void find_roots();
  void choose_names();

  const Trace& trace_;
  IteratorForest& forest_;
  std::vector<InstanceId> by_appearance_;
  std::unordered_map<Token, InstanceId> instance_of_id_;
  std::vector<std::string> folded_names_;                ///< indexed by InstanceId
  std::vector<Token> pipelines_;                         ///< indexed by InstanceId; a recreated one is its first
  std::unordered_map<Token, std::size_t> input_number_;  ///< instance id -> which input of its Zip it is
  std::map<LogicalKey, IteratorId> iterator_of_key_;
  std::vector<LogicalKey> keys_;                                             ///< indexed by IteratorId
  std::map<std::pair<Token, std::string>, IteratorId> first_of_name_;        ///< pipeline and folded name -> iterator
  std::map<std::string, std::vector<IteratorId>, std::less<>> all_of_name_;  ///< folded name -> iterators
};

const IteratorInstance* LogicalIteratorBuilder::find(std::optional<Token> id) const {
  if (!id) return nullptr;
  const auto found = instance_of_id_.find(*id);
  return found == instance_of_id_.end() ? nullptr : &trace_.instances[index_of(found->second)];
}

/// The id of the outermost iterator above, even if only its id was seen and no call of it.
Token LogicalIteratorBuilder::root_of(const IteratorInstance& instance) const {
  const IteratorInstance* outermost = &instance;
  for (std::size_t steps = 0; steps < kLongestChain; ++steps) {
    const IteratorInstance* parent = find(outermost->parent_id);
    if (parent == nullptr) break;
    outermost = parent;
  }
  return outermost->parent_id ? *outermost->parent_id : outermost->id.value_or(0);
}

/// The pipeline of each instance, and how many times it was iterated before.
void LogicalIteratorBuilder::find_pipelines() {
  std::vector<PipelineMember> members;
  members.reserve(trace_.instances.size());
  for (std::size_t index = 0; index < trace_.instances.size(); ++index) {
    const IteratorInstance& instance = trace_.instances[index];
    members.push_back({root_of(instance), folded_names_[index], !instance.parent_id, instance.event_count,
                       instance.first_start, instance.last_start});
    pipelines_.push_back(members.back().pipeline);
  }
  const std::map<Token, Iteration> recreated = find_recreated_pipelines(members);
  if (recreated.empty()) return;
  forest_.iteration_of_instance.assign(trace_.instances.size(), 0);
  for (std::size_t index = 0; index < pipelines_.size(); ++index) {
    const auto found = recreated.find(pipelines_[index]);
    if (found == recreated.end()) continue;
    pipelines_[index] = found->second.pipeline;
    forest_.iteration_of_instance[index] = found->second.number;
  }
}

/// TensorFlow before 2.5 or so gives the inputs of a Zip the same long name: number them by first appearance.
void LogicalIteratorBuilder::number_unnamed_inputs() {
  std::map<std::pair<Token, std::string>, std::vector<Token>> inputs;  // (parent id, folded name) -> instance ids
  for (const InstanceId id : by_appearance_) {
    const IteratorInstance& instance = trace_.instances[index_of(id)];
    const IteratorInstance* parent = find(instance.parent_id);
    if (parent == nullptr || !instance.id) continue;
    const std::string_view kind = short_name_of(trace_.strings[parent->long_name]);
    if (kind != "Zip" && kind != "Concatenate" && kind != "DirectedInterleave" && kind != "ChooseFastest") continue;
    std::vector<Token>& alike = inputs[{*instance.parent_id, folded_names_[index_of(id)]}];
    if (std::find(alike.begin(), alike.end(), *instance.id) == alike.end()) alike.push_back(*instance.id);
  }
  for (const auto& [place, alike] : inputs) {
    for (std::size_t number = 0; alike.size() > 1 && number < alike.size(); ++number) {
      input_number_[alike[number]] = number;
    }
  }
}

std::vector<std::size_t> LogicalIteratorBuilder::branches_of(const IteratorInstance& instance) const {
  std::vector<std::size_t> branches;
  const IteratorInstance* above = &instance;
  for (std::size_t steps = 0; above != nullptr && steps < kLongestChain; ++steps) {
    const auto numbered = above->id ? input_number_.find(*above->id) : input_number_.end();
    if (numbered != input_number_.end()) branches.push_back(numbered->second);
    above = find(above->parent_id);
  }
  return branches;
}

void LogicalIteratorBuilder::add_instance(InstanceId id) {
  const IteratorInstance& instance = trace_.instances[index_of(id)];
  const std::string& folded = folded_names_[index_of(id)];
  LogicalKey key{pipelines_[index_of(id)], folded, branches_of(instance)};
  const auto [place, is_new] =
      iterator_of_key_.try_emplace(std::move(key), static_cast<IteratorId>(forest_.iterators.size()));
  if (is_new) {
    LogicalIterator iterator;
    iterator.long_name = folded;
    iterator.short_name = short_name_of(folded);
    iterator.is_async = is_asynchronous(iterator.short_name);
    forest_.iterators.push_back(std::move(iterator));
    keys_.push_back(place->first);
    first_of_name_.try_emplace({std::get<0>(place->first), folded}, place->second);
    all_of_name_[folded].push_back(place->second);
  }
  forest_.iterator_of_instance[index_of(id)] = place->second;
  LogicalIterator& iterator = forest_.iterators[index_of(place->second)];
  iterator.instances.push_back(id);
  iterator.call_count += instance.event_count;
  if (iterator.dataset_name.empty()) iterator.dataset_name = trace_.strings[instance.dataset_name];
}

IteratorId LogicalIteratorBuilder::parent_by_id(const LogicalIterator& iterator) const {
  const IteratorInstance& first = trace_.instances[index_of(iterator.instances.front())];
  const auto found = first.parent_id ? instance_of_id_.find(*first.parent_id) : instance_of_id_.end();
  return found == instance_of_id_.end() ? kNoIterator : forest_.iterator_of_instance[index_of(found->second)];
}

/// The iterator of the longest proper prefix of the long name: its calls may have been seen although the call that
/// encloses this one was cut off by the window, and TF1 timelines have no ids at all.
IteratorId LogicalIteratorBuilder::parent_by_name(IteratorId iterator) const {
  const auto& [pipeline, folded, branches] = keys_[index_of(iterator)];
  std::string_view prefix = folded;
  for (std::size_t end = prefix.rfind("::"); end != std::string_view::npos && end > 0; end = prefix.rfind("::")) {
    prefix = prefix.substr(0, end);
    for (const std::string_view name : {prefix, prefix.substr(0, prefix.rfind('['))}) {
      const auto found = first_of_name_.find({pipeline, std::string(name)});
      if (found != first_of_name_.end() && found->second != iterator) return found->second;
    }
  }
  return kNoIterator;
}

/// Where the calls of an iterator's parent end behind the window, its parent id leads nowhere. Its long name still says
/// what it stands below, as long as only one iterator of the trace has that name.
IteratorId LogicalIteratorBuilder::parent_in_only_pipeline(IteratorId iterator) const {
  const InstanceId first = forest_[iterator].instances.front();
  if (!trace_.instances[index_of(first)].parent_id) return kNoIterator;
  std::string_view prefix = std::get<1>(keys_[index_of(iterator)]);
  for (std::size_t end = prefix.rfind("::"); end != std::string_view::npos && end > 0; end = prefix.rfind("::")) {
    prefix = prefix.substr(0, end);
    const auto found = all_of_name_.find(prefix);
    if (found == all_of_name_.end()) continue;
    return found->second.size() == 1 ? found->second.front() : kNoIterator;
  }
  return kNoIterator;
}

void LogicalIteratorBuilder::link_parents() {
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    const auto id = static_cast<IteratorId>(index);
    LogicalIterator& iterator = forest_.iterators[index];
    iterator.parent = parent_by_id(iterator);
    if (iterator.parent == id || iterator.parent == kNoIterator) iterator.parent = parent_by_name(id);
    if (iterator.parent == kNoIterator) iterator.parent = parent_in_only_pipeline(id);
  }
}

/// From here on every iterator has a root, and parents form no cycle.
void LogicalIteratorBuilder::find_roots() {
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    std::set<IteratorId> below;
    auto id = static_cast<IteratorId>(index);
    while (forest_[id].parent != kNoIterator) {
      below.insert(id);
      if (below.contains(forest_[id].parent)) {
        forest_.iterators[index_of(id)].parent = kNoIterator;
        break;
      }
      id = forest_[id].parent;
      ++forest_.iterators[index].depth;
    }
    forest_.iterators[index].root = id;
  }
  for (std::size_t index = 0; index < forest_.iterators.size(); ++index) {
    const auto id = static_cast<IteratorId>(index);
    const IteratorId parent = forest_[id].parent;
    if (parent == kNoIterator) {
      forest_.roots.push_back(id);
    } else {
      forest_.iterators[index_of(parent)].children.push_back(id);
    }
  }
}

/// A logical iterator that stands for one long name keeps it as it is; its attributes are the latest of its instances.
void LogicalIteratorBuilder::choose_names() {
  for (LogicalIterator& iterator : forest_.iterators) {
    const StringId first_name = trace_.instances[index_of(iterator.instances.front())].long_name;
    bool has_one_name = true;
    for (const InstanceId id : iterator.instances) {
      const IteratorInstance& instance = trace_.instances[index_of(id)];
      has_one_name = has_one_name && instance.long_name == first_name;
      for (const Attribute& attribute : instance.attributes) {
        const auto known = std::find_if(iterator.attributes.begin(), iterator.attributes.end(),
                                        [&](const Attribute& other) { return other.name == attribute.name; });
        if (known == iterator.attributes.end()) {
          iterator.attributes.push_back(attribute);
        } else {
          *known = attribute;
        }
      }
    }
    if (has_one_name) iterator.long_name = trace_.strings[first_name];
    std::sort(iterator.attributes.begin(), iterator.attributes.end(),
              [&](const Attribute& a, const Attribute& b) { return trace_.strings[a.name] < trace_.strings[b.name]; });
  }
}

void LogicalIteratorBuilder::build() {
  // Order of appearance in time, not in the file: the same trace with its events permuted gives the same forest.
  for (std::size_t index = 0; index < trace_.instances.size(); ++index) {
    by_appearance_.push_back(static_cast<InstanceId>(index));
    folded_names_.push_back(fold_like_elements(trace_.strings[trace_.instances[index].long_name]));
  }
  std::sort(by_appearance_.begin(), by_appearance_.end(), [this](InstanceId a, InstanceId b) {
    const IteratorInstance& left = trace_.instances[index_of(a)];
    const IteratorInstance& right = trace_.instances[index_of(b)];
    if (left.first_start != right.first_start) return left.first_start < right.first_start;
    const std::string_view left_name = trace_.strings[left.long_name];
    const std::string_view right_name = trace_.strings[right.long_name];
    return left_name != right_name ? left_name < right_name : left.id < right.id;
  });
  for (const InstanceId id : by_appearance_) {
    const IteratorInstance& instance = trace_.instances[index_of(id)];
    if (instance.id) instance_of_id_.try_emplace(*instance.id, id);
  }
  find_pipelines();
  number_unnamed_inputs();
  forest_.iterator_of_instance.assign(trace_.instances.size(), kNoIterator);
  for (const InstanceId id : by_appearance_) add_instance(id);
  link_parents();
  find_roots();
  choose_names();
}

}  // namespace

void build_logical_iterators(const Trace& trace, IteratorForest& forest) {
  LogicalIteratorBuilder(trace, forest).build();
}

}  // namespace doctor
