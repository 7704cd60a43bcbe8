#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "trace/trace.h"

namespace doctor {

/// The value of an iterator's argument and the start of the event that carried it.
struct SeenAttribute {
  Attribute attribute;
  Picoseconds seen = 0;
};

/// The identity of an iterator instance; 0 is an id that the trace does not have. Ids are addresses, which consecutive
/// pipelines reuse, such as a validation and the next epoch of a training whose last steps are the same. The names of
/// their datasets tell them apart.
struct InstanceKey {
  StringId long_name{};
  std::uint64_t id = 0;
  std::uint64_t parent_id = 0;
  std::uint64_t dataset_name = 0;  ///< a number that is unique in the table

  friend bool operator==(const InstanceKey&, const InstanceKey&) = default;
};

struct InstanceKeyHash {
  std::size_t operator()(const InstanceKey& key) const {
    // An odd multiplier spreads both ids, which are random or counted, and long names, which are small numbers.
    const std::uint64_t numbers = index_of(key.long_name) + (key.dataset_name << 16);
    const std::uint64_t mixed = (key.id ^ (key.parent_id << 1)) * 0x9e37'79b9'7f4a'7c15u + numbers;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
};

/// What one or more events say about the iterator instance that made them.
struct InstanceSighting {
  StringId long_name{};
  StringId dataset_name{};  ///< argument `name` of the first event
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> parent_id;
  Picoseconds first_start = 0;
  Picoseconds last_start = 0;
  std::uint64_t event_count = 0;
  std::span<const SeenAttribute> attributes;  ///< the latest value of each; see is_iterator_attribute()
};

/// Tests whether an iterator's argument of this name is kept: settings, and what autotune chose.
bool is_iterator_attribute(std::string_view name);

/// The largest number of iterators that are told apart; recorded traces have hundreds. Calls of further iterators count
/// as those of one with the same name, so that iterators take at most 100 MB, whatever the file.
inline constexpr std::size_t kMostInstances = std::size_t{1} << 17;

/// The iterators of a trace, told apart by long name and ids.
class InstanceTable {
 public:
  /// The instance that these events belong to: a known one, or a new one; beyond kMostInstances, another of its name.
  /// The last value of each attribute counts; of equally late ones, that of the later call.
  InstanceId see(const InstanceSighting& sighting);

  /// The instances. The table is empty afterwards. Instances that it could not tell apart are
  /// added to `loss`.
  IndexedBy<InstanceId, std::deque<IteratorInstance>> take(Loss& loss);

 private:
  InstanceId instance_of(const InstanceSighting& sighting);
  InstanceId instance_like(const InstanceSighting& sighting);

  IndexedBy<InstanceId, std::deque<IteratorInstance>> instances_;
  std::unordered_map<InstanceKey, InstanceId, InstanceKeyHash> ids_;
  std::vector<std::vector<Picoseconds>> attribute_seen_;    ///< by InstanceId and position: when the value was seen
  std::unordered_map<StringId, InstanceId> first_of_name_;  ///< filled once there are kMostInstances
  std::uint64_t calls_of_others_ = 0;
};

}  // namespace doctor
