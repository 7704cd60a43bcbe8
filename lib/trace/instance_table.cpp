#include "trace/instance_table.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace doctor {

bool is_iterator_attribute(std::string_view name) {
  constexpr std::array<std::string_view, 24> kNames = {
      "active_elements",      "algorithm",           "autotune",           "batch_size",        "block_length",
      "buffer_limit",         "buffer_size",         "buffered_bytes_MB",  "buffered_elements", "cpu_budget",
      "cycle_length",         "deterministic",       "drop_remainder",     "filtered_elements", "interleave_depth",
      "intra_op_parallelism", "max_batch_results",   "num_parallel_calls", "parallel_copy",     "parallelism",
      "ram_budget_megabytes", "ram_usage_megabytes", "results_ready",      "threadpool_size"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

InstanceId InstanceTable::instance_of(const InstanceSighting& sighting) {
  const InstanceKey key{sighting.long_name, sighting.id.value_or(0), sighting.parent_id.value_or(0),
                        index_of(sighting.dataset_name)};
  const std::size_t count = instances_.size();
  if (count == kMostInstances && !ids_.contains(key)) return instance_like(sighting);
  const auto [place, is_new] = ids_.try_emplace(key, static_cast<InstanceId>(count));
  if (is_new) {
    instances_.push_back({sighting.long_name,
                          sighting.dataset_name,
                          sighting.id,
                          sighting.parent_id,
                          {},
                          sighting.first_start,
                          sighting.last_start,
                          0});
    attribute_seen_.emplace_back();
  }
  return place->second;
}

/// Another of the same name, or the last one where none has that name.
InstanceId InstanceTable::instance_like(const InstanceSighting& sighting) {
  if (first_of_name_.empty()) {
    for (std::size_t index = 0; index < kMostInstances; ++index) {
      first_of_name_.try_emplace(instances_[index].long_name, static_cast<InstanceId>(index));
    }
  }
  calls_of_others_ += sighting.event_count;
  const auto alike = first_of_name_.find(sighting.long_name);
  return alike != first_of_name_.end() ? alike->second : static_cast<InstanceId>(kMostInstances - 1);
}

InstanceId InstanceTable::see(const InstanceSighting& sighting) {
  const InstanceId id = instance_of(sighting);
  const std::size_t index = index_of(id);
  IteratorInstance& instance = instances_[index];
  instance.event_count += sighting.event_count;
  instance.first_start = std::min(instance.first_start, sighting.first_start);
  instance.last_start = std::max(instance.last_start, sighting.last_start);
  std::size_t place = 0;  // events carry their attributes in one order
  for (const SeenAttribute& seen : sighting.attributes) {
    const auto is_it = [&](const Attribute& other) { return other.name == seen.attribute.name; };
    if (place >= instance.attributes.size() || !is_it(instance.attributes[place])) {
      const auto known = std::find_if(instance.attributes.begin(), instance.attributes.end(), is_it);
      place = static_cast<std::size_t>(known - instance.attributes.begin());
    }
    if (place == instance.attributes.size()) {
      instance.attributes.push_back(seen.attribute);
      attribute_seen_[index].push_back(seen.seen);
    } else if (Picoseconds& latest = attribute_seen_[index][place]; seen.seen >= latest) {
      instance.attributes[place] = seen.attribute;
      latest = seen.seen;
    }
    ++place;
  }
  return id;
}

IndexedBy<InstanceId, std::deque<IteratorInstance>> InstanceTable::take(Loss& loss) {
  if (calls_of_others_ > 0) {
    loss.add("calls_of_too_many_iterators", calls_of_others_);
    loss.notes.push_back("the trace has more than " + std::to_string(kMostInstances) +
                         " iterators, more than any real job: calls of others count as those of one that has the same "
                         "name, or of the last one");
  }
  return std::move(instances_);
}

}  // namespace doctor
