// What the runs of a parallel stage's function take, in the order in which its elements are taken.

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "measure/cycles/cycle_recording.h"

namespace doctor::stage_functions_test {
namespace {

constexpr Picoseconds kMicrosecond = kPicosecondsPerMicrosecond;

/// Runs 1, 2, ... of elements 101, 102, ..., each begun 10 us after the one before; run n takes n us on a core and
/// `python` of it in Python.
struct Runs {
  explicit Runs(const std::vector<double>& python) {
    for (std::size_t index = 0; index < python.size(); ++index) {
      const std::uint64_t id = index + 1;
      const Picoseconds start = static_cast<Picoseconds>(10 * index) * kMicrosecond;
      all.push_back({start, id, 100 + id});
      FunctionEvents events;
      events.cpu = static_cast<double>(id);
      events.python = python[index];
      events.spans = 1;
      events.end = start + 50 * kMicrosecond;
      costs.by_id[id] = events;
    }
  }
  /// Elements in the order in which they are taken, 1 us after one another.
  static std::vector<TakenElement> taken(const std::vector<std::uint64_t>& elements) {
    std::vector<TakenElement> found;
    for (const std::uint64_t element : elements) {
      const Picoseconds start = static_cast<Picoseconds>(found.size()) * kMicrosecond;
      found.push_back({start, start + kMicrosecond, element});
    }
    return found;
  }
  std::vector<float> cpu_in_order(const std::vector<std::uint64_t>& elements) const {
    std::vector<float> cpu;
    for (const FunctionCost& cost : costs_in_order(all, taken(elements), costs)) cpu.push_back(cost.cpu);
    return cpu;
  }

  std::vector<FunctionOfElement> all;
  FunctionCosts costs;
};

TEST_CASE("runs are in the order in which their elements are taken, where most of these are known") {
  const Runs runs({0, 0, 0, 0, 0});
  CHECK(runs.cpu_in_order({105, 104, 101, 102, 103}) == std::vector<float>{5, 4, 1, 2, 3});
  CHECK(runs.cpu_in_order({}) == std::vector<float>{1, 2, 3, 4, 5});
  // Too few, or half of them: those that are not known might be anywhere.
  CHECK(runs.cpu_in_order({105, 104, 103}) == std::vector<float>{1, 2, 3, 4, 5});
  CHECK(runs.cpu_in_order({105, 104, 103, 102, 1, 2, 3, 4}) == std::vector<float>{1, 2, 3, 4, 5});
}

TEST_CASE("what is not known costs the median of work and Python together") {
  CHECK(Runs({0, 0, 0, 0, 0}).cpu_in_order({105, 104, 103, 102, 101, 1}).back() == 3);
  // Together 41, 22, 33, 14 and 5: the middle one is the second.
  const Runs runs({40, 20, 30, 10, 0});
  std::vector<std::uint64_t> elements = {101, 102, 103, 104, 105};
  do {
    std::vector<std::uint64_t> taken = elements;
    taken.push_back(1);
    CAPTURE(taken);
    CHECK(runs.cpu_in_order(taken).back() == 2);
  } while (std::next_permutation(elements.begin(), elements.end()));
}

TEST_CASE("a call takes what passes beside its work, in the lower quartile") {
  const Runs runs({0, 0, 0, 0, 5});
  CHECK(calling_time(runs.all, runs.costs) == 46);  // 40 (with Python), 46, 47, 48, 49
  CHECK(calling_time({}, runs.costs) == 0);
  // Of one that ends before it is called nothing is known.
  CHECK(calling_time({{60 * kMicrosecond, 1, 101}}, runs.costs) == 0);
}

TEST_CASE("elements are in work from their function's begin until they are taken") {
  const Runs runs({0, 0, 0});
  std::vector<TakenElement> taken = {
      {0, 15 * kMicrosecond, 101}, {0, 25 * kMicrosecond, 102}, {0, 30 * kMicrosecond, 103}};
  CHECK(most_elements_in_work(runs.all, taken) == 2);
  taken.front().end = 22 * kMicrosecond;
  CHECK(most_elements_in_work(runs.all, taken) == 3);
  CHECK(most_elements_in_work(runs.all, {}) == 0);
}

}  // namespace
}  // namespace doctor::stage_functions_test
