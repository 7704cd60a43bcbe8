#include <unordered_map>

#include "trace/event_kind.h"
#include "trace/source_lines.h"
#include "tree/dataset_kinds.h"
#include "tree/tree_passes.h"

namespace doctor {
namespace {

using Token = std::uint64_t;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// The part of a tf.function's loop over a dataset that is tf.data's too: `for x in dataset` becomes
/// `dataset.scan(body).reduce(…)`, so the loop's body is the function of a Scan, and what that asks for is what the
/// loop waits for. True for the long name of that input.
bool says_line(std::string_view dataset_name) {
  const std::vector<std::string_view> parts = fused_parts(dataset_name);
  return std::any_of(parts.begin(), parts.end(), [](std::string_view part) { return line_of_name(part).has_value(); });
}

bool is_input_of_function_loop(std::string_view long_name) {
  if (!is_in_reduce(long_name)) return false;
  const std::size_t last = long_name.rfind("::");
  const std::string_view above = long_name.substr(0, last);
  if (!dataset_kind(short_name_of(above)).has(Trait::scan)) return false;
  for (std::size_t begin = above.find("::") + 2; begin < above.size();) {
    const std::size_t end = std::min(above.find("::", begin), above.size());
    const std::string_view part = without_element_index(above.substr(begin, end - begin));
    const bool is_of_loop = dataset_kind(part).has(Trait::frame | Trait::prefetch | Trait::take_while);
    if (end < above.size() && !is_of_loop) return false;
    begin = end + 2;
  }
  return true;
}

class InstanceTreeBuilder {
 public:
  explicit InstanceTreeBuilder(const Trace& trace) : trace_(trace) {}

  InstanceTree build() {
    order_by_appearance();
    find_parents();
    find_outermost();
    find_pipelines();
    number_unnamed_inputs();
    return std::move(tree_);
  }

 private:
  const IteratorInstance& instance(InstanceId id) const { return trace_.instances[id]; }
  void order_by_appearance();
  void find_parents();
  void find_outermost();
  void find_pipelines();
  std::vector<PipelineLife> describe_lives() const;
  std::uint32_t making_of(InstanceId outermost) const;
  void number_unnamed_inputs();

  const Trace& trace_;
  InstanceTree tree_;
  std::vector<InstanceId> outermost_;  ///< indexed by InstanceId: where its tree begins
};

void InstanceTreeBuilder::order_by_appearance() {
  // In time, not in the file: the same trace with its events permuted gives the same forest.
  for (std::size_t index = 0; index < trace_.instances.size(); ++index) {
    tree_.by_appearance.push_back(static_cast<InstanceId>(index));
    const std::string_view name = trace_.strings[trace_.instances[index].long_name];
    std::string folded = fold_like_elements(name);
    tree_.folded_names.push_back(folded == name ? name : tree_.changed_names.emplace_back(std::move(folded)));
    tree_.is_loop_input.push_back(is_input_of_function_loop(tree_.folded_names.back()));
  }
  std::sort(tree_.by_appearance.begin(), tree_.by_appearance.end(), [this](InstanceId a, InstanceId b) {
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
void InstanceTreeBuilder::find_parents() {
  std::unordered_map<Token, std::vector<InstanceId>> instances_of_id;  // by appearance
  for (const InstanceId id : tree_.by_appearance) {
    if (instance(id).id) instances_of_id[*instance(id).id].push_back(id);
  }
  tree_.parents.assign(trace_.instances.size(), kNoInstance);
  for (const InstanceId id : tree_.by_appearance) {
    const IteratorInstance& child = instance(id);
    const auto found = child.parent_id ? instances_of_id.find(*child.parent_id) : instances_of_id.end();
    if (found == instances_of_id.end()) continue;
    const std::vector<InstanceId>& alike = found->second;
    auto later =
        std::upper_bound(alike.begin(), alike.end(), child.first_start,
                         [&](Picoseconds start, InstanceId other) { return start < instance(other).first_start; });
    if (later != alike.begin()) --later;
    if (*later != id) tree_.parents[index_of(id)] = *later;
  }
}

/// Where the tree of each instance begins, as far as calls of it were seen. One that leads up to another takes over its
/// answer: a chain may be a hundred thousand long.
void InstanceTreeBuilder::find_outermost() {
  outermost_.assign(trace_.instances.size(), kNoInstance);
  std::vector<InstanceId> chain;
  for (const InstanceId start : tree_.by_appearance) {
    chain.clear();
    InstanceId id = start;
    while (outermost_[index_of(id)] == kNoInstance && chain.size() < kLongestChain) {
      chain.push_back(id);
      if (tree_.is_loop_input[index_of(id)] || tree_.parents[index_of(id)] == kNoInstance) break;
      id = tree_.parents[index_of(id)];
    }
    const InstanceId known = outermost_[index_of(id)];
    for (const InstanceId below : chain) outermost_[index_of(below)] = known == kNoInstance ? id : known;
  }
}

std::uint32_t InstanceTreeBuilder::making_of(InstanceId outermost) const {
  InstanceId id = outermost;
  for (std::size_t steps = 0; steps < kLongestChain && tree_.parents[index_of(id)] != kNoInstance; ++steps) {
    id = tree_.parents[index_of(id)];
  }
  return instance(id).making;
}

std::vector<PipelineLife> InstanceTreeBuilder::describe_lives() const {
  std::vector<PipelineLife> lives;
  std::vector<std::size_t> dataset_depths;  // parts of the name of the iterator that has the node
  for (const InstanceId id : tree_.by_appearance) {
    const std::size_t pipeline = tree_.pipelines[index_of(id)];
    const IteratorInstance& member = instance(id);
    if (pipeline >= lives.size()) {
      lives.resize(pipeline + 1);
      dataset_depths.resize(pipeline + 1, kNone);
    }
    PipelineLife& life = lives[pipeline];
    const bool is_first = life.names.empty();
    life.all.start = is_first ? member.first_start : std::min(life.all.start, member.first_start);
    life.all.end = is_first ? member.last_start : std::max(life.all.end, member.last_start);
    const std::string_view name = tree_.folded_names[index_of(id)];
    life.names.push_back(name);
    if (outermost_[index_of(id)] == id && !member.parent_id == !tree_.is_loop_input[index_of(id)]) {
      life.root_calls = member.event_count;
      life.roots = {member.first_start, member.last_start};
      const std::uint32_t making = making_of(id);
      if (making != kNoMaking) life.making = trace_.makings[making];
    }
    // Nodes of what a function makes for each element are new each time; those that the optimizer put in are alike in
    // all pipelines. Pipelines of different lines are different ones.
    const std::string_view dataset = trace_.strings[member.dataset_name];
    const bool is_node = dataset.find(':') != std::string_view::npos || says_line(dataset);
    const bool tells_apart = is_node && !dataset.starts_with("inject/");
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
void InstanceTreeBuilder::find_pipelines() {
  constexpr std::size_t kWithoutIds = 0;
  std::size_t count = 1;
  std::unordered_map<Token, std::size_t> of_unseen;  // by the id of an outermost iterator of which no call was seen
  std::vector<std::size_t> of_seen(trace_.instances.size(), kNone);
  tree_.pipelines.assign(trace_.instances.size(), kWithoutIds);
  for (const InstanceId id : tree_.by_appearance) {
    const InstanceId outermost = outermost_[index_of(id)];
    const IteratorInstance& top = instance(outermost);
    const bool is_seen = !top.parent_id || tree_.is_loop_input[index_of(outermost)];
    if (is_seen && !top.id) continue;
    std::size_t& pipeline =
        is_seen ? of_seen[index_of(outermost)] : of_unseen.try_emplace(*top.parent_id, kNone).first->second;
    if (pipeline == kNone) pipeline = count++;
    tree_.pipelines[index_of(id)] = pipeline;
  }
  const std::vector<PipelineLife> lives = describe_lives();
  if (lives.size() < 3) return;  // none with ids, or one
  const std::vector<Iteration> iterations = find_recreated_pipelines(std::span(lives).subspan(1));
  const bool is_any_recreated = std::any_of(iterations.begin(), iterations.end(),
                                            [](const Iteration& iteration) { return iteration.number > 0; });
  if (!is_any_recreated) return;
  tree_.iterations.assign(trace_.instances.size(), 0);
  for (std::size_t index = 0; index < tree_.pipelines.size(); ++index) {
    if (tree_.pipelines[index] == kWithoutIds) continue;
    const Iteration& iteration = iterations[tree_.pipelines[index] - 1];
    tree_.pipelines[index] = iteration.pipeline + 1;
    tree_.iterations[index] = iteration.number;
  }
}

/// TensorFlow before 2.5 or so gives the inputs of a Zip the same long name: number them by first appearance.
void InstanceTreeBuilder::number_unnamed_inputs() {
  tree_.input_numbers.assign(trace_.instances.size(), kNoInput);
  std::vector<InstanceId> inputs;
  for (const InstanceId id : tree_.by_appearance) {
    const InstanceId parent = tree_.parents[index_of(id)];
    if (parent == kNoInstance || !instance(id).id) continue;
    const std::string_view name = short_name_of(trace_.strings[instance(parent).long_name]);
    if (!dataset_kind(name).has(Trait::several_inputs)) continue;
    inputs.push_back(id);
  }
  const auto place_of = [&](InstanceId id) {
    return std::pair(tree_.parents[index_of(id)], tree_.folded_names[index_of(id)]);
  };
  std::stable_sort(inputs.begin(), inputs.end(), [&](InstanceId a, InstanceId b) { return place_of(a) < place_of(b); });
  std::unordered_map<Token, std::size_t> numbers_of_ids;
  for (auto first = inputs.begin(); first != inputs.end();) {
    const auto end = std::find_if(first, inputs.end(), [&](InstanceId id) { return place_of(id) != place_of(*first); });
    const std::span<const InstanceId> alike(first, end);
    first = end;
    numbers_of_ids.clear();
    for (const InstanceId id : alike) numbers_of_ids.try_emplace(*instance(id).id, numbers_of_ids.size());
    if (numbers_of_ids.size() < 2) continue;
    for (const InstanceId id : alike) tree_.input_numbers[index_of(id)] = numbers_of_ids[*instance(id).id];
  }
}

}  // namespace

InstanceTree find_instance_tree(const Trace& trace) {
  return InstanceTreeBuilder(trace).build();
}

}  // namespace doctor
