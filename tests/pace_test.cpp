// What the calls do over time: stalls and changes of pace, found and placed.

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "measure/waits/call_times.h"
#include "measured_pipeline.h"
#include "words/verdict_words.h"

namespace doctor::pace_test {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;
constexpr Picoseconds kMs = kPicosecondsPerMillisecond;

/// A call every 10 ms.
std::vector<Interval> calls_of(const std::vector<Picoseconds>& latencies) {
  std::vector<Interval> calls;
  Picoseconds start = 0;
  for (const Picoseconds latency : latencies) {
    calls.push_back({start, start + latency});
    start += 10 * kMs;
  }
  return calls;
}

/// Latencies around `usual`, each up to a fifth longer or shorter. Seeded, so that a failure can be repeated.
std::vector<Picoseconds> noisy(std::size_t count, Picoseconds usual, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<Picoseconds> noise(-usual / 5, usual / 5);
  std::vector<Picoseconds> latencies;
  for (std::size_t index = 0; index < count; ++index) latencies.push_back(usual + noise(random));
  return latencies;
}

TEST_CASE("one slow call in ten is found and placed") {
  std::vector<Picoseconds> latencies = noisy(50, 100 * kUs);
  for (std::size_t index = 4; index < latencies.size(); index += 10) latencies[index] = 6 * kMs;
  const std::optional<Stalls> stalls = find_stalls(calls_of(latencies), 0);
  REQUIRE(stalls);
  CHECK(stalls->count == 5);
  CHECK(stalls->first == 4);
  CHECK(stalls->last == 44);
  CHECK(stalls->distance == 10);
  CHECK(stalls->typical == 6 * kMs);
  CHECK(stalls->waited == 30 * kMs);
  CHECK(stalls->share == doctest::Approx(0.061).epsilon(0.01));
  CHECK_FALSE(stalls->are_recurring);  // they cost too little to decide
  CHECK_FALSE(find_pace_change(calls_of(latencies), 0));
}

TEST_CASE("a pace is claimed only where the distances are alike") {
  const auto is_regular = [](std::initializer_list<std::size_t> stalled) {
    std::vector<Picoseconds> latencies = noisy(60, 100 * kUs);
    for (const std::size_t index : stalled) latencies[index] = 6 * kMs;
    const std::optional<Stalls> stalls = find_stalls(calls_of(latencies), 0);
    REQUIRE(stalls);
    return stalls->is_regular;
  };
  CHECK(is_regular({4, 14, 24, 34}));
  CHECK(is_regular({4, 13, 24, 35}));
  CHECK(is_regular({4, 14, 24, 34, 54}));  // one was missed
  CHECK_FALSE(is_regular({4, 14}));        // one distance is no pace
  CHECK_FALSE(is_regular({3, 4, 9}));
  CHECK_FALSE(is_regular({4, 5, 6, 7}));   // one event
  CHECK_FALSE(is_regular({4, 6, 8, 10}));  // likewise
  CHECK_FALSE(is_regular({1, 4, 30, 55}));
}

TEST_CASE("stalls at the start of epochs are told from others") {
  std::vector<Picoseconds> latencies = noisy(40, 100 * kUs);
  for (const std::size_t index : {0u, 10u, 20u, 30u}) latencies[index] = 6 * kMs;
  const std::vector<std::size_t> starts = {10, 20, 30};
  const std::optional<Stalls> at_starts = find_stalls(calls_of(latencies), 0, starts);
  REQUIRE(at_starts);
  CHECK(at_starts->epoch_starts == 4);
  CHECK(at_starts->begin_epochs());
  for (const std::size_t index : {5u, 15u}) latencies[index] = 6 * kMs;
  const std::optional<Stalls> mixed = find_stalls(calls_of(latencies), 0, starts);
  REQUIRE(mixed);
  CHECK(mixed->epoch_starts == 4);
  CHECK_FALSE(mixed->begin_epochs());
  CHECK(find_stalls(calls_of(latencies), 0)->epoch_starts == 0);
}

TEST_CASE("what is not a stall") {
  CHECK_FALSE(find_stalls(calls_of(noisy(50, 100 * kUs)), 0));
  std::vector<Picoseconds> one = noisy(50, 100 * kUs);
  one[20] = 6 * kMs;
  CHECK_FALSE(find_stalls(calls_of(one), 0));  // an outlier
  std::vector<Picoseconds> short_ones = noisy(50, 100 * kUs);
  for (std::size_t index = 0; index < 50; index += 10) short_ones[index] = 990 * kUs;
  CHECK_FALSE(find_stalls(calls_of(short_ones), 0));  // below a millisecond
  std::vector<Picoseconds> half = noisy(50, 100 * kUs);
  for (std::size_t index = 0; index < 50; index += 2) half[index] = 6 * kMs;
  CHECK_FALSE(find_stalls(calls_of(half), 0));  // that is how the calls are
  std::vector<Picoseconds> warm = noisy(50, 100 * kUs);
  warm[0] = warm[1] = 6 * kMs;
  CHECK_FALSE(find_stalls(calls_of(warm), 2));
}

TEST_CASE("stalls that come again and cost much decide the share, a cluster of them does not") {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Map"});
  pipeline.waits_for("Map");
  pipeline.pipeline().cadence.share = 0.4;
  pipeline.pipeline().trimmed_cadence.share = 0.02;
  std::vector<Picoseconds> again = noisy(30, 100 * kUs);
  std::vector<Picoseconds> at_once = again;
  for (const std::size_t index : {3u, 13u, 23u}) again[index] = 12 * kMs;
  for (const std::size_t index : {3u, 4u, 5u}) at_once[index] = 12 * kMs;
  pipeline.pipeline().stalls = find_stalls(calls_of(at_once), 0);
  REQUIRE(pipeline.pipeline().stalls);
  CHECK(pipeline.pipeline().input_share() == 0.02);
  pipeline.pipeline().stalls = find_stalls(calls_of(again), 0);
  REQUIRE(pipeline.pipeline().stalls);
  CHECK(pipeline.pipeline().input_share() == 0.4);
}

TEST_CASE("a second half that is slower is found and placed, whatever the noise") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    std::vector<Picoseconds> latencies = noisy(40, 100 * kUs, seed);
    const std::vector<Picoseconds> slow = noisy(40, 4 * kMs, seed + 100);
    latencies.insert(latencies.end(), slow.begin(), slow.end());
    const std::optional<PaceChange> change = find_pace_change(calls_of(latencies), 0);
    REQUIRE(change);
    CHECK(change->from == 40);
    CHECK(change->is_slower());
    CHECK(change->share_before == doctest::Approx(0.01).epsilon(0.1));
    CHECK(change->share_after == doctest::Approx(0.4).epsilon(0.1));
    CHECK_FALSE(find_pace_change(calls_of(noisy(80, 4 * kMs, seed)), 0));
  }
}

TEST_CASE("changes that are small, early or few are none") {
  std::vector<Picoseconds> small = noisy(40, 100 * kUs);
  const std::vector<Picoseconds> slightly = noisy(40, 140 * kUs);
  small.insert(small.end(), slightly.begin(), slightly.end());
  CHECK_FALSE(find_pace_change(calls_of(small), 0));

  std::vector<Picoseconds> outlier = noisy(40, 100 * kUs);
  outlier[39] = 100 * kMs;
  CHECK_FALSE(find_pace_change(calls_of(outlier), 0));

  std::vector<Picoseconds> warm(3, 50 * kMs);
  const std::vector<Picoseconds> steady = noisy(40, 100 * kUs);
  warm.insert(warm.end(), steady.begin(), steady.end());
  CHECK_FALSE(find_pace_change(calls_of(warm), 3));
  CHECK_FALSE(find_pace_change(calls_of(std::vector<Picoseconds>(9, kMs)), 0));
}

TEST_CASE("the words for what the calls do over time") {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Map"});
  CHECK(describe_stalls(pipeline.host(), pipeline.pipeline()).empty());
  CHECK(describe_pace_change(pipeline.host(), pipeline.pipeline()).empty());
  Stalls& stalls = pipeline.pipeline().stalls.emplace();
  stalls.count = 3;
  stalls.first = 1;
  stalls.last = 9;
  stalls.typical = stalls.shortest = stalls.longest = 4 * kMs;
  stalls.usual = 94 * kUs;
  stalls.culprit = pipeline.id_of("Map");
  stalls.waited = 12 * kMs;
  stalls.share = 0.4;
  struct Row {
    std::size_t distance;
    bool is_regular;
    std::string words;
  };
  for (const Row& row : {Row{1, false, "mostly one after another, "}, Row{2, true, "about every 2 calls, "},
                         Row{11, true, "about every 11 calls, "}, Row{11, false, ""}}) {
    stalls.distance = row.distance;
    stalls.is_regular = row.is_regular;
    CHECK(describe_stalls(pipeline.host(), pipeline.pipeline()) ==
          "3 of 10 calls take 4.00 ms, the others 94 us: " + row.words +
              "from call 2 to call 10; 12.0 ms in all (40% of the time), mostly in Dataset.map");
  }
  stalls.shortest = kMs;
  CHECK(describe_stalls(pipeline.host(), pipeline.pipeline()).starts_with("3 of 10 calls take 1.00 ms to 4.00 ms"));
  pipeline.pipeline().pace_change = PaceChange{40, 94 * kUs, 12 * kMs, 0.02, 0.68, kNoIterator};
  CHECK(describe_pace_change(pipeline.host(), pipeline.pipeline()) ==
        "From call 41 on GetNext takes 12.0 ms instead of 94 us (68% of the time instead of 2.0%)");
}

}  // namespace
}  // namespace doctor::pace_test
