#include "tree/logical_iterators.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "trace/event_kind.h"
#include "tree/dataset_kinds.h"
#include "tree/recreated_pipelines.h"

namespace doctor {
namespace {

using Token = std::uint64_t;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// What tells one logical iterator from another: the pipeline (one life of it, the first where it is iterated anew; all
/// of a trace without ids are one), the folded long name, and which input it is of each Zip above it whose inputs the
/// names do not tell apart.
using LogicalKey = std::tuple<std::size_t, std::string, std::vector<std::size_t>>;

/// Longest chain of parents that is followed, and the deepest place in a tree: a trace may hold a cycle of parent ids,
/// or a chain of a hundred thousand. Real pipelines are less than a hundred deep.
constexpr std::size_t kLongestChain = 256;

/// A hash of every prefix of a long name that ends with one of its parts, with and without the element index at its
/// end. One pass over the name: it may have a hundred thousand parts.
struct NamePrefix {
  std::size_t length = 0;
  std::uint64_t hash = 0;
};

class NamePrefixes {
 public:
  explicit NamePrefixes(std::string_view name) {
    std::size_t open = kNone;  // of the last '[' in this part
    std::uint64_t hash_before_open = 0;
    for (std::size_t index = 0; index <= name.size(); ++index) {
      if (index == name.size() || name.substr(index, 2) == "::") {
        const bool has_index = open != kNone && index > 0 && name[index - 1] == ']';
        if (has_index) prefixes_.push_back({open, hash_before_open});
        prefixes_.push_back({index, hash_});
        open = kNone;
      }
      if (index == name.size()) break;
      if (name[index] == '[') {
        open = index;
        hash_before_open = hash_;
      }
      add(name[index]);
    }
  }

  /// From the shortest to the longest; the last is the whole name, with what `of_whole_name` says.
  const std::vector<NamePrefix>& all() const { return prefixes_; }
  std::uint64_t of_whole_name() const { return hash_; }

 private:
  /// FNV-1a; a match is compared anyway.
  void add(char byte) {
    constexpr std::uint64_t kPrime = 0x100000001b3;
    hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * kPrime;
  }

  std::vector<NamePrefix> prefixes_;
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

/// The part of a tf.function's loop over a dataset that is tf.data's too: `for x in dataset` becomes
/// `dataset.scan(body).reduce(…)`, so the loop's body is the function of a Scan, and what that asks for is what the
/// loop waits for. True for the long name of that input.
bool is_input_of_function_loop(std::string_view long_name) {
  if (!is_in_reduce(long_name)) return false;
  const std::size_t last = long_name.rfind("::");
  const std::string_view above = long_name.substr(0, last);
  if (short_name_of(above) != "Scan") return false;
  for (std::size_t begin = above.find("::") + 2; begin < above.size();) {
    const std::size_t end = std::min(above.find("::", begin), above.size());
    const std::string_view part = without_element_index(above.substr(begin, end - begin));
    const bool is_of_loop = dataset_kind(part).has(Trait::frame) || part == "Prefetch" || part == "TakeWhile";
    if (end < above.size() && !is_of_loop) return false;
    begin = end + 2;
  }
  return true;
}

class LogicalIteratorBuilder {
 public:
  LogicalIteratorBuilder(const Trace& trace, IteratorForest& forest) : trace_(trace), forest_(forest) {}

  void build();

 private:
  const IteratorInstance& instance(InstanceId id) const { return trace_.instances[index_of(id)]; }
  void order_by_appearance();
  void find_parents();
  void find_outermost();
  void find_pipelines();
  std::vector<PipelineLife> describe_lives() const;
  std::uint32_t making_of(InstanceId outermost) const;
  void number_unnamed_inputs();
  std::vector<std::size_t> branches_of(InstanceId id) const;
  void add_instance(InstanceId id);
  IteratorId parent_by_id(const LogicalIterator& iterator) const;
  IteratorId parent_by_name(IteratorId iterator) const;
  void link_parents();
  void find_roots();
  void find_loops();
  void choose_names();

  const Trace& trace_;
  IteratorForest& forest_;
  std::vector<InstanceId> by_appearance_;
  std::vector<std::string> folded_names_;   ///< indexed by InstanceId
  std::vector<InstanceId> parents_;         ///< indexed by InstanceId: what calls it; kNoInstance for outermost ones
  std::vector<bool> is_loop_input_;         ///< indexed by InstanceId: see is_input_of_function_loop()
  std::vector<InstanceId> outermost_;       ///< indexed by InstanceId: where its tree begins
  std::vector<std::size_t> pipelines_;      ///< indexed by InstanceId; a recreated one is its first
  std::vector<std::size_t> input_numbers_;  ///< indexed by InstanceId: which input of its Zip it is; kNone for most
  std::map<LogicalKey, IteratorId> iterator_of_key_;
  std::vector<const LogicalKey*> keys_;  ///< indexed by IteratorId
  std::map<std::pair<std::size_t, std::uint64_t>, IteratorId>
      first_of_name_;  ///< by pipeline and hash of the folded name
  /// By hash of the folded name: the first iterator that has it, and how many do.
  std::unordered_map<std::uint64_t, std::pair<IteratorId, std::size_t>> all_of_name_;
};

void LogicalIteratorBuilder::order_by_appearance() {
  // In time, not in the file: the same trace with its events permuted gives the same forest.
  for (std::size_t index = 0; index < trace_.instances.size(); ++index) {
    by_appearance_.push_back(static_cast<InstanceId>(index));
    folded_names_.push_back(fold_like_elements(trace_.strings[trace_.instances[index].long_name]));
    is_loop_input_.push_back(is_input_of_function_loop(folded_names_.back()));
  }
  std::sort(by_appearance_.begin(), by_appearance_.end(), [this](InstanceId a, InstanceId b) {
    const IteratorInstance& left = instance(a);
    const IteratorInstance& right = instance(b);
    if (left.first_start != right.first_start) return left.first_start < right.first_start;
    const std::string_view left_name = trace_.strings[left.long_name];
    const std::string_view right_name = trace_.strings[right.long_name];
    return left_name != right_name ? left_name < right_name : left.id < right.id;
  });
}

/// An id may have stood for several objects: the parent is the one that was made last when the instance appeared, or
/// the first if the calls of that are cut off.
void LogicalIteratorBuilder::find_parents() {
  std::unordered_map<Token, std::vector<InstanceId>> instances_of_id;  // by appearance
  for (const InstanceId id : by_appearance_) {
    if (instance(id).id) instances_of_id[*instance(id).id].push_back(id);
  }
  parents_.assign(trace_.instances.size(), kNoInstance);
  for (const InstanceId id : by_appearance_) {
    const IteratorInstance& child = instance(id);
    const auto found = child.parent_id ? instances_of_id.find(*child.parent_id) : instances_of_id.end();
    if (found == instances_of_id.end()) continue;
    const std::vector<InstanceId>& alike = found->second;
    auto later =
        std::upper_bound(alike.begin(), alike.end(), child.first_start,
                         [&](Picoseconds start, InstanceId other) { return start < instance(other).first_start; });
    if (later != alike.begin()) --later;
    if (*later != id) parents_[index_of(id)] = *later;
  }
}

/// Where the tree of each instance begins, as far as calls of it were seen. One that leads up to another takes over its
/// answer: a chain may be a hundred thousand long.
void LogicalIteratorBuilder::find_outermost() {
  outermost_.assign(trace_.instances.size(), kNoInstance);
  std::vector<InstanceId> chain;
  for (const InstanceId start : by_appearance_) {
    chain.clear();
    InstanceId id = start;
    while (outermost_[index_of(id)] == kNoInstance && chain.size() < kLongestChain) {
      chain.push_back(id);
      if (is_loop_input_[index_of(id)] || parents_[index_of(id)] == kNoInstance) break;
      id = parents_[index_of(id)];
    }
    const InstanceId known = outermost_[index_of(id)];
    for (const InstanceId below : chain) outermost_[index_of(below)] = known == kNoInstance ? id : known;
  }
}

std::uint32_t LogicalIteratorBuilder::making_of(InstanceId outermost) const {
  InstanceId id = outermost;
  for (std::size_t steps = 0; steps < kLongestChain && parents_[index_of(id)] != kNoInstance; ++steps) {
    id = parents_[index_of(id)];
  }
  return instance(id).making;
}

std::vector<PipelineLife> LogicalIteratorBuilder::describe_lives() const {
  std::vector<PipelineLife> lives;
  std::vector<std::size_t> dataset_depths;  // parts of the name of the iterator that has the node
  for (const InstanceId id : by_appearance_) {
    const std::size_t pipeline = pipelines_[index_of(id)];
    const IteratorInstance& member = instance(id);
    if (pipeline >= lives.size()) {
      lives.resize(pipeline + 1);
      dataset_depths.resize(pipeline + 1, kNone);
    }
    PipelineLife& life = lives[pipeline];
    const bool is_first = life.names.empty();
    life.all.start = is_first ? member.first_start : std::min(life.all.start, member.first_start);
    life.all.end = is_first ? member.last_start : std::max(life.all.end, member.last_start);
    const std::string& name = folded_names_[index_of(id)];
    life.names.push_back(name);
    if (outermost_[index_of(id)] == id && !member.parent_id == !is_loop_input_[index_of(id)]) {
      life.root_calls = member.event_count;
      life.roots = {member.first_start, member.last_start};
      const std::uint32_t making = making_of(id);
      if (making != kNoMaking) life.making = trace_.makings[making];
    }
    // Nodes of what a function makes for each element are new each time; those that the optimizer put in are alike in
    // all pipelines.
    const std::string_view dataset = trace_.strings[member.dataset_name];
    const bool tells_apart = dataset.find(':') != std::string_view::npos && !dataset.starts_with("inject/");
    const bool is_static = name == trace_.strings[member.long_name];
    if (tells_apart && is_static && name.size() < dataset_depths[pipeline]) {
      life.dataset = dataset;
      dataset_depths[pipeline] = name.size();
    }
  }
  for (PipelineLife& life : lives) {
    std::sort(life.names.begin(), life.names.end());
    life.names.erase(std::unique(life.names.begin(), life.names.end()), life.names.end());
    if (life.root_calls == 0) life.roots = life.all;
  }
  return lives;
}

/// The pipeline of each instance, and how many times it was iterated before.
void LogicalIteratorBuilder::find_pipelines() {
  constexpr std::size_t kWithoutIds = 0;
  std::size_t count = 1;
  std::unordered_map<Token, std::size_t> of_unseen;  // by the id of an outermost iterator of which no call was seen
  std::vector<std::size_t> of_seen(trace_.instances.size(), kNone);
  pipelines_.assign(trace_.instances.size(), kWithoutIds);
  for (const InstanceId id : by_appearance_) {
    const InstanceId outermost = outermost_[index_of(id)];
    const IteratorInstance& top = instance(outermost);
    const bool is_seen = !top.parent_id || is_loop_input_[index_of(outermost)];
    if (is_seen && !top.id) continue;
    std::size_t& pipeline =
        is_seen ? of_seen[index_of(outermost)] : of_unseen.try_emplace(*top.parent_id, kNone).first->second;
    if (pipeline == kNone) pipeline = count++;
    pipelines_[index_of(id)] = pipeline;
  }
  const std::vector<PipelineLife> lives = describe_lives();
  if (lives.size() < 3) return;  // none with ids, or one
  const std::vector<Iteration> iterations = find_recreated_pipelines(std::span(lives).subspan(1));
  const bool is_any_recreated = std::any_of(iterations.begin(), iterations.end(),
                                            [](const Iteration& iteration) { return iteration.number > 0; });
  if (!is_any_recreated) return;
  forest_.iteration_of_instance.assign(trace_.instances.size(), 0);
  for (std::size_t index = 0; index < pipelines_.size(); ++index) {
    if (pipelines_[index] == kWithoutIds) continue;
    const Iteration& iteration = iterations[pipelines_[index] - 1];
    pipelines_[index] = iteration.pipeline + 1;
    forest_.iteration_of_instance[index] = iteration.number;
  }
}

/// TensorFlow before 2.5 or so gives the inputs of a Zip the same long name: number them by first appearance.
void LogicalIteratorBuilder::number_unnamed_inputs() {
  input_numbers_.assign(trace_.instances.size(), kNone);
  std::map<std::pair<InstanceId, std::string_view>, std::vector<InstanceId>> inputs;  // by parent and folded name
  std::unordered_map<Token, std::size_t> numbers_of_ids;
  for (const InstanceId id : by_appearance_) {
    const InstanceId parent = parents_[index_of(id)];
    if (parent == kNoInstance || !instance(id).id) continue;
    const std::string_view kind = short_name_of(trace_.strings[instance(parent).long_name]);
    if (kind != "Zip" && kind != "Concatenate" && kind != "DirectedInterleave" && kind != "ChooseFastest") continue;
    inputs[{parent, folded_names_[index_of(id)]}].push_back(id);
  }
  for (const auto& [place, alike] : inputs) {
    numbers_of_ids.clear();
    for (const InstanceId id : alike) numbers_of_ids.try_emplace(*instance(id).id, numbers_of_ids.size());
    if (numbers_of_ids.size() < 2) continue;
    for (const InstanceId id : alike) input_numbers_[index_of(id)] = numbers_of_ids[*instance(id).id];
  }
}

std::vector<std::size_t> LogicalIteratorBuilder::branches_of(InstanceId id) const {
  std::vector<std::size_t> branches;
  for (std::size_t steps = 0; id != kNoInstance && steps < kLongestChain; ++steps) {
    if (input_numbers_[index_of(id)] != kNone) branches.push_back(input_numbers_[index_of(id)]);
    id = parents_[index_of(id)];
  }
  return branches;
}

void LogicalIteratorBuilder::add_instance(InstanceId id) {
  const std::string& folded = folded_names_[index_of(id)];
  LogicalKey key{pipelines_[index_of(id)], folded, branches_of(id)};
  const auto [place, is_new] =
      iterator_of_key_.try_emplace(std::move(key), static_cast<IteratorId>(forest_.iterators.size()));
  if (is_new) {
    LogicalIterator iterator;
    iterator.long_name = folded;
    iterator.short_name = short_name_of(folded);
    iterator.is_async = dataset_kind(iterator.short_name).has(Trait::async);
    forest_.iterators.push_back(std::move(iterator));
    keys_.push_back(&place->first);
    const std::uint64_t hash = NamePrefixes(folded).of_whole_name();
    first_of_name_.try_emplace({pipelines_[index_of(id)], hash}, place->second);
    ++all_of_name_.try_emplace(hash, place->second, 0).first->second.second;
  }
  forest_.iterator_of_instance[index_of(id)] = place->second;
  LogicalIterator& iterator = forest_.iterators[index_of(place->second)];
  iterator.instances.push_back(id);
  iterator.call_count += instance(id).event_count;
  if (iterator.dataset_name.empty()) iterator.dataset_name = trace_.strings[instance(id).dataset_name];
}

IteratorId LogicalIteratorBuilder::parent_by_id(const LogicalIterator& iterator) const {
  const InstanceId parent = parents_[index_of(iterator.instances.front())];
  return parent == kNoInstance ? kNoIterator : forest_.iterator_of_instance[index_of(parent)];
}

/// The iterator of the longest proper prefix of the long name in the same pipeline: its calls may have been seen
/// although the call that encloses this one was cut off by the window, and TF1 timelines have no ids at all. Where the
/// calls of the parent end after the window, its parent id leads nowhere: then in any pipeline, if only one iterator
/// of the trace has that name.
IteratorId LogicalIteratorBuilder::parent_by_name(IteratorId iterator) const {
  const LogicalKey& key = *keys_[index_of(iterator)];
  const std::string& folded = std::get<1>(key);
  const bool has_parent_id = instance(forest_[iterator].instances.front()).parent_id.has_value();
  IteratorId in_any_pipeline = kNoIterator;
  bool is_any_decided = false;
  const std::size_t separator = folded.rfind("::");
  const NamePrefixes prefixes(folded);
  for (auto prefix = prefixes.all().rbegin(); prefix != prefixes.all().rend(); ++prefix) {
    if (separator == std::string::npos || prefix->length > separator) continue;
    const auto is_prefix = [&](IteratorId id) {
      return std::string_view(std::get<1>(*keys_[index_of(id)])) == std::string_view(folded).substr(0, prefix->length);
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
    if (is_loop_input_[index_of(iterator.instances.front())]) continue;
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
      IteratorId& parent = forest_.iterators[index_of(id)].parent;
      if (parent != kNoIterator && states[index_of(parent)] == State::below) parent = kNoIterator;
      id = parent;
    }
    for (; !chain.empty(); chain.pop_back()) {
      LogicalIterator& iterator = forest_.iterators[index_of(chain.back())];
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
      forest_.iterators[index_of(parent)].children.push_back(id);
    }
  }
}

/// Outermost iterators that an op consumes; the part of a loop in a tf.function that stands above its Scan is the loop.
void LogicalIteratorBuilder::find_loops() {
  std::unordered_set<IteratorId> loops;
  for (std::size_t index = 0; index < is_loop_input_.size(); ++index) {
    const InstanceId scan = is_loop_input_[index] ? parents_[index] : kNoInstance;
    if (scan != kNoInstance) loops.insert(forest_[forest_.iterator_of_instance[index_of(scan)]].root);
  }
  for (const IteratorId root : forest_.roots) {
    if (is_loop_iterator(forest_[root].long_name) && !loops.contains(root)) forest_.loop_roots.push_back(root);
  }
}

/// A logical iterator of one long name keeps it as it is; its attributes are the latest of its instances.
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
  order_by_appearance();
  find_parents();
  find_outermost();
  find_pipelines();
  number_unnamed_inputs();
  forest_.iterator_of_instance.assign(trace_.instances.size(), kNoIterator);
  for (const InstanceId id : by_appearance_) add_instance(id);
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
