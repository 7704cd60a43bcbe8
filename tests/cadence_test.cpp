// What part of a job's time is spent in GetNext: over epochs, with outliers, with an iterator made anew for every step.

#include <doctest/doctest.h>

#include <vector>

#include "measure/measure_passes.h"

namespace doctor::cadence_test {
namespace {

constexpr Picoseconds kMs = kPicosecondsPerMillisecond;

/// A consumer that waits and then computes, again and again.
struct Loop {
  PipelineMeasurement pipeline;
  Picoseconds now = 0;

  Loop& step(Picoseconds wait, Picoseconds compute) {
    pipeline.calls.push_back({now, now + wait});
    now += wait + compute;
    return *this;
  }
  Loop& steps(std::size_t count, Picoseconds wait, Picoseconds compute) {
    for (std::size_t index = 0; index < count; ++index) step(wait, compute);
    return *this;
  }
  /// The iterator is made anew after `pause`.
  Loop& next_epoch(Picoseconds pause) {
    now += pause;
    pipeline.iteration_starts.push_back(pipeline.calls.size());
    return *this;
  }
  PipelineMeasurement measured() {
    Trace trace;
    trace.window = {0, now};
    measure_cadence(trace, trace.steps, pipeline);
    return pipeline;
  }
};

TEST_CASE("what lies between two epochs is no step of the job") {
  for (const Picoseconds pause : {Picoseconds{0}, 10 * kMs, 10'000 * kMs}) {
    CAPTURE(pause);
    Loop loop;
    for (int epoch = 0; epoch < 3; ++epoch) loop.steps(10, 3 * kMs, 7 * kMs).next_epoch(pause);
    const PipelineMeasurement measured = loop.steps(10, 3 * kMs, 7 * kMs).measured();
    CHECK(measured.cadence.share == doctest::Approx(0.3));
    CHECK(measured.cadence.beats == 40);
    CHECK(measured.trimmed_cadence.share == doctest::Approx(0.3));
  }
}

TEST_CASE("where the iterator is made anew for every step, the time until the next one is the step") {
  Loop loop;
  for (int step = 0; step < 20; ++step) loop.step(3 * kMs, 7 * kMs).next_epoch(20 * kMs);
  CHECK(loop.step(3 * kMs, 7 * kMs).measured().cadence.share == doctest::Approx(0.1));
}

TEST_CASE("one call is set aside, never more, and it is told which") {
  Loop loop;
  loop.steps(99, kMs, 9 * kMs).step(100 * kMs, 9 * kMs).steps(100, kMs, 9 * kMs);
  const PipelineMeasurement measured = loop.measured();
  CHECK(measured.trimmed_cadence.share == doctest::Approx(0.1));
  CHECK(measured.trimmed_cadence.without_call == 99);
  CHECK(measured.trimmed_mean == kMs);
  CHECK(measured.cadence.share == doctest::Approx(299.0 / (299 + 9 * 200)));

  const PipelineMeasurement twice = loop.step(100 * kMs, 9 * kMs).measured();
  CHECK(twice.trimmed_cadence.share == doctest::Approx(299.0 / (299 + 9 * 200)));
}

TEST_CASE("a window of few calls sets none aside") {
  const PipelineMeasurement measured = Loop().steps(2, kMs, kMs).step(50 * kMs, kMs).measured();
  CHECK(measured.trimmed_cadence.share == measured.cadence.share);
  CHECK_FALSE(measured.trimmed_cadence.without_call.has_value());
}

TEST_CASE("of four calls one may be set aside") {
  const PipelineMeasurement measured = Loop().steps(3, kMs, 9 * kMs).step(50 * kMs, 9 * kMs).measured();
  CHECK(measured.trimmed_cadence.share == doctest::Approx(0.1));
  CHECK(measured.trimmed_cadence.without_call == 3);
}

TEST_CASE("the mean of five calls leaves the longest out, that of four none") {
  CHECK(Loop().steps(4, kMs, kMs).step(51 * kMs, kMs).measured().trimmed_mean == kMs);
  CHECK(Loop().steps(3, kMs, kMs).step(51 * kMs, kMs).measured().trimmed_mean == 54 * kMs / 4);
}

TEST_CASE("the error of a share is how far each wait is from that share of its own step") {
  const auto error_of = [](Picoseconds wait, Picoseconds other_wait) {
    Loop loop;
    for (int pair = 0; pair < 13; ++pair) loop.step(wait, 7 * kMs).step(other_wait, 7 * kMs);
    const CadenceShare cadence = loop.measured().cadence;
    CHECK(cadence.beats == 26);
    CHECK(cadence.share == doctest::Approx(0.3));
    return cadence.error;
  };
  CHECK(error_of(3 * kMs, 3 * kMs) == doctest::Approx(0));
  // Each wait is 0.7 ms from 30% of its 9 or 11 ms: 0.7 ms * sqrt(26 * 26 / 25) of 260 ms.
  CHECK(error_of(2 * kMs, 4 * kMs) == doctest::Approx(0.014));
}

TEST_CASE("calls of several consumers that overlap do not wait for more than the time that passes") {
  Loop loop;
  for (Picoseconds start = 0; start < 100 * kMs; start += 5 * kMs) {
    loop.pipeline.calls.push_back({start, start + 8 * kMs});
    loop.now = start + 8 * kMs;
  }
  CHECK(loop.measured().cadence.share == 1);
}

}  // namespace
}  // namespace doctor::cadence_test
