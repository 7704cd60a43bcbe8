#include <doctest/doctest.h>

#include <vector>

#include "trace/trace.h"

namespace doctor::iterator_calls_test {

TEST_CASE("a call's subtree ends where it was closed, however large it is") {
  // A call of a shuffle that fills its buffer is around 40,000 others, and in one that goes on after it.
  IteratorCalls calls;
  std::vector<std::uint32_t> ends(40'003);
  const auto open = [&] {
    calls.push_back(PackedSpan(static_cast<Picoseconds>(calls.size()), 1), static_cast<InstanceId>(calls.size()));
    return static_cast<std::uint32_t>(calls.size() - 1);
  };
  const auto close = [&](std::uint32_t row) {
    calls.close(row);
    ends[row] = static_cast<std::uint32_t>(calls.size());
  };
  const std::uint32_t root = open();
  const std::uint32_t shuffle = open();
  for (int input = 0; input < 40'000; ++input) close(open());
  close(shuffle);
  close(open());
  close(root);
  calls.finish();
  for (std::uint32_t row = 0; row < calls.size(); ++row) REQUIRE(calls.subtree_end(row) == ends[row]);
  CHECK(calls[40'002].instance == static_cast<InstanceId>(40'002));
}

TEST_CASE("an instance of a call may be replaced, and its subtree stays") {
  IteratorCalls calls;
  calls.push_back(PackedSpan(0, 9), InstanceId{3});
  calls.push_back(PackedSpan(1, 2), InstanceId{4});
  calls.close(1);
  calls.close(0);
  calls.finish();
  calls.set_instance(0, static_cast<InstanceId>(kMostCallInstances - 1));
  CHECK(calls[0].instance == static_cast<InstanceId>(kMostCallInstances - 1));
  CHECK(calls.subtree_end(0) == 2);
}

}  // namespace doctor::iterator_calls_test
