#include <fmt/format.h>

#include "measure/loaders/dataset_makers.h"
#include "measure/measure.h"
#include "text/numbers.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// TF takes any Python identifier for a name; nobody writes a longer one.
constexpr std::size_t kLongestName = 80;

std::optional<SourceLine> line_of(const SourceLines& lines, std::string_view name) {
  if (const auto known = lines.names.find(name); known != lines.names.end()) return known->second;
  std::optional<NamedLine> named = line_of_name(name);
  return named ? std::optional(std::move(named->place)) : std::nullopt;
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

/// The methods of the parts, as their names and kinds say it.
std::vector<std::string> methods_of_parts(const std::vector<std::string_view>& parts) {
  std::vector<std::string> methods;
  for (const std::string_view part : parts) {
    const std::optional<NamedLine> named = line_of_name(part);
    const std::string_view method = named ? named->method : dataset_kind_of_node(part).method();
    if (!method.empty()) methods.emplace_back(method);
  }
  return methods;
}

/// See UserCall::steps.
std::vector<std::string> steps_of(const IteratorMeasurement& iterator, const std::vector<std::string_view>& parts) {
  if (iterator.has(Trait::fused_batch)) {
    std::vector<std::string> steps(std::max<std::size_t>(iterator.is_fused() ? parts.size() : 0, 2), "map");
    steps.back() = "batch";
    return steps;
  }
  if (iterator.is_fused()) {
    if (std::vector<std::string> methods = methods_of_parts(parts); !methods.empty()) return methods;
  }
  const std::string_view method = iterator.kind().method();
  return method.empty() ? std::vector<std::string>() : std::vector<std::string>{std::string(method)};
}

/// See UserCall::is_parallelised_by_tf.
bool is_parallelised_by_tf(const IteratorMeasurement& iterator, const std::vector<std::string_view>& parts) {
  // A map that is left sequential runs as MapAndBatch with parallelism 1.
  const bool is_left_sequential = iterator.has(Trait::fused_batch) && iterator.text("autotune") != "true";
  if (!iterator.has(Trait::parallel) || is_left_sequential || parts.empty()) return false;
  if (!iterator.source_lines.empty() && line_of_name(parts.front())) {
    return iterator.source_lines.front().has_parallel_calls == false;
  }
  return parts.front().find(':') != std::string_view::npos &&
         std::none_of(parts.begin(), parts.end(),
                      [](std::string_view part) { return dataset_kind_of_node(part).has(Trait::parallel); });
}

/// Names where the user gave any.
std::vector<std::string> names_of(const std::vector<std::string_view>& parts) {
  std::vector<std::string> names;
  if (std::none_of(parts.begin(), parts.end(), is_user_name)) return names;
  for (const std::string_view part : parts) names.emplace_back(is_user_name(part) ? part : std::string_view());
  return names;
}

/// All of the call but where it stands among others.
void find_call(const SourceLines& lines, IteratorMeasurement& iterator) {
  const std::vector<std::string_view> parts = fused_parts(iterator.dataset_name);
  const bool has_lines = !iterator.has(Trait::root) && !iterator.is_device_hop;
  iterator.source_lines.clear();
  for (std::size_t part = 0; has_lines && part < parts.size(); ++part) {
    if (std::optional<SourceLine> line = line_of(lines, parts[part])) iterator.source_lines.push_back(*std::move(line));
  }
  UserCall& call = iterator.user_call = {};
  call.steps = steps_of(iterator, parts);
  call.is_parallelised_by_tf = is_parallelised_by_tf(iterator, parts);
  if (iterator.is_put_in_by_tf()) return;
  call.methods = call.steps;
  if (!iterator.maker.empty()) call.methods = {std::string(last_name(iterator.maker))};
  if (!call.methods.empty()) call.names = names_of(parts);
}

/// Inputs before what reads them, as in code. Empty where there are too many.
std::vector<IteratorId> in_order_of_code(const HostMeasurement& host, IteratorId root, std::vector<bool>& is_known) {
  std::vector<IteratorId> order;
  std::vector<std::pair<IteratorId, std::size_t>> open = {{root, 0}};
  is_known[index_of(root)] = true;
  while (!open.empty()) {
    const auto [id, next] = open.back();
    const std::vector<IteratorId>& inputs = host.iterators[id].children;
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

/// Which node of which graph an iterator is of: a dataset that is used twice is several iterators, and one call of the
/// user's. The graph is that of the function which makes the dataset, where one does.
using GraphNode = std::pair<std::string_view, std::string_view>;

GraphNode node_of(const HostMeasurement& host, IteratorId iterator) {
  for (const IteratorId above : host.iterators_above(iterator)) {
    if (host.iterators[above].has(Trait::makes_datasets)) {
      return {host.iterators[above].dataset_name, host.iterators[iterator].dataset_name};
    }
  }
  return {{}, host.iterators[iterator].dataset_name};
}

/// Numbers the calls of each method in a pipeline. What a function like make_csv_dataset wrote does not count, and one
/// cache is several iterators.
void number_calls(HostMeasurement& host, const std::vector<IteratorId>& order) {
  std::map<std::string_view, std::size_t> counts;
  std::map<GraphNode, std::size_t> numbers;
  for (const IteratorId id : order) {
    UserCall& call = host.iterators[id].user_call;
    if (call.methods.empty() || !host.iterators[id].maker.empty()) continue;
    const GraphNode node = node_of(host, id);
    const std::size_t next = counts[call.methods.front()] + 1;
    const auto [known, is_new] = numbers.try_emplace(node, next);
    const bool is_counted = !is_new && !node.second.empty();
    call.number = is_counted ? known->second : next;
    if (is_counted) continue;
    for (const std::string& method : call.methods) ++counts[method];
  }
  for (const IteratorId id : order) {
    IteratorMeasurement& iterator = host.iterators[id];
    const bool is_numbered =
        !iterator.user_call.methods.empty() && iterator.maker.empty() && !iterator.has(Trait::cache);
    if (is_numbered) iterator.user_call.count = counts[iterator.user_call.methods.front()];
  }
}

/// See UserCall::has_own_line.
void find_own_lines(HostMeasurement& host) {
  using UserCallKey = std::tuple<IteratorId, std::string_view, std::uint64_t, std::vector<std::string>>;
  std::map<UserCallKey, IteratorMeasurement*> first;
  for (IteratorMeasurement& iterator : host.iterators) {
    if (iterator.source_lines.empty()) continue;
    const SourceLine& line = iterator.source_lines.front();
    const auto [known, is_new] =
        first.try_emplace({iterator.root, line.file, line.line, iterator.user_call.methods}, &iterator);
    iterator.user_call.has_own_line = is_new;
    if (!is_new) known->second->user_call.has_own_line = false;
  }
}

}  // namespace

void find_user_calls(const SourceLines& lines, HostMeasurement& host) {
  find_makers(host);
  for (IteratorMeasurement& iterator : host.iterators) find_call(lines, iterator);
  std::vector<bool> is_known(host.iterators.size());
  for (std::size_t index = 0; index < host.iterators.size(); ++index) {
    const auto id = static_cast<IteratorId>(index);
    if (host.iterators[id].root == id) number_calls(host, in_order_of_code(host, id, is_known));
  }
  find_own_lines(host);
  if (!lines.fault.empty()) {
    host.source_lines_fault = fmt::format("{} {}", lines.path, lines.fault);
  } else if (lines.unusable > 0) {
    host.source_lines_fault = fmt::format("{}: {} could not be used", lines.path, format_count(lines.unusable, "name"));
  }
}

}  // namespace doctor
