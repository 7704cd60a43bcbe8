#include <iterator>

#include "base/hash.h"
#include "base/merge.h"
#include "base/short_text.h"
#include "text/numbers.h"
#include "trace/json_number.h"
#include "trace/trace.h"
#include "trace/trace_sink.h"

namespace doctor {

namespace {

/// By the number of an argument. Most events carry the one that the last event had.
void widen(const IteratorArgument& argument, KeptArgument& kept) {
  const bool is_last = kept.range.is_known() && argument.is_text == kept.is_text && argument.number == kept.number &&
                       (!argument.is_text || is_same_text(kept.text, argument.text));
  if (is_last) return;
  const std::optional<std::int64_t> number =
      argument.is_text ? parse_integer(argument.text) : std::optional(argument.number);
  if (number) kept.range.add({*number, *number});
}

}  // namespace

void TracePart::take(const TraceEvent& event) {
  if (event.line->kind == LineKind::steps) return take_derived_step(event);
  begin_event();
  for (const EventArgument& argument : event.arguments) {
    if (is_attribute(argument.groups)) {
      IteratorArgument attribute{argument.name, argument.type == ArgumentType::text,
                                 argument.groups == kRangedAttribute, argument.text, argument.integer};
      if (argument.type == ArgumentType::real) attribute.number = to_integer(argument.real);
      take_attribute(attribute);
    } else if (argument.groups == kDatasetName) {
      const std::uint64_t key = argument.text_number != 0 ? argument.text_number : fnv1a_64(argument.text);
      if (argument.type == ArgumentType::text) take_dataset_name(key, argument.text);
    } else if (argument.groups == kStepNumber) {
      const std::optional<std::int64_t> number =
          argument.type == ArgumentType::text ? parse_integer(argument.text) : argument.as_integer();
      if (number) take_number(kStepNumber, static_cast<std::uint64_t>(*number));
    } else if (const std::optional<std::int64_t> number = argument.as_integer()) {
      take_number(argument.groups, static_cast<std::uint64_t>(*number));
    }
  }
  if (const auto step =
          NameMeaning::of(event.meaning).kind == EventKind::step ? step_of_torch(event.name) : std::nullopt)
    take_number(kStepNumber, static_cast<std::uint64_t>(*step));
  end_event(*event.line, event.start, event.duration, event.meaning, event.short_meaning);
}

/// An event of a line that XProf derives from the markers. Of one without a number the kind stays `other`.
void TracePart::take_derived_step(const TraceEvent& event) {
  const std::optional<std::int64_t> number = parse_integer(event.name);
  add(*event.line, {event.start, event.duration, static_cast<std::uint64_t>(number.value_or(0)), 0, 0,
                    number ? EventKind::step : EventKind::other});
}

/// The index of the instance that an iterator's event is about.
std::uint32_t TracePart::see(const EventLine& line, StringId long_name, Picoseconds start) {
  const auto number = [&](ArgumentGroups group, std::uint64_t value) { return (has_ & group) != 0 ? value : 0; };
  const InstanceKey key{long_name, number(kId, id_), number(kParentId, parent_id_), number(kDatasetName, dataset_key_)};
  const std::uint32_t index = index_of_instance(key);
  PieceInstance& instance = instances_[index];
  if (instance.event_count++ == 0) {
    met_.push_back(index);
    instance.first_start = instance.last_start = start;
  }
  instance.first_start = std::min(instance.first_start, start);
  instance.last_start = std::max(instance.last_start, start);
  keep_attributes(instance.attributes, start);
  if (carries_ == CarriedEvents::all || (carries_ == CarriedEvents::changes && !is_carried_again(line, instance))) {
    carry(line, start, instance);
  }
  return index;
}

/// Tests whether the event has the attributes of the one before, of the same iterator on the same line.
bool TracePart::is_carried_again(const EventLine& line, const PieceInstance& instance) const {
  if (instance.carried_on != &line) return false;
  return std::equal(
      arguments_.begin(), arguments_.end(), attributes_.begin() + instance.carried_begin,
      attributes_.begin() + instance.carried_end, [](const IteratorArgument& argument, const KeptArgument& kept) {
        return argument.is_text == kept.is_text && argument.number == kept.number &&
               is_same_text(kept.name, argument.name) && (!argument.is_text || is_same_text(kept.text, argument.text));
      });
}

void TracePart::carry(const EventLine& line, Picoseconds start, PieceInstance& instance) {
  std::vector<KeptArgument> of_event;
  keep_attributes(of_event, start);
  instance.carried_on = &line;
  instance.carried_begin = attributes_.size();
  std::move(of_event.begin(), of_event.end(), std::back_inserter(attributes_));
  instance.carried_end = attributes_.size();
  carried_.push_back({events_.size(), attributes_.size()});
}

std::uint32_t TracePart::index_of_instance(const InstanceKey& key) {
  Recent& recent = recent_[InstanceKeyHash()(key) % recent_.size()];
  if (recent.index != kNoRow && recent.key == key) return recent.index;
  const auto [place, is_new] = indices_.try_emplace(key, static_cast<std::uint32_t>(instances_.size()));
  if (is_new) {
    PieceInstance& added = instances_.emplace_back();
    added.long_name = key.long_name;
    if ((has_ & kId) != 0) added.id = id_;
    if ((has_ & kParentId) != 0) added.parent_id = parent_id_;
    if ((has_ & kDatasetName) != 0) added.dataset_name = dataset_name_;
  }
  recent = {key, place->second};
  return place->second;
}

/// Keeps the latest value of each attribute of the event. Events of an instance carry their attributes in one order, so
/// the place after the last one is looked at first; mostly the value is there already.
void TracePart::keep_attributes(std::vector<KeptArgument>& kept, Picoseconds seen) const {
  std::size_t expected = 0;
  for (const IteratorArgument& argument : arguments_) {
    if (expected >= kept.size() || !is_same_text(kept[expected].name, argument.name)) {
      const auto found = std::find_if(kept.begin(), kept.end(),
                                      [&](const KeptArgument& other) { return other.name == argument.name; });
      expected = static_cast<std::size_t>(found - kept.begin());
      if (found == kept.end()) kept.push_back({std::string(argument.name), false, {}, 0, seen});
    }
    KeptArgument& value = kept[expected++];
    if (argument.has_range) widen(argument, value);
    if (seen < value.seen) continue;
    value.seen = seen;
    value.is_text = argument.is_text;
    value.number = argument.number;
    if (argument.is_text && !is_same_text(value.text, argument.text)) value.text = argument.text;
  }
}

void TracePart::keep_setting() {
  constexpr std::size_t kMostSettings = 16;
  const auto is_it = [&](const std::string& setting) { return is_same_text(setting, dataset_name_); };
  if (settings_.size() >= kMostSettings || std::any_of(settings_.begin(), settings_.end(), is_it)) return;
  settings_.emplace_back(dataset_name_);
}

/// Instances stay with their attributes: the next piece has mostly the same ones.
void TracePart::clear() {
  constexpr std::size_t kMostInstancesKept = 1024;
  events_.clear();
  runs_.clear();
  carried_.clear();
  attributes_.clear();
  queued_.clear();
  settings_.clear();
  compile_and_output_count_ = 0;
  has_markers_ = false;
  for (const std::uint32_t index : met_) {
    instances_[index].event_count = 0;
    instances_[index].carried_on = nullptr;
  }
  met_.clear();
  if (instances_.size() > kMostInstancesKept) forget_instances();
}

void TracePart::forget_instances() {
  instances_.clear();
  indices_.clear();
  recent_.fill({});
}

void IteratorCalls::close_large(std::uint32_t row) {
  large_.push_back({row, static_cast<std::uint32_t>(calls_.size())});
}

/// They were closed from the inside out.
void IteratorCalls::finish() {
  stable_sort_unless_sorted(large_, [](const LargeSubtree& a, const LargeSubtree& b) { return a.row < b.row; });
}

std::uint32_t IteratorCalls::end_of_large(std::uint32_t row) const {
  return large_[large_.partition_point(0, [&](const LargeSubtree& one) { return one.row < row; })].end;
}

}  // namespace doctor
