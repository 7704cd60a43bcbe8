#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "trace/trace_sink.h"

namespace doctor::queue_sample_test {
namespace {

struct Half {
  bool is_started;
  std::uint64_t id;
  Picoseconds start;
};

/// The sample, in order of time.
QueueSample sample_of(const std::vector<Half>& halves) {
  QueueSampler sampler;
  for (const Half& half : halves) {
    if (half.is_started) {
      sampler.started(half.id, half.start, LaneId{3});
    } else {
      sampler.queued(half.id, half.start);
    }
  }
  QueueSample sample = sampler.finish();
  std::sort(sample.closures.begin(), sample.closures.end(), [](const QueuedClosure& a, const QueuedClosure& b) {
    return std::pair(a.waited.start, a.waited.end) < std::pair(b.waited.start, b.waited.end);
  });
  return sample;
}

constexpr std::uint64_t kMany = 10 * QueueSampler::kCapacity;

/// Nine of ten closures wait little, the tenth long.
Picoseconds wait_of(std::uint64_t id) {
  return id % 10 == 0 ? 200 + static_cast<Picoseconds>(id % 7) : static_cast<Picoseconds>(id % 100);
}

std::vector<Half> many_closures() {
  std::vector<Half> halves;
  for (std::uint64_t id = 1; id <= kMany; ++id) {
    const auto start = static_cast<Picoseconds>(id * 10);
    halves.push_back({false, id, start});
    halves.push_back({true, id, start + wait_of(id)});
  }
  return halves;
}

double total_wait(const QueueSample& sample) {
  double total = 0;
  for (const QueuedClosure& closure : sample.closures) {
    total += static_cast<double>(closure.waited.end - closure.waited.start);
  }
  return total * static_cast<double>(sample.stride);
}

}  // namespace

TEST_CASE("the two events of a closure are paired by id") {
  struct Row {
    const char* what;
    std::vector<Half> halves;
    std::vector<Interval> expected;
  };
  const std::vector<Row> rows = {
      {"none", {}, {}},
      {"queued first", {{false, 7, 10}, {true, 7, 15}}, {{10, 15}}},
      {"started first", {{true, 7, 15}, {false, 7, 10}}, {{10, 15}}},
      {"no wait", {{true, 7, 15}, {false, 7, 15}}, {{15, 15}}},
      {"in order of start", {{false, 1, 20}, {false, 2, 10}, {true, 1, 21}, {true, 2, 30}}, {{10, 30}, {20, 21}}},
      {"one half only", {{false, 1, 20}, {true, 2, 30}}, {}},
      {"an id used twice", {{false, 1, 1}, {true, 1, 2}, {true, 1, 8}, {false, 1, 5}}, {{1, 2}, {5, 8}}},
      {"the later of two", {{false, 1, 1}, {false, 1, 4}, {true, 1, 6}}, {{4, 6}}},
      {"started before", {{false, 1, 9}, {true, 1, 6}, {false, 1, 10}, {true, 1, 11}}, {{10, 11}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const QueueSample sample = sample_of(row.halves);
    CHECK(sample.stride == 1);
    std::vector<Interval> waited;
    for (const QueuedClosure& closure : sample.closures) {
      waited.push_back(closure.waited);
      CHECK(closure.lane == LaneId{3});
    }
    CHECK(waited == row.expected);
  }
}

TEST_CASE("of many closures an even sample is kept, whatever order their events come in") {
  std::vector<Half> halves = many_closures();
  double exact = 0;
  for (std::uint64_t id = 1; id <= kMany; ++id) exact += static_cast<double>(wait_of(id));
  const QueueSample by_time = sample_of(halves);
  CHECK(by_time.stride == 16);
  CHECK(by_time.closures.size() <= QueueSampler::kCapacity);
  CHECK(total_wait(by_time) == doctest::Approx(exact).epsilon(0.03));

  // As threads stand in a file: all that queue, then all that start.
  std::stable_partition(halves.begin(), halves.end(), [](const Half& half) { return !half.is_started; });
  const QueueSample by_thread = sample_of(halves);
  CHECK(by_thread.stride == by_time.stride);
  CHECK(by_thread.closures == by_time.closures);
  std::reverse(halves.begin(), halves.end());
  CHECK(sample_of(halves).closures == by_time.closures);
}

TEST_CASE("halves that are never paired, and one id for all, do not grow without end") {
  QueueSampler sampler;
  for (std::uint64_t id = 1; id <= kMany; ++id) sampler.queued(id, 1);
  sampler.started(1, 2, LaneId{});
  CHECK(sampler.finish().stride == 16);

  for (std::uint64_t pair = 0; pair < 2 * QueueSampler::kCapacity; ++pair) {
    sampler.queued(5, 1);
    sampler.started(5, 2, LaneId{});
  }
  CHECK(sampler.finish().closures.size() <= QueueSampler::kCapacity);
}

}  // namespace doctor::queue_sample_test
