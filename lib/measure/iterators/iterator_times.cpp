#include <charconv>
#include <mutex>

#include "base/parallel.h"
#include "measure/lane_order.h"
#include "measure/measure_passes.h"
#include "measure/own_part.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

void add_calls(const Trace& trace, std::size_t lane, const IteratorForest& forest, std::vector<IteratorTimes>& times) {
  const IteratorCalls& calls = trace.lanes[lane].iterator_calls;
  const auto lane_id = static_cast<LaneId>(lane);
  for (std::uint32_t row = 0; row < calls.size(); ++row) {
    const OwnPart own = own_part(calls, row);
    const IteratorCall& call = calls[row];
    const Picoseconds duration = call.span.duration();
    IteratorTimes& iterator = times[index_of(forest.iterator_of(call))];
    ++iterator.calls;
    iterator.total += duration;
    iterator.own += own.time;
    if (duration >= iterator.longest_call.duration()) {
      const Sighting seen{{call.span.start(), call.span.end()}, lane_id};
      if (seen.outweighs(iterator.longest_call)) iterator.longest_call = seen;
    }
    if (!iterator.is_shuffle) continue;
    CallsAlike& alike = iterator.by_inputs[own.inputs];
    ++alike.count;
    alike.duration += duration;
  }
}

/// The number that a text begins with.
std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

/// Index of the last Repeat in a long name: the epoch that an iterator belongs to. Since TF 2.15 or so every epoch has
/// its own index.
std::optional<std::uint64_t> epoch_of(std::string_view long_name) {
  constexpr std::string_view kRepeat = "Repeat[";
  const std::size_t repeat = long_name.rfind(kRepeat);
  return repeat == std::string_view::npos ? std::nullopt : leading_number(long_name.substr(repeat + kRepeat.size()));
}

/// Where the name of an iterator below a shuffle that TF fused with its repeat goes on; empty for all others. That one
/// has no index of the epoch in the names of its inputs.
std::string_view name_below_fused_repeat(std::string_view long_name) {
  constexpr std::string_view kFused = "::ShuffleAndRepeat::";
  const std::size_t fused = long_name.find(kFused);
  return fused == std::string_view::npos ? std::string_view{} : long_name.substr(fused + kFused.size());
}

/// The number of the dataset that a flat_map is at, which begins at 0 where the flat_map is made anew. nullopt where
/// the name has no number, or that of another transformation first: those of an interleave come again and again.
std::optional<std::uint64_t> number_of_dataset(std::string_view name) {
  const std::size_t bracket = name.find('[');
  if (bracket == std::string_view::npos ||
      !dataset_kind(short_name_of(name.substr(0, bracket))).is_sequential(Trait::flat_map))
    return std::nullopt;
  return leading_number(name.substr(bracket + 1));
}

/// How often what is below a fused shuffle and repeat was made: its objects, or the times that numbers of datasets fall
/// back. An object may have the address of the one before, so there may be more.
std::uint64_t epochs_below_fused_repeat(const Trace& trace, const LogicalIterator& iterator) {
  std::set<std::uint64_t> objects;
  std::vector<std::pair<Picoseconds, std::uint64_t>> numbers;
  for (const InstanceId id : iterator.instances) {
    const IteratorInstance& instance = trace.instances[id];
    const std::string_view name = name_below_fused_repeat(trace.strings[instance.long_name]);
    if (const auto number = number_of_dataset(name)) {
      numbers.push_back({instance.first_start, *number});
    } else if (!name.empty() && instance.id && name.find('[') == std::string_view::npos) {
      objects.insert(*instance.id);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  std::uint64_t epochs = numbers.empty() ? 0 : 1;
  for (std::size_t next = 1; next < numbers.size(); ++next) {
    if (numbers[next].second < numbers[next - 1].second) ++epochs;
  }
  return std::max<std::uint64_t>(epochs, objects.size());
}

IteratorMeasurement describe(const Trace& trace, const LogicalIterator& iterator) {
  IteratorMeasurement measured;
  static_cast<IteratorNode&>(measured) = iterator;
  measured.known_kind = &iterator.kind();
  measured.id = trace.instances[iterator.instances.front()].id;
  measured.parent_id = trace.instances[iterator.instances.front()].parent_id;
  measured.is_source = measured.kind().is_source();
  for (const Attribute& attribute : iterator.attributes) {
    AttributeValue value{std::string(trace.strings[attribute.name]), std::nullopt, {}, attribute.range};
    if (attribute.is_number) {
      value.number = attribute.number;
    } else {
      value.text = trace.strings[attribute.text];
    }
    if (value.name == kElementShapes) {
      measured.element_shapes = std::move(value.text);
    } else if (value.name == kElementTypes) {
      measured.element_types = std::move(value.text);
    } else {
      measured.attributes.push_back(std::move(value));
    }
  }
  std::set<std::uint64_t> epochs;
  std::set<std::uint64_t> ids;
  for (const InstanceId id : iterator.instances) {
    const IteratorInstance& instance = trace.instances[id];
    if (instance.id) ids.insert(*instance.id);
    if (const auto epoch = epoch_of(trace.strings[instance.long_name])) epochs.insert(*epoch);
  }
  measured.instances = std::max<std::uint64_t>(ids.size(), 1);
  measured.epochs = std::max<std::uint64_t>(epochs.size(), epochs_below_fused_repeat(trace, iterator));
  return measured;
}

/// The median number of inputs. Calls that read nothing count too: a draining shuffle is not filling.
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

void IteratorTimes::add(const IteratorTimes& other) {
  calls += other.calls;
  total += other.total;
  own += other.own;
  if (other.longest_call.outweighs(longest_call)) longest_call = other.longest_call;
  for (const auto& [inputs, alike] : other.by_inputs) {
    by_inputs[inputs].count += alike.count;
    by_inputs[inputs].duration += alike.duration;
  }
}

bool waits_for_others(const IteratorMeasurement& iterator) {
  const bool runs_python = iterator.kind().source == Source::python && !iterator.is_device_hop;
  return iterator.is_async && !runs_python;
}

std::vector<IteratorTimes> add_up_calls(const Trace& trace, const IteratorForest& forest, const WorkOptions& work) {
  std::vector<IteratorTimes> none(forest.iterators.size());
  for (std::size_t index = 0; index < none.size(); ++index) {
    none[index].is_shuffle = forest.iterators[index].has(Trait::shuffle);
  }
  std::vector<IteratorTimes> sums = none;
  std::mutex mutex;
  const std::vector<std::size_t> lanes = largest_lanes_first(trace);
  const unsigned threads = threads_for(work, trace.iterator_event_count);
  // A few lanes share their sums: there may be thousands of lanes, and as many iterators.
  const std::size_t parts = std::min<std::size_t>(lanes.size(), threads == 1 ? 1 : 4 * threads);
  run_parallel(threads, parts, [&](std::size_t part) {
    std::vector<IteratorTimes> times = none;
    for (std::size_t lane = part; lane < lanes.size(); lane += parts) add_calls(trace, lanes[lane], forest, times);
    const std::lock_guard lock(mutex);
    for (std::size_t id = 0; id < sums.size(); ++id) sums[id].add(times[id]);
  });
  return sums;
}

IndexedBy<IteratorId, std::vector<IteratorMeasurement>> measure_iterators(const Trace& trace,
                                                                          const IteratorForest& forest,
                                                                          const std::vector<IteratorTimes>& times,
                                                                          const std::vector<bool>& is_device_hop) {
  IndexedBy<IteratorId, std::vector<IteratorMeasurement>> measured;
  measured.reserve(forest.iterators.size());
  for (std::size_t index = 0; index < forest.iterators.size(); ++index) {
    const LogicalIterator& iterator = forest.iterators[index];
    measured.push_back(describe(trace, iterator));
    measured.back().is_device_hop = is_device_hop[index];
    if (is_device_hop[index]) measured.back().is_source = false;
    measured.back().calls = times[index].calls;
    measured.back().total = times[index].total;
    measured.back().longest_call = times[index].longest_call;
    measured.back().interleaved = interleaved_datasets(trace, forest, iterator);
    (waits_for_others(measured.back()) ? measured.back().wait : measured.back().self) = times[index].own;
  }
  return measured;
}

std::optional<ShuffleFill> find_shuffle_fill(const Trace& trace, const IteratorForest& forest,
                                             const std::vector<IteratorTimes>& times,
                                             const std::vector<IteratorId>& members) {
  // A call that reads many inputs where the usual call reads one fills the buffer.
  constexpr std::uint64_t kFewestInputs = 8;
  constexpr std::uint64_t kFillFactor = 4;
  std::optional<ShuffleFill> fill;
  for (const IteratorId id : members) {
    const LogicalIterator& iterator = forest[id];
    if (!times[index_of(id)].is_shuffle) continue;
    const std::map<std::uint64_t, CallsAlike>& by_inputs = times[index_of(id)].by_inputs;
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
  const auto is_cache = [](const LogicalIterator& iterator) { return iterator.has(Trait::cache); };
  std::vector<CacheFill> fills;
  for (const IteratorId id : members) {
    const LogicalIterator& iterator = forest[id];
    if (!is_cache(iterator)) continue;
    // MemoryCache always has a MemoryCacheImpl below it; only what that one reads is input.
    std::uint64_t input_calls = 0;
    for (const IteratorId input : iterator.children) {
      if (!is_cache(forest[input])) input_calls += forest[input].call_count;
    }
    if (input_calls > 0 && 2 * input_calls >= iterator.call_count)
      fills.push_back({id, input_calls, iterator.call_count});
  }
  return fills;
}

}  // namespace doctor
