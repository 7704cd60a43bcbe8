// What a step is made of: held against the events of recorded traces, which protobuf reads, and by hand.

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "built_paths.h"
#include "lib/trace/xspace/xspace.pb.h"
#include "measure/cycles/cycle_recording.h"
#include "measure/measure.h"
#include "measure/steps/step_table.h"
#include "pipeline.h"
#include "report/page.h"
#include "synthetic_trace.h"
#include "tree/iterator_forest.h"

namespace doctor::step_work_test {
namespace {

/// An event of the host, in us.
struct RawEvent {
  std::string name;
  double start = 0;
  double end = 0;
};

/// The events of each thread of the host that no other event of the same kind is around.
std::vector<std::vector<RawEvent>> outermost_events(const std::string& file, const std::string& part_of_name) {
  std::ifstream stream(file, std::ios::binary);
  xspace::XSpace space;
  REQUIRE(space.ParseFromIstream(&stream));
  std::vector<std::vector<RawEvent>> threads;
  for (const xspace::XPlane& plane : space.planes()) {
    if (plane.name() != "/host:CPU") continue;
    for (const xspace::XLine& line : plane.lines()) {
      std::vector<RawEvent> events;
      for (const xspace::XEvent& event : line.events()) {
        const std::string& name = plane.event_metadata().at(event.metadata_id()).name();
        const double start = 1e-6 * static_cast<double>(event.offset_ps());
        if (name.find(part_of_name) == std::string::npos) continue;
        events.push_back({name, start, start + 1e-6 * static_cast<double>(event.duration_ps())});
      }
      std::sort(events.begin(), events.end(), [](const RawEvent& a, const RawEvent& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
      });
      std::vector<RawEvent> outermost;
      for (const RawEvent& event : events) {
        if (outermost.empty() || event.start >= outermost.back().end) outermost.push_back(event);
      }
      threads.push_back(std::move(outermost));
    }
  }
  return threads;
}

/// From one GetNext of the loop to the next, the mean.
double raw_step(const std::string& file) {
  for (const std::vector<RawEvent>& calls : outermost_events(file, "IteratorGetNext")) {
    if (calls.size() < 3) continue;
    return (calls.back().start - calls.front().start) / static_cast<double>(calls.size() - 1);
  }
  return 0;
}

/// What the thread that calls this stage takes for an element of its own, whoever the calls are nested in.
double raw_work_of_thread(const std::string& file, const std::string& long_name) {
  for (const std::vector<RawEvent>& calls : outermost_events(file, "Iterator::")) {
    const bool is_of_stage = std::any_of(calls.begin(), calls.end(), [&](const RawEvent& call) {
      return long_name.starts_with(call.name.substr(0, call.name.find('#')));
    });
    if (!is_of_stage || calls.size() < 3 || calls.front().name.find("Prefetch::") == std::string::npos) continue;
    // Of a call that began before the recording only those nested in it are there: they are no elements of the thread.
    const auto is_shorter = [](const RawEvent& a, const RawEvent& b) {
      return a.name.substr(0, a.name.find('#')).size() < b.name.substr(0, b.name.find('#')).size();
    };
    const RawEvent& top = *std::min_element(calls.begin(), calls.end(), is_shorter);
    double time = 0;
    double count = 0;
    for (const RawEvent& call : calls) {
      if (is_shorter(top, call)) continue;
      time += call.end - call.start;
      count += 1;
    }
    return time / count;
  }
  return 0;
}

TEST_CASE("the bar that sets the pace is the step, and both are those of the raw events") {
  for (const std::string name : {"text_lines_tf2.21", "epochs_without_cache", "seed_example1"}) {
    CAPTURE(name);
    const std::string file = source_dir() + "/testdata/traces/" + name + ".xplane.pb";
    const Analysis analysis = diagnose_files(std::vector<std::string>{file}, {});
    const std::optional<StepPace> pace = pace_of(analysis.measurements, analysis.diagnosis);
    REQUIRE(pace.has_value());
    CHECK(pace->longest == doctest::Approx(pace->step).epsilon(0.03));
    const auto setter = std::find_if(pace->bars.begin(), pace->bars.end(),
                                     [](const PaceBar& bar) { return bar.role == PaceRole::sets_pace; });
    REQUIRE(setter != pace->bars.end());
    const std::string& long_name = pace->view.host.iterators[setter->work.stage].long_name;
    const double work = raw_work_of_thread(file, long_name);
    if (work > 0) CHECK(pace->longest == doctest::Approx(work).epsilon(0.03));
    const double step = raw_step(file);
    if (step > 0) CHECK(pace->step == doctest::Approx(step).epsilon(0.05));
    CHECK((work > 0 || step > 0));
  }
}

/// A loop that takes an element every 100 us of a thread which makes one in 90: its map works for 60, its batch of two
/// elements for 10. The first element was begun before the recording.
SyntheticTrace batches_ahead() {
  SyntheticTrace trace;
  const std::string root = "Iterator::Root";
  const std::string batch = root + "::Prefetch::Batch";
  for (int step = 0; step < 10; ++step) {
    const double start = 100.0 * step;
    trace.add("main", "IteratorGetNext", start, 30);
    trace.iterator("main", root, 1, 0, start + 1, 28);
    trace.iterator("main", root + "::Prefetch", 2, 1, start + 2, 26);
    if (step == 0) continue;
    trace.iterator("maker", batch, 3, 2, start + 5, 90);
    trace.iterator("maker", batch + "::Map", 4, 3, start + 10, 40);
    trace.iterator("maker", batch + "::Map", 4, 3, start + 50, 40);
  }
  return trace;
}

TEST_CASE("a stage's time is that of its elements, times those of a step, whatever the window cuts off") {
  const Trace trace = batches_ahead().to_trace();
  const HostMeasurement host = measure(trace, build_tree(trace));
  REQUIRE(!host.pipelines.empty());
  const StepWork work = work_of_steps(host, host.pipelines.front());
  CHECK(work.step == doctest::Approx(100));
  std::map<std::string, StageWork> stages;
  for (const StageWork& stage : work.stages) {
    stages[stage.stage == kNoIterator ? "training" : host.iterators[stage.stage].short_name] = stage;
  }
  CHECK(stages["Map"].time == doctest::Approx(80));
  CHECK(stages["Batch"].time == doctest::Approx(10));
  CHECK(stages["Batch"].before == doctest::Approx(80));
  CHECK(stages["Batch"].worker == stages["Map"].worker);
  CHECK(stages["training"].worker != stages["Map"].worker);
  CHECK(stages["training"].time == doctest::Approx(72).epsilon(0.03));
  CHECK(work.stages.back().stage == kNoIterator);
}

TEST_CASE("how many go on at once is what is so for more than a moment") {
  CHECK(usually_at_once({}) == 0);
  CHECK(usually_at_once({{0, 100}}) == 1);
  CHECK(usually_at_once({{0, 100}, {100, 200}}) == 1);
  CHECK(usually_at_once({{0, 102}, {100, 200}}) == 1);  // recording them takes a moment
  CHECK(usually_at_once({{0, 100}, {50, 150}, {90, 200}}) == 3);
}

TEST_CASE("the picture fits a terminal, and its lines are what its document has") {
  const std::string file = source_dir() + "/testdata/traces/text_lines_tf2.21.xplane.pb";
  const Analysis analysis = diagnose_files(std::vector<std::string>{file}, {});
  const std::optional<StepPace> shown = pace_of(analysis.measurements, analysis.diagnosis);
  REQUIRE(shown.has_value());
  const StepPace& pace = *shown;
  for (const std::size_t width : {60U, 80U, 120U}) {
    for (const std::string& line : pace_lines(pace, {.width = width})) CHECK(column_count(line) <= width);
  }
  const std::vector<std::string> lines = pace_lines(pace, {.width = 80});
  CHECK(lines.size() == pace.bars.size() + (pace.step_after ? 2 : 1));
  CHECK(std::any_of(lines.begin(), lines.end(),
                    [](const std::string& line) { return line.ends_with("  sets the pace"); }));
  const OrderedJson json = pace_json(pace);
  CHECK(json["bars"].size() == pace.bars.size());
  CHECK(json["bars"].back()["long_name"].is_null());
  CHECK(pace_json(std::nullopt).is_null());
}

}  // namespace
}  // namespace doctor::step_work_test
