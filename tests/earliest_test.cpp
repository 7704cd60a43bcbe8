#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <queue>
#include <random>
#include <vector>

#include "model/simulation.h"

namespace doctor {
namespace {

// Numbers that differ, as the moments of a replay do by their order.
TEST_CASE("elements come in the order in which a heap gives them, however many there are") {
  Earliest<std::size_t> queue;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> heap;
  std::mt19937 random(1);
  for (std::size_t step = 0; step < 100'000; ++step) {
    const bool is_filling = step % 300 < 100;  // to about 75, then back to none
    if (heap.empty() || (random() % 8 == 0) != is_filling) {
      const std::size_t added = (random() % 1'000) * 100'000 + step;
      queue.push(added);
      heap.push(added);
    } else {
      queue.pop();
      heap.pop();
    }
    REQUIRE(queue.empty() == heap.empty());
    if (!heap.empty()) REQUIRE(queue.top() == heap.top());
  }
}

TEST_CASE("the last of one more than stand in order comes last") {
  Earliest<std::size_t> queue;
  for (std::size_t number = 1; number <= 33; ++number) queue.push(number);
  for (std::size_t number = 1; number <= 33; ++number) {
    CHECK(queue.top() == number);
    queue.pop();
  }
  CHECK(queue.empty());
}

}  // namespace
}  // namespace doctor
