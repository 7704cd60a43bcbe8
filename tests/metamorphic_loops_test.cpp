// Loops as people write them, rewritten so that the answer is known from the loop before: epochs, step markers, stalls.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "measure/measure.h"
#include "recorded_json.h"
#include "synthetic_trace.h"
#include "tree/iterator_forest.h"

namespace doctor::metamorphic_loops_test {
namespace {

enum class Ids { again, anew };
enum class Marker { around_step, after_get_next, none };

/// `for epoch in ...: for batch in dataset: train(batch)`. A call of GetNext waits in a Map below a batch; the epochs
/// stand some milliseconds apart.
struct Loop {
  std::vector<double> waits_us;  ///< of the calls of an epoch
  double train_us = 5'000;
  int epochs = 1;
  Ids ids = Ids::again;
  Marker marker = Marker::none;

  /// Part of the time between the first call and the end of the last step that is waited.
  double share() const {
    double waited = 0;
    for (const double wait : waits_us) waited += wait;
    return waited / (waited + train_us * static_cast<double>(waits_us.size()));
  }

  SyntheticTrace written() const {
    constexpr double kBetweenEpochs = 3'000;
    SyntheticTrace trace;
    double now = 0;
    std::uint64_t step = 0;
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const std::uint64_t id = 7'001 + (ids == Ids::anew ? 100 * static_cast<std::uint64_t>(epoch) : 0);
      for (const double wait : waits_us) {
        add_call(trace, id, now, wait);
        trace.add("python", "train_function", now + wait, train_us - 10);
        const double marked_from = marker == Marker::around_step ? now - 5 : now + wait + 5;
        if (marker != Marker::none) {
          trace.add("python", "train", marked_from, now + wait + train_us - 8 - marked_from).ids["step_num"] = step;
        }
        ++step;
        now += wait + train_us;
      }
      now += kBetweenEpochs;
    }
    return trace;
  }

 private:
  static void add_call(SyntheticTrace& trace, std::uint64_t id, double start, double wait) {
    trace.add("python", "IteratorGetNextOp::DoCompute", start, wait);
    trace.iterator("python", "Iterator::Root", id, 0, start + 1, wait - 2);
    trace.iterator("python", "Iterator::Root::BatchV2", id + 1, id, start + 2, wait - 4);
    trace.iterator("python", "Iterator::Root::BatchV2::Map", id + 2, id + 1, start + 3, wait - 6);
    trace.iterator("python", "Iterator::Root::BatchV2::Map::Range", id + 3, id + 2, start + 4, 1);
  }
};

struct Answer {
  std::string status;
  std::string culprit;  ///< of a job that waits

  friend bool operator==(const Answer&, const Answer&) = default;
};

std::ostream& operator<<(std::ostream& out, const Answer& answer) {
  return out << answer.status << " " << answer.culprit;
}

Answer answer_in(const Json& report) {
  const Json& verdict = report["verdict"];
  Answer answer{verdict["status"], {}};
  if (answer.status == "input_bound" && !verdict["culprit"].is_null()) {
    answer.culprit = verdict["culprit"]["long_name"];
  }
  return answer;
}

Answer answer_to(const Loop& loop) {
  const Trace trace = loop.written().to_trace();
  Measurements measurements;
  measurements.hosts.push_back(measure(trace, build_tree(trace)));
  return answer_in(Json::parse(render_json(measurements, diagnose(measurements, all_rules(), {}))));
}

const Answer kBound{"input_bound", "Iterator::Root::BatchV2::Map"};
const Answer kHealthy{"healthy", {}};

/// `stall_us` every `period` calls, the first one after `period` calls; waits of 20 to 25 us else.
std::vector<double> waits(std::size_t calls, std::size_t period = 0, double stall_us = 0) {
  std::vector<double> waits;
  for (std::size_t call = 1; call <= calls; ++call) {
    const double usual = 20 + static_cast<double>(call % 6);
    waits.push_back(period > 0 && call % period == 0 ? stall_us : usual);
  }
  return waits;
}

std::vector<double> slow_waits(std::size_t calls) {
  std::vector<double> waits;
  for (std::size_t call = 0; call < calls; ++call) waits.push_back(4'000 + 100 * static_cast<double>(call % 5));
  return waits;
}

struct NamedLoop {
  std::string name;
  Loop loop;
  Answer answer;
};

const std::vector<NamedLoop>& loops() {
  static const std::vector<NamedLoop> kLoops = {
      {"healthy", {waits(60)}, kHealthy},
      {"slow", {slow_waits(60)}, kBound},
      {"a burst every 10 calls", {waits(100, 10, 40'000)}, kBound},
      {"a burst every 25 calls", {waits(200, 25, 100'000)}, kBound},
  };
  return kLoops;
}

std::string name_of(Ids ids) {
  return ids == Ids::again ? "ids used again" : "new ids";
}

TEST_CASE("an epoch repeated is diagnosed as the epoch") {
  for (const NamedLoop& named : loops()) {
    CAPTURE(named.name);
    CHECK(answer_to(named.loop) == named.answer);
    for (const Ids ids : {Ids::again, Ids::anew}) {
      CAPTURE(name_of(ids));
      for (const int epochs : {2, 3, 5, 12}) {
        CAPTURE(epochs);
        Loop loop = named.loop;
        loop.epochs = epochs;
        loop.ids = ids;
        CHECK(answer_to(loop) == named.answer);
      }
    }
  }
}

TEST_CASE("epochs too short for a verdict of their own make one together") {
  for (const Ids ids : {Ids::again, Ids::anew}) {
    CAPTURE(name_of(ids));
    CHECK(answer_to({slow_waits(4), 5'000, 12, ids}) == kBound);
    CHECK(answer_to({waits(4), 5'000, 12, ids}) == kHealthy);
  }
}

TEST_CASE("whether GetNext lies inside of the step marker changes no verdict") {
  for (const NamedLoop& named : loops()) {
    CAPTURE(named.name);
    for (const Marker marker : {Marker::around_step, Marker::after_get_next}) {
      const std::string get_next = marker == Marker::around_step ? "inside" : "before";
      CAPTURE(get_next);
      for (const int epochs : {1, 3}) {
        Loop loop = named.loop;
        loop.marker = marker;
        loop.epochs = epochs;
        CHECK(answer_to(loop) == named.answer);
      }
    }
  }
}

TEST_CASE("one stall never makes a healthy loop input-bound") {
  for (const std::size_t calls : {std::size_t{60}, std::size_t{200}}) {
    for (const std::size_t place : {std::size_t{0}, calls / 3, calls - 1}) {
      for (const double factor : {100.0, 1'000.0}) {  // of the usual wait: 2 ms, and 20 ms or four steps
        CAPTURE(calls);
        CAPTURE(place);
        CAPTURE(factor);
        Loop loop{waits(calls)};
        loop.waits_us[place] *= factor;
        REQUIRE(loop.share() < 0.15);
        CHECK(answer_to(loop).status != "input_bound");
        // A single long wait is a fact, not an opinion: but for the shorter one it does not matter at all.
        if (factor < 1'000) CHECK(answer_to(loop) == kHealthy);
      }
    }
  }
}

TEST_CASE("stalls that come again make a loop input-bound once they cost more than the limit") {
  constexpr double kClearlyBound = 0.3;  // the limit is 0.2
  for (const std::size_t period : {3u, 5u, 7u, 10u, 20u, 50u, 100u}) {
    CAPTURE(period);
    Loop loop{waits(std::max<std::size_t>(60, 6 * period))};
    double stall = 100 * loop.waits_us[0];
    while (loop.share() < kClearlyBound) {
      loop.waits_us = waits(loop.waits_us.size(), period, stall);
      stall *= 1.3;
    }
    CAPTURE(stall);
    CHECK(answer_to(loop) == kBound);
  }
}

// Recorded loops, rewritten.

const std::vector<RecordedJson>& traces() {
  static const std::vector<RecordedJson> kTraces = recorded_json("traces");
  return kTraces;
}

Answer answer_to(const Json& document) {
  return answer_in(diagnose_document(document).report);
}

Interval window_of(const Json& document) {
  Interval window{INT64_MAX, INT64_MIN};
  for (const Json& event : document["traceEvents"]) {
    if (!has_time(event)) continue;
    window.start = std::min(window.start, picoseconds_of(event, "ts"));
    window.end = std::max(window.end, end_of(event));
  }
  return window;
}

/// The events again and again, each time a window later, under the same ids.
Json repeated(const Json& document, int times) {
  const Interval window = window_of(document);
  const std::int64_t period = window.end - window.start + kPicosecondsPerMillisecond;
  Json result = document;
  for (int time = 1; time < times; ++time) {
    for (const Json& event : document["traceEvents"]) {
      if (!has_time(event)) continue;
      Json& copy = result["traceEvents"].emplace_back(event);
      copy["ts"] = static_cast<double>(picoseconds_of(event, "ts") + time * period) / 1e6;
    }
  }
  return result;
}

bool is_get_next(const Json& event) {
  return has_time(event) && event.value("name", "").starts_with("IteratorGetNext");
}

bool is_step_marker(const Json& event) {
  return has_time(event) && event.contains("args") && event["args"].contains("step_num");
}

/// The document with markers that begin where the first GetNext call in them ends.
Json with_get_next_before_markers(Json document) {
  std::vector<Interval> calls;
  for (const Json& event : document["traceEvents"]) {
    if (is_get_next(event)) calls.push_back({picoseconds_of(event, "ts"), end_of(event)});
  }
  std::sort(calls.begin(), calls.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
  for (Json& event : document["traceEvents"]) {
    if (!is_step_marker(event)) continue;
    const std::int64_t start = picoseconds_of(event, "ts");
    const std::int64_t end = end_of(event);
    const auto inside =
        std::find_if(calls.begin(), calls.end(), [&](const Interval& call) { return call.start >= start; });
    if (inside == calls.end() || inside->end >= end) continue;
    event["ts"] = static_cast<double>(inside->end) / 1e6;
    event["dur"] = static_cast<double>(end - inside->end) / 1e6;
  }
  return document;
}

TEST_CASE("a recorded trace repeated is diagnosed as the trace") {
  int judged = 0;
  for (const RecordedJson& trace : traces()) {
    CAPTURE(trace.name);
    const Answer once = answer_to(trace.document);
    if (once.status != "input_bound" && once.status != "healthy") continue;
    // A start that alone would make the job input-bound is warm-up if it comes once, and the job's own time if it comes
    // in every epoch: the one epoch is judged with doubt.
    const double confidence = diagnose_document(trace.document).report["verdict"]["confidence"];
    if (once.status == "healthy" && confidence < 0.7) continue;
    ++judged;
    for (const int times : {2, 3}) {
      CAPTURE(times);
      CHECK(answer_to(repeated(trace.document, times)) == once);
    }
  }
  CHECK(judged >= 5);
}

TEST_CASE("a recorded trace whose GetNext calls lie before the step markers is diagnosed as the trace") {
  int rewritten = 0;
  for (const RecordedJson& trace : traces()) {
    CAPTURE(trace.name);
    const Json moved = with_get_next_before_markers(trace.document);
    if (moved == trace.document) continue;
    ++rewritten;
    CHECK(answer_to(moved) == answer_to(trace.document));
  }
  CHECK(rewritten > 0);
}

}  // namespace
}  // namespace doctor::metamorphic_loops_test
