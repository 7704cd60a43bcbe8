// Elements that one thread makes and another takes.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "trace/trace_builder.h"

namespace doctor::element_links_test {
namespace {

/// A trace of `lanes` threads, each with a call every 10 ns.
Trace trace_of_calls(std::size_t lanes, std::uint32_t calls) {
  Trace trace;
  trace.lanes.resize(lanes);
  trace.instances.resize(1);
  for (Lane& lane : trace.lanes) {
    for (std::uint32_t row = 0; row < calls; ++row) {
      lane.iterator_calls.push_back(PackedSpan(10'000 * Picoseconds{row}, 5'000), InstanceId{});
      lane.iterator_calls.close(row);
    }
    lane.iterator_calls.finish();
  }
  return trace;
}

struct Written {
  std::size_t lane = 0;
  std::uint64_t id = 0;
  std::uint32_t row = kNoRow;
};

std::vector<ElementEvents> events_of(const std::vector<Written>& produced, const std::vector<Written>& consumed,
                                     std::size_t lanes) {
  std::vector<ElementEvents> events(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) events[lane].lane = static_cast<LaneId>(lane);
  for (const Written& one : produced) {
    events[one.lane].produced.push_back({PackedToken(one.id), one.row, static_cast<std::uint32_t>(one.id)});
  }
  for (const Written& one : consumed) events[one.lane].consumed.push_back({PackedToken(one.id), one.row});
  return events;
}

/// By element id; each as it stands in its lane. Here a function run has the number of the id.
using Key = std::tuple<std::uint64_t, Picoseconds, std::size_t, std::uint32_t>;

/// Compares what is linked with what a search through everything finds.
void check_links(const std::vector<Written>& produced, const std::vector<Written>& consumed, std::size_t lanes,
                 unsigned threads) {
  CAPTURE(threads);
  constexpr std::uint32_t kCalls = 2'000;
  Trace trace = trace_of_calls(lanes, kCalls);
  WorkOptions work;
  work.threads = threads;
  link_elements(events_of(produced, consumed, lanes), trace, work);
  REQUIRE(trace.produced.size() == produced.size());
  std::vector<std::pair<Key, Written>> expected;
  std::vector<std::uint32_t> counts(lanes, 0);
  for (const Written& one : produced) {
    const Picoseconds start = one.row == kNoRow ? 0 : 10'000 * Picoseconds{one.row};
    expected.push_back({{one.id, start, one.lane, counts[one.lane]++}, one});
  }
  std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::uint64_t, std::size_t> first_of_id;
  for (std::size_t index = 0; index < expected.size(); ++index) {
    const Written& one = expected[index].second;
    REQUIRE(index_of(LaneId{trace.produced[index].lane}) == one.lane);
    REQUIRE(trace.produced[index].row == one.row);
    REQUIRE(trace.produced[index].last_run == static_cast<std::uint32_t>(one.id));
    const std::size_t first = first_of_id.try_emplace(one.id, index).first->second;
    REQUIRE(first_with_id_of(trace.produced, index) == first);
  }
  CHECK(trace.unnamed_elements ==
        static_cast<std::size_t>(
            std::count_if(produced.begin(), produced.end(), [](const Written& one) { return one.id == 0; })));
  std::vector<std::vector<Written>> of_lanes(lanes);
  for (const Written& one : consumed) of_lanes[one.lane].push_back(one);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::stable_sort(of_lanes[lane].begin(), of_lanes[lane].end(),
                     [](const Written& a, const Written& b) { return a.row < b.row; });
    REQUIRE(trace.lanes[lane].consumed.size() == of_lanes[lane].size());
    for (std::size_t index = 0; index < of_lanes[lane].size(); ++index) {
      const auto first = first_of_id.find(of_lanes[lane][index].id);
      const std::uint32_t element = first == first_of_id.end() ? kNoRow : static_cast<std::uint32_t>(first->second);
      REQUIRE(trace.lanes[lane].consumed[index].element == element);
      REQUIRE(trace.lanes[lane].consumed[index].row == of_lanes[lane][index].row);
    }
  }
}

}  // namespace

TEST_CASE("elements are in order of id, then time, and taken ones are found, whatever the order of ids") {
  // Ids that ascend, that begin again, that are in no order, and that differ in their upper half only.
  for (const std::uint64_t factor : {1ull, 2ull, 0x9e37'79b9'7f4a'7c15ull, 1ull << 32}) {
    CAPTURE(factor);
    for (const unsigned threads : {1u, 3u}) {
      std::mt19937 random(7);
      std::vector<Written> produced;
      std::vector<Written> consumed;
      for (std::uint32_t element = 0; element < 40'000; ++element) {
        const std::uint64_t id = (element + 1) * factor % (factor == 2 ? 401 : ~std::uint64_t{0});
        const std::uint32_t row = element % 5 == 0 ? kNoRow : element / 25;
        produced.push_back({element * 7 % 3, id, row});
        if (element % 3 != 0) consumed.push_back({3 + element % 2, random() % 9 == 0 ? id + 1 : id, element / 25});
      }
      check_links(produced, consumed, 5, threads);
    }
  }
}

TEST_CASE("an id that comes again very often, and elements without one") {
  std::vector<Written> produced;
  for (std::uint32_t element = 0; element < 40'000; ++element) {
    produced.push_back({element % 2, element % 100 == 0 ? 0u : element < 100 ? 5u : 9u, element / 25});
  }
  check_links(produced, {{0, 9, 3}, {1, 5, 4}, {1, 6, 2}}, 2, 1);
}

TEST_CASE("what two transformations make is taken in turn, and calls take elements after calls within them returned") {
  std::vector<Written> produced;
  std::vector<Written> consumed;
  for (std::uint32_t element = 0; element < 1'000; ++element) {
    produced.push_back({0, 1'000'000 + element, element});
    produced.push_back({1, 4'000'000'000'000u + 3 * element, element});
    consumed.push_back({2, 1'000'000 + element, element + 1});
    consumed.push_back({2, 4'000'000'000'000u + 3 * element, element});
  }
  check_links(produced, consumed, 3, 1);
}

TEST_CASE("a trace without elements has none") {
  check_links({}, {{0, 9, 3}}, 1, 2);
}

}  // namespace doctor::element_links_test
