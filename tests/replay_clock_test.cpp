#include <doctest/doctest.h>

#include <cstdint>
#include <random>

#include "model/simulation.h"

namespace doctor::replay_clock_test {
namespace {

/// What a clock says of its time.
struct Reading {
  double now = 0;
  double core_time = 0;
  double pool_time = 0;

  friend bool operator==(const Reading&, const Reading&) = default;
};

Reading read(const ReplayClock& clock) {
  return {clock.now(), clock.core_time(), clock.pool_time()};
}

TEST_CASE("nobody passes a thread that is due before, or at the same time") {
  ReplayClock clock(2);
  clock.sleep(1, 10);
  CHECK_FALSE(clock.sleep_at_once(10));
  CHECK_FALSE(clock.use_core_at_once(11, 1));
  CHECK(clock.now() == 0);
  CHECK(clock.sleep_at_once(4));
  CHECK(clock.now() == 4);
  CHECK(clock.use_core_at_once(6, 1));  // work that ends at the same time comes first
  CHECK(clock.now() == 10);
  CHECK(clock.advance() == 1);
  CHECK(clock.advance() == std::nullopt);
}

TEST_CASE("who needs a core that others use waits for it") {
  ReplayClock clock(1);
  clock.use_core(1, 10, 1);
  CHECK_FALSE(clock.use_core_at_once(10, 1));
  CHECK(clock.use_core_at_once(4, 1));
  CHECK(clock.now() == 8);
  CHECK(clock.core_time() == 8);
  CHECK_FALSE(clock.sleep_at_once(6));
  CHECK(clock.advance() == 1);
  CHECK(clock.now() == 14);
}

// The replay of a pipeline must not depend on which threads happen to be alone.
TEST_CASE("what passes at once leaves the clock as a place in a queue does") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned limit) { return static_cast<double>(random() % limit); };
    ReplayClock at_once(2);
    ReplayClock queued(2);
    for (ThreadIndex thread = 1; thread < 200; ++thread) {
      const double time = below(20) / 3;
      const double cores = 1 + below(2);
      const bool needs_core = random() % 2 == 0;
      const bool waits = random() % 3 == 0;  // others will be at work beside it
      at_once.pool_threads_in_use = queued.pool_threads_in_use = static_cast<std::int64_t>(random() % 3);
      needs_core ? queued.use_core(thread, time, cores) : queued.sleep(thread, time);
      const bool passed = !waits && (needs_core ? at_once.use_core_at_once(time, cores) : at_once.sleep_at_once(time));
      if (!passed) needs_core ? at_once.use_core(thread, time, cores) : at_once.sleep(thread, time);
      if (waits) continue;
      const std::optional<ThreadIndex> next = queued.advance();
      CHECK((passed ? std::optional(thread) : at_once.advance()) == next);
      CHECK(read(at_once) == read(queued));
    }
  }
}

}  // namespace
}  // namespace doctor::replay_clock_test
