#include "diagnose/user_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "diagnose/dataset_words.h"
#include "measure/dataset_makers.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// TF takes any Python identifier for a name; nobody writes a longer one.
constexpr std::size_t kLongestName = 80;

/// TF's own name for the prefetch of a device pipeline (MultiDeviceIterator).
constexpr std::string_view kDevicePrefetch = "device_prefetch";

const IteratorMeasurement& at(const HostMeasurement& host, IteratorId iterator) {
  return host.iterators[iterator];
}

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && name.size() <= kLongestName && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

/// Whether the user gave the name: TF numbers its own nodes, and a name that was made of a line is nobody's.
bool is_user_name(std::string_view name) {
  return is_identifier(name) && !line_of_name(name);
}

bool is_put_in_by_tf(const IteratorMeasurement& iterator) {
  return iterator.is_device_hop || iterator.is_injected() || iterator.dataset_name == kDevicePrefetch;
}

/// The methods that made an iterator if no other function of the API did: see methods_of().
std::vector<std::string> methods_of_kind(const IteratorMeasurement& iterator) {
  if (iterator.has(Trait::fused_batch)) {
    std::vector<std::string> methods;
    for (std::size_t part = 1; iterator.is_fused() && part < fused_parts(iterator.dataset_name).size(); ++part) {
      methods.emplace_back("map");
    }
    if (methods.empty()) methods.emplace_back("map");
    methods.emplace_back("batch");
    return methods;
  }
  if (iterator.is_fused()) {
    std::vector<std::string> methods;
    for (const std::string_view part : fused_parts(iterator.dataset_name)) {
      const std::optional<NamedLine> named = line_of_name(part);
      const std::string_view method = named ? named->method : dataset_kind_of_node(part).method();
      if (!method.empty()) methods.emplace_back(method);
    }
    if (!methods.empty()) return methods;
  }
  const std::string_view method = iterator.kind().method();
  return method.empty() ? std::vector<std::string>() : std::vector<std::string>{std::string(method)};
}

/// The methods that TF fused, in the order of the code; one for all others, none for what the user did not write.
std::vector<std::string> methods_of(const HostMeasurement& host, IteratorId id) {
  if (is_put_in_by_tf(at(host, id))) return {};
  const std::string& maker = at(host, id).maker;
  if (!maker.empty()) return {std::string(last_name(maker))};
  return methods_of_kind(at(host, id));
}

/// Inputs before what reads them, as in code. Empty where there are too many.
std::vector<IteratorId> in_order_of_code(const HostMeasurement& host, IteratorId root) {
  std::vector<IteratorId> order;
  std::vector<bool> is_known(host.iterators.size());
  std::vector<std::pair<IteratorId, std::size_t>> open;
  constexpr std::size_t kUsualStages = 16;
  order.reserve(kUsualStages);
  open.reserve(kUsualStages);
  if (root != kNoIterator) open.emplace_back(root, 0);
  while (!open.empty()) {
    const auto [id, next] = open.back();
    const std::vector<IteratorId>& inputs = at(host, id).children;
    if (next < inputs.size()) {
      ++open.back().second;
      const IteratorId input = inputs[next];
      if (is_known[index_of(input)]) continue;  // a damaged file may hold a cycle
      is_known[index_of(input)] = true;
      if (open.size() + order.size() > kMostStages) return {};
      open.emplace_back(input, 0);
    } else {
      order.push_back(id);
      open.pop_back();
    }
  }
  return order;
}

/// Where a call stands among the calls of its method, from 1 on.
struct Position {
  std::size_t number = 1;
  std::size_t count = 1;
};

/// Which node of which graph an iterator is of: a dataset that is used twice is several iterators, and one call of the
/// user's. The graph is that of the function which makes the dataset, where one does.
using GraphNode = std::pair<std::string_view, std::string_view>;

GraphNode node_of(const HostMeasurement& host, IteratorId iterator) {
  for (const IteratorId above : host.iterators_above(iterator)) {
    if (at(host, above).has(Trait::makes_datasets))
      return {at(host, above).dataset_name, at(host, iterator).dataset_name};
  }
  return {{}, at(host, iterator).dataset_name};
}

/// Of the first method of an iterator that the user made. What a function like make_csv_dataset wrote counts for that
/// function only.
Position position_of(const HostMeasurement& host, IteratorId iterator) {
  Position position{0, 0};
  const std::vector<std::string> own = methods_of(host, iterator);
  // One cache is several iterators.
  if (own.empty() || at(host, iterator).has(Trait::cache)) return {};
  const std::vector<IteratorId> order = in_order_of_code(host, at(host, iterator).root);
  std::set<GraphNode> counted;
  const GraphNode node = node_of(host, iterator);
  for (const IteratorId id : order) {
    const GraphNode other = node_of(host, id);
    if (position.number == 0 && (id == iterator || (!node.second.empty() && other == node))) {
      position.number = position.count + 1;
    }
    if (id != iterator && !host.iterators[id].maker.empty()) continue;
    if (!other.second.empty() && !counted.insert(other).second) continue;
    for (const std::string& method : methods_of(host, id)) position.count += method == own.front() ? 1 : 0;
  }
  return position.number == 0 ? Position{} : position;
}

/// " at input.py:37, 38": the lines that the user wrote it in; empty if they are not known.
std::string at_lines(const HostMeasurement& host, IteratorId id) {
  const std::vector<SourceLine>& lines = at(host, id).source_lines;
  std::string words;
  for (std::size_t index = 0; index < lines.size(); ++index) {
    const SourceLine& line = lines[index];
    if (index == 0) {
      words = " at " + to_text(line);
    } else if (line.file != lines[index - 1].file) {
      words += ", " + to_text(line);
    } else if (line.line != lines[index - 1].line) {
      words += fmt::format(", {}", line.line);
    }
  }
  return words;
}

/// Whether no other call of its method in the pipeline stands in the same line.
bool has_own_line(const HostMeasurement& host, IteratorId iterator) {
  const SourceLine* const line = source_of(host, iterator);
  if (line == nullptr) return false;
  const std::vector<std::string> own = methods_of(host, iterator);
  for (std::size_t index = 0; index < host.iterators.size(); ++index) {
    const auto id = static_cast<IteratorId>(index);
    const SourceLine* const other = source_of(host, id);
    if (id == iterator || other == nullptr || other->line != line->line || other->file != line->file) continue;
    if (at(host, id).root == at(host, iterator).root && methods_of(host, id) == own) return false;
  }
  return true;
}

/// What the step of a function that writes several is: "map + batch".
std::string step_words(const IteratorMeasurement& iterator) {
  if (iterator.has(Trait::fused_batch)) return "map + batch";
  const std::string_view method = iterator.kind().method();
  return std::string(method.empty() ? iterator.kind_name() : method);
}

/// `map + batch`, `map "parse" + batch`: the methods that the user called, with the names that they were given.
std::string method_words(const HostMeasurement& host, IteratorId id) {
  const std::vector<std::string> methods = methods_of(host, id);
  const std::vector<std::string_view> parts = fused_parts(at(host, id).dataset_name);
  std::string words;
  for (std::size_t index = 0; index < methods.size(); ++index) {
    words += fmt::format("{}{}", index == 0 ? "" : " + ", methods[index]);
    if (index < parts.size() && is_user_name(parts[index])) words += fmt::format(" \"{}\"", parts[index]);
  }
  return words;
}

/// A call of a method, or several that TF fused: "map at input.py:33", "your 2nd map", "Dataset.map".
std::string describe_method(const HostMeasurement& host, IteratorId id) {
  const std::string methods = method_words(host, id);
  const std::string place = at_lines(host, id);
  if (methods.empty()) return describe(at(host, id)) + place;
  const bool is_named = !user_name(host, id).empty();
  const Position position = is_named || has_own_line(host, id) ? Position{} : position_of(host, id);
  if (position.count > 1) return fmt::format("your {} {}{}", ordinal(position.number), methods, place);
  const bool is_alone = place.empty() && !is_named && methods_of(host, id).size() == 1;
  return is_alone ? "Dataset." + methods : methods + place;
}

std::string describe_source(const HostMeasurement& host, IteratorId id) {
  std::string words = describe(at(host, id)) + at_lines(host, id);
  if (const std::string name = user_name(host, id); !name.empty() && at(host, id).is_source) {
    return words + fmt::format(" (named {})", name);
  }
  const Position position = at(host, id).is_source ? position_of(host, id) : Position{};
  if (position.count < 2 || has_own_line(host, id)) return words;
  return words + fmt::format(" (the {} of {})", ordinal(position.number), position.count);
}

/// Whether it is the generator of a class of Keras. Python's frames show that one takes from the queue of Keras'
/// workers, after which Keras puts nothing, not even a prefetch.
bool is_of_keras(const HostMeasurement& host, IteratorId id) {
  if (at(host, id).kind().source != Source::python) return false;
  const std::string maker = user_method(host, id);
  if (maker == "PyDataset" || maker == "Sequence") return true;
  const std::vector<IteratorId> above = host.iterators_above(id);
  return host.batch_making && host.batch_making->has_queue && source_of(host, id) == nullptr &&
         std::all_of(above.begin(), above.end(), [&](IteratorId stage) {
           return at(host, stage).has(Trait::frame) || at(host, stage).is_sequential(Trait::flat_map);
         });
}

/// Whether it is a method of a dataset: not a source, not what TF puts in.
bool is_method(const IteratorMeasurement& iterator) {
  return iterator.kind().words.starts_with("Dataset.");
}

}  // namespace

std::string user_method(const HostMeasurement& host, IteratorId iterator) {
  return fmt::format("{}", fmt::join(methods_of(host, iterator), "."));
}

std::string user_name(const HostMeasurement& host, IteratorId iterator) {
  std::string names;
  // The root carries the name of what stands below it.
  if (methods_of(host, iterator).empty()) return names;
  for (const std::string_view part : fused_parts(at(host, iterator).dataset_name)) {
    if (is_user_name(part)) names += (names.empty() ? "" : ", ") + std::string(part);
  }
  return names;
}

std::string describe(const HostMeasurement& host, IteratorId id) {
  const IteratorMeasurement& iterator = at(host, id);
  if (host.batch_making && is_of_keras(host, id)) return describe(*host.batch_making);
  if (const std::string_view maker = iterator.maker; !maker.empty()) {
    const bool may_be_other = maker == kDirectoryReader && source_of(host, id) == nullptr;
    return fmt::format("the {} inside of {}{}{}", step_words(iterator), last_name(maker),
                       may_be_other ? " or one like it" : "", at_lines(host, id));
  }
  if (iterator.has(Trait::fused_batch) || iterator.is_fused()) return describe_method(host, id);
  if (is_put_in_by_tf(iterator)) return describe(iterator);
  if (iterator.shuffles_file_names) return "the shuffle of file names" + at_lines(host, id);
  return is_method(iterator) ? describe_method(host, id) : describe_source(host, id);
}

std::string describe_end_of_call(const HostMeasurement& host, IteratorId id) {
  const std::string_view maker = host.iterators[id].maker;
  const IteratorId parent = at(host, id).parent;
  const bool is_last_step = parent == kNoIterator || !are_of_one_call(host.iterators[id], host.iterators[parent]);
  return maker.empty() || !is_last_step ? describe(host, id) : std::string(last_name(maker)) + at_lines(host, id);
}

const SourceLine* source_of(const HostMeasurement& host, IteratorId iterator) {
  const std::vector<SourceLine>& lines = at(host, iterator).source_lines;
  return lines.empty() ? nullptr : &lines.front();
}

bool is_one_of_several(const HostMeasurement& host, IteratorId iterator) {
  return (is_method(at(host, iterator)) || at(host, iterator).is_fused()) && host.iterators[iterator].maker.empty() &&
         !has_own_line(host, iterator) && position_of(host, iterator).count > 1;
}

bool is_made_by_keras(const HostMeasurement& host, IteratorId iterator) {
  const auto is_class_of_keras = [&](IteratorId id) { return is_of_keras(host, id); };
  const IteratorId root = host.iterators[iterator].root;
  const std::vector<IteratorId> members = host.iterators_below(root == kNoIterator ? iterator : root);
  return is_class_of_keras(iterator) || std::any_of(members.begin(), members.end(), is_class_of_keras);
}

const BatchMaking* batch_making_of(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const bool is_of_loader = pipeline.next_of == kKerasDataset || pipeline.next_of == kKerasQueue;
  const bool is_of_queue = pipeline.root != kNoIterator && is_made_by_keras(host, pipeline.root);
  if (!host.batch_making || (!is_of_loader && !is_of_queue)) return nullptr;
  return &*host.batch_making;
}

std::string describe(const BatchMaking& making) {
  if (making.function.empty()) return std::string(kKerasQueue);
  if (making.workers == 0) return making.function;
  return fmt::format("{} in {}", making.function, format_count(making.workers, "worker thread"));
}

bool is_parallelised_by_tf(const IteratorMeasurement& iterator) {
  if (!iterator.has(Trait::parallel)) return false;
  const std::vector<std::string_view> parts = fused_parts(iterator.dataset_name);
  // A map that is left sequential runs as MapAndBatch with parallelism 1.
  if (iterator.has(Trait::fused_batch) && iterator.text("autotune") != "true") return false;
  if (!iterator.source_lines.empty() && !parts.empty() && line_of_name(parts.front())) {
    return iterator.source_lines.front().has_parallel_calls == false;
  }
  return !parts.empty() && parts.front().find(':') != std::string_view::npos &&
         std::none_of(parts.begin(), parts.end(),
                      [](std::string_view part) { return dataset_kind_of_node(part).has(Trait::parallel); });
}

}  // namespace doctor
