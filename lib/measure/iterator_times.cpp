#include "measure/iterator_times.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "tree/dataset_kind.h"

namespace doctor {
namespace {

/// Time of a call that is in none of the calls nested in it.
Picoseconds own_time(const ChunkedVector<IteratorCall>& calls, std::uint32_t row) {
  const PackedSpan span = calls[row].span;
  Picoseconds nested = 0;
  Picoseconds done = span.start();
  for (std::uint32_t child = row + 1; child < calls[row].subtree_end; child = calls[child].subtree_end) {
    const Picoseconds start = std::max(calls[child].span.start(), done);
    const Picoseconds end = std::min(calls[child].span.end(), span.end());
    if (start >= end) continue;
    nested += end - start;
    done = end;
  }
  return span.duration() - nested;
}

std::size_t nested_call_count(const ChunkedVector<IteratorCall>& calls, std::uint32_t row) {
  std::size_t count = 0;
  for (std::uint32_t child = row + 1; child < calls[row].subtree_end; child = calls[child].subtree_end) ++count;
  return count;
}

/// Index of the last Repeat in a long name: the epoch that an iterator belongs to. Since TF 2.15 or so every epoch has
/// its own index.
std::optional<std::uint64_t> epoch_of(std::string_view long_name) {
  const std::size_t repeat = long_name.rfind("Repeat[");
  if (repeat == std::string_view::npos) return std::nullopt;
  std::uint64_t epoch = 0;
  const char* begin = long_name.data() + repeat + 7;
  const auto parsed = std::from_chars(begin, long_name.data() + long_name.size(), epoch);
  return parsed.ec == std::errc{} ? std::optional(epoch) : std::nullopt;
}

IteratorMeasurement describe(const Trace& trace, const LogicalIterator& iterator) {
  IteratorMeasurement measured;
  measured.long_name = iterator.long_name;
  measured.short_name = iterator.short_name;
  measured.dataset_name = iterator.dataset_name;
  measured.id = trace.instances[index_of(iterator.instances.front())].id;
  measured.parent_id = trace.instances[index_of(iterator.instances.front())].parent_id;
  measured.parent = iterator.parent;
  measured.root = iterator.root;
  measured.children = iterator.children;
  measured.depth = iterator.depth;
  measured.is_async = iterator.is_async;
  measured.is_source = is_source(iterator.short_name);
  for (const Attribute& attribute : iterator.attributes) {
    AttributeValue value{std::string(trace.strings[attribute.name]), std::nullopt, {}};
    if (attribute.is_number) {
      value.number = attribute.number;
    } else {
      value.text = trace.strings[attribute.text];
    }
    measured.attributes.push_back(std::move(value));
  }
  std::set<std::uint64_t> epochs;
  std::set<std::uint64_t> ids;
  for (const InstanceId id : iterator.instances) {
    const IteratorInstance& instance = trace.instances[index_of(id)];
    if (instance.id) ids.insert(*instance.id);
    if (const auto epoch = epoch_of(trace.strings[instance.long_name])) epochs.insert(*epoch);
  }
  measured.instances = std::max<std::uint64_t>(ids.size(), 1);
  measured.epochs = epochs.size();
  return measured;
}

/// Calls that read equally many inputs, and how long they took together.
struct CallsAlike {
  std::uint64_t count = 0;
  Picoseconds duration = 0;
};

/// The calls of one iterator by the number of inputs that each read: a shuffle has millions of calls, but few numbers.
std::map<std::uint64_t, CallsAlike> calls_by_inputs(const Trace& trace, const IteratorForest& forest, IteratorId id) {
  std::map<std::uint64_t, CallsAlike> by_inputs;
  for (const Lane& lane : trace.lanes) {
    for (std::uint32_t row = 0; row < lane.iterator_calls.size(); ++row) {
      const IteratorCall& call = lane.iterator_calls[row];
      if (forest.iterator_of(call) != id) continue;
      CallsAlike& calls = by_inputs[nested_call_count(lane.iterator_calls, row)];
      ++calls.count;
      calls.duration += call.span.duration();
    }
  }
  return by_inputs;
}

/// The median number of inputs. Calls that read nothing (draining) count: case 9 of the shared design "diagnosis".
std::uint64_t usual_inputs(const std::map<std::uint64_t, CallsAlike>& by_inputs, std::uint64_t call_count) {
  std::uint64_t usual = 0;
  std::uint64_t seen = 0;
  for (const auto& [inputs, calls] : by_inputs) {
    if (2 * seen < call_count) usual = inputs;
    seen += calls.count;
  }
  return usual;
}

}  // namespace

std::optional<std::int64_t> IteratorMeasurement::number(std::string_view attribute) const {
  for (const AttributeValue& value : attributes) {
    if (value.name == attribute) return value.number;
  }
  return std::nullopt;
}

std::vector<IteratorMeasurement> measure_iterators(const Trace& trace, const IteratorForest& forest,
                                                   const std::vector<bool>& is_device_hop) {
  std::vector<IteratorMeasurement> measured;
  std::vector<bool> waits;  // indexed by IteratorId: own time on the calling thread is spent waiting for others
  for (std::size_t index = 0; index < forest.iterators.size(); ++index) {
    const LogicalIterator& iterator = forest.iterators[index];
    measured.push_back(describe(trace, iterator));
    measured.back().is_device_hop = is_device_hop[index];
    if (is_device_hop[index]) measured.back().is_source = false;
    const bool runs_python = is_generator(iterator.short_name) && !is_device_hop[index];
    waits.push_back(iterator.is_async && !runs_python);
  }
  for (const Lane& lane : trace.lanes) {
    for (std::uint32_t row = 0; row < lane.iterator_calls.size(); ++row) {
      const IteratorCall& call = lane.iterator_calls[row];
      const std::size_t index = index_of(forest.iterator_of(call));
      IteratorMeasurement& iterator = measured[index];
      ++iterator.calls;
      iterator.total += call.span.duration();
      const Picoseconds own = own_time(lane.iterator_calls, row);
      (waits[index] ? iterator.wait : iterator.self) += own;
    }
  }
  return measured;
}

std::optional<ShuffleFill> find_shuffle_fill(const Trace& trace, const IteratorForest& forest,
                                             const std::vector<IteratorId>& members) {
  // A call that reads many inputs where the usual call reads one fills the buffer.
  constexpr std::uint64_t kFewestInputs = 8;
  constexpr std::uint64_t kFillFactor = 4;
  std::optional<ShuffleFill> fill;
  for (const IteratorId id : members) {
    const LogicalIterator& iterator = forest[id];
    if (!iterator.short_name.starts_with("Shuffle")) continue;
    const std::map<std::uint64_t, CallsAlike> by_inputs = calls_by_inputs(trace, forest, id);
    const std::uint64_t usual = std::max<std::uint64_t>(1, usual_inputs(by_inputs, iterator.call_count));
    ShuffleFill found{id, 0, 0, number_attribute(trace, iterator, "buffer_size")};
    for (const auto& [inputs, calls] : by_inputs) {
      if (inputs < kFewestInputs || inputs < kFillFactor * usual) continue;
      found.elements += inputs * calls.count;
      found.duration += calls.duration;
    }
    if (found.elements == 0) {
      // The filling call itself is cut off, but its inputs were seen.
      std::uint64_t input_calls = 0;
      for (const IteratorId input : iterator.children) input_calls += forest[input].call_count;
      const std::uint64_t own_calls = iterator.call_count;
      if (own_calls > 0 && input_calls > 2 * own_calls + kFewestInputs) found.elements = input_calls - own_calls;
    }
    if (found.elements > 0) fill = found;
  }
  return fill;
}

std::vector<CacheFill> find_cache_fills(const IteratorForest& forest, const std::vector<IteratorId>& members) {
  std::vector<CacheFill> fills;
  for (const IteratorId id : members) {
    const LogicalIterator& iterator = forest[id];
    if (iterator.short_name.find("Cache") == std::string::npos) continue;
    // MemoryCache always has a MemoryCacheImpl below it; only what that one reads is input.
    std::uint64_t input_calls = 0;
    for (const IteratorId input : iterator.children) {
      if (forest[input].short_name.find("Cache") == std::string::npos) input_calls += forest[input].call_count;
    }
    if (input_calls > 0 && 2 * input_calls >= iterator.call_count)
      fills.push_back({id, input_calls, iterator.call_count});
  }
  return fills;
}

}  // namespace doctor
