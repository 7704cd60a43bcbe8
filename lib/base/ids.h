#pragma once

#include <cstddef>
#include <cstdint>

namespace doctor {

// Strong indices into flat vectors: the types keep a lane from being used as an iterator.

enum class StringId : std::uint32_t {};    ///< index into StringTable; 0 is the empty string
enum class LaneId : std::uint32_t {};      ///< index into Trace::lanes
enum class InstanceId : std::uint32_t {};  ///< index into Trace::instances
enum class IteratorId : std::uint32_t {};  ///< index into IteratorForest::iterators

inline constexpr IteratorId kNoIterator{0xffff'ffffu};
inline constexpr InstanceId kNoInstance{0xffff'ffffu};
inline constexpr LaneId kNoLane{0xffff'ffffu};

template <typename Id>
constexpr std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

/// Rows that one kind of id is the index into, in a vector or deque: `lanes[lane_id]` compiles, `lanes[iterator_id]`
/// does not.
template <typename Id, typename Rows>
class IndexedBy : public Rows {
 public:
  using Rows::Rows;
  IndexedBy() = default;

  using Rows::operator[];
  decltype(auto) operator[](Id id) { return Rows::operator[](index_of(id)); }
  decltype(auto) operator[](Id id) const { return Rows::operator[](index_of(id)); }
};

}  // namespace doctor
