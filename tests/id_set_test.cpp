#include "base/id_set.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace doctor::id_set_test {

TEST_CASE("a set has the ids that were added, 0 among them, and no others") {
  IdSet set;
  CHECK(!set.contains(0));
  CHECK(!set.contains(1));
  constexpr std::uint64_t kFar = std::uint64_t{1} << 32;
  for (std::uint64_t id = 1; id < 1000; ++id) {
    for (const std::uint64_t added : {id, id, id * kFar}) set.insert(added);
  }
  for (std::uint64_t id = 1; id < 1000; ++id) {
    CHECK(set.contains(id));
    CHECK(set.contains(id * kFar));
    CHECK(!set.contains(id + 1000));
    CHECK(!set.contains((id + 1000) * kFar));
  }
  CHECK(!set.contains(0));
  set.insert(0);
  CHECK(set.contains(0));
  set.clear();
  CHECK(!set.contains(0));
  CHECK(!set.contains(1));
}

}  // namespace doctor::id_set_test
