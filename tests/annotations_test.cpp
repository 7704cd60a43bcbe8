// The tracks of `convert --annotate`: what is in them, and that readers leave them out.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "collected_events.h"
#include "convert/event_writer.h"
#include "diagnose/catalog.h"
#include "io/byte_source.h"
#include "pipeline.h"
#include "read_one_format.h"
#include "report/report.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "trace/format.h"

namespace doctor::annotations_test {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

const std::string kLabel =
    R"({"ph":"M","pid":9,"name":"process_labels","args":{"labels":")" + std::string(kAnnotationLabel) + "\"}}";
const std::vector<std::string> kRecorded = {
    R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}})",
    R"({"ph":"X","pid":1,"tid":2,"ts":100,"dur":50,"name":"Iterator::Root","args":{"id":"1"}})",
    R"({"ph":"X","pid":1,"tid":2,"ts":200,"dur":50,"name":"Iterator::Root","args":{"id":"1"}})",
};
/// Some that would count, and some that are counted as left out, if they were recorded.
const std::vector<std::string> kAnnotations = {
    R"({"ph":"M","pid":9,"name":"process_name","args":{"name":"w0 /host:CPU"}})",
    R"({"ph":"X","pid":9,"tid":1,"ts":50,"dur":500,"name":"Iterator::Root","args":{"id":"1"}})",
    R"({"ph":"X","pid":9,"tid":1,"ts":50,"dur":-3,"name":"x","args":{"id":"1"}})",
    R"({"ph":"s","pid":9,"tid":1,"ts":60,"id":1,"cat":"a","name":"then"})",
    R"({"ph":"f","bp":"e","pid":9,"tid":1,"ts":70,"id":1,"cat":"a","name":"then"})",
    R"({"ph":"C","pid":9,"ts":60,"name":"elements","args":{"value":1}})",
    R"({"ph":"i","s":"p","pid":9,"tid":1,"ts":60,"name":"input-bound"})",
};

std::string document_of(const std::vector<std::vector<std::string>>& parts) {
  std::string text = R"({"traceEvents":[)";
  bool is_first = true;
  for (const std::vector<std::string>& part : parts) {
    for (const std::string& event : part) {
      text += (is_first ? "\n" : ",\n") + event;
      is_first = false;
    }
  }
  return text + "\n]}";
}

/// What both readings of a document find.
std::string found_in(const std::string& document) {
  const auto source = memory_source(document, "test");
  const Result<Trace> trace = read_one_format(read_chrome_json, *source);
  REQUIRE(trace.has_value());
  CollectingSink sink;
  const Result<EventTotals> totals = read_chrome_json(*source, sink, WantedPlanes::all, {});
  REQUIRE(totals.has_value());
  std::size_t calls = 0;
  for (const Lane& lane : trace->lanes) calls += lane.iterator_calls.size();
  std::string losses;
  for (const auto& [reason, count] : totals->loss.counts) losses += fmt::format(" {} {}", count, reason);
  for (const auto& [reason, count] : trace->loss.counts) losses += fmt::format(" {} {}", count, reason);
  return fmt::format("{} events, {} calls, {} hosts, from {} us on; {} events, {} read{}", trace->event_count, calls,
                     trace->hosts.size(), (trace->origin_ns + trace->window.start / 1000) / 1000, totals->event_count,
                     sink.events.size(), losses);
}

Analysis analysis_of(const SyntheticTrace& trace) {
  const TemporaryDirectory folder;
  const TraceNeeds options = annotation_needs();
  return diagnose_files(std::vector{folder.write("host.xplane.pb", trace.to_xspace())},
                        {.rules = all_rules(), .needs = options});
}

const AnnotationTrack* find_track(const AnnotationGroup& group, std::string_view name) {
  const auto found = std::find_if(group.tracks.begin(), group.tracks.end(),
                                  [&](const AnnotationTrack& track) { return track.name == name; });
  return found == group.tracks.end() ? nullptr : &*found;
}

/// Root > Map, `count` calls of `length_us` every 100 us on one thread.
void add_calls(SyntheticTrace& trace, const std::string& thread, double start_us, int count, double length_us) {
  for (int call = 0; call < count; ++call) {
    const double start = start_us + 100.0 * call;
    trace.iterator(thread, "Iterator::Root", 1, 0, start, length_us);
    trace.iterator(thread, "Iterator::Root::Map", 2, 1, start + 5, length_us - 10);
  }
}

}  // namespace

TEST_CASE("readers leave out what has the label, wherever it stands, and count nothing as lost") {
  const std::string recorded = found_in(document_of({kRecorded}));
  CHECK(recorded == "2 events, 2 calls, 0 hosts, from 100 us on; 2 events, 2 read");
  CHECK(found_in(document_of({kRecorded, {kLabel}, kAnnotations})) == recorded);
  CHECK(found_in(document_of({{kLabel}, kAnnotations, kRecorded})) == recorded);
  CHECK(found_in(document_of({kRecorded, kAnnotations, {kLabel}, kAnnotations})).substr(0, 18) ==
        recorded.substr(0, 18));
  // A process of the same name without the label was recorded.
  CHECK(found_in(document_of({kRecorded, kAnnotations})) != recorded);
}

TEST_CASE("a group is a process on top, with the label first") {
  AnnotationGroup group;
  group.title = "tfdata-doctor: \"a\"";
  group.tracks.push_back({"track", {{{2 * kUs, 5 * kUs}, "slice", "bad", {{"key", "</script>"}}}}, {}});
  group.arrows.push_back({0, 3 * kUs, 0, 4 * kUs});
  group.counters.push_back({"elements", {{kUs, 2.5}}});
  std::uint64_t last_arrow = 6;
  std::vector<std::string> rows;
  visit_annotation_rows(group, {9, kUs, &last_arrow}, [&](const std::string& row) { rows.push_back(row); });
  REQUIRE(rows.size() == 9);
  CHECK(rows[0] == kLabel);
  CHECK(rows[1] == R"({"ph":"M","pid":9,"name":"process_name","args":{"name":"tfdata-doctor: \"a\""}})");
  CHECK(rows[2] == R"({"ph":"M","pid":9,"name":"process_sort_index","args":{"sort_index":-1}})");
  CHECK(rows[3] == R"({"ph":"M","pid":9,"tid":1,"name":"thread_name","args":{"name":"track"}})");
  CHECK(rows[5] ==
        R"({"ph":"X","pid":9,"tid":1,"ts":3,"dur":3,"name":"slice","cname":"bad","args":{"key":"</script>"}})");
  CHECK(rows[6] == R"({"ph":"s","pid":9,"tid":1,"ts":4,"id":7,"cat":"tfdata-doctor","name":"then waits for"})");
  CHECK(rows[7] ==
        R"({"ph":"f","pid":9,"tid":1,"ts":5,"bp":"e","id":7,"cat":"tfdata-doctor","name":"then waits for"})");
  CHECK(rows[8] == R"({"ph":"C","pid":9,"tid":0,"ts":2,"name":"elements","args":{"value":2.5}})");
  CHECK(last_arrow == 7);
}

TEST_CASE("the tracks say when the loop waits, for what, and what was found") {
  SyntheticTrace trace;
  add_calls(trace, "main", 1000, 20, 80);
  for (int step = 0; step < 20; ++step) {
    trace.add("main", "train", 1000 + 100.0 * step, 99).ids["step_num"] = static_cast<std::uint64_t>(step) + 7;
  }
  const Analysis analysis = analysis_of(trace);
  const std::vector<AnnotationGroup> groups = annotations_of(analysis.measurements, analysis.diagnosis);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].title == "tfdata-doctor: INPUT-BOUND");
  const AnnotationTrack* const loop = find_track(groups[0], "1 training loop");
  REQUIRE(loop != nullptr);
  CHECK(loop->slices.size() == 20 + 19);
  CHECK(loop->slices[0].name == "waits for input");
  CHECK(loop->slices[1].name == "runs");
  CHECK(loop->slices[1].span.end - loop->slices[1].span.start == 20 * kUs);
  const AnnotationTrack* const calls = find_track(groups[0], "2 waiting for input, pipeline 0:0");
  REQUIRE(calls != nullptr);
  CHECK(calls->slices.size() == 20);
  CHECK(calls->slices[3].arguments.front().second == "4");
  const AnnotationTrack* const steps = find_track(groups[0], "steps");
  REQUIRE(steps != nullptr);
  CHECK(steps->slices.front().arguments.front().second == "7");
  const AnnotationTrack* const map = find_track(groups[0], "waiting for Dataset.map");
  REQUIRE(map != nullptr);
  CHECK(map->slices.size() == 20);
  CHECK(map->slices.front().name == "loop waits for Dataset.map");
  CHECK(map->slices.front().colour == "terrible");
  CHECK_FALSE(groups[0].arrows.empty());
  const AnnotationTrack* const findings = find_track(groups[0], "findings");
  REQUIRE(findings != nullptr);
  std::set<std::string> rules;
  for (const AnnotationSlice& moment : findings->moments) rules.insert(moment.name);
  CHECK(rules.contains("input-bound"));
}

TEST_CASE("the group of each host of a run says how long that host waits") {
  SyntheticTrace slow;
  add_calls(slow, "main", 1000, 20, 80);
  SyntheticTrace fast;
  add_calls(fast, "main", 1000, 20, 20);
  const TemporaryDirectory folder;
  const TraceNeeds options = annotation_needs();
  const Analysis run = diagnose_files(
      std::vector{folder.write("fast.xplane.pb", fast.to_xspace()), folder.write("slow.xplane.pb", slow.to_xspace())},
      {.rules = all_rules(), .needs = options});
  const std::vector<AnnotationGroup> groups = annotations_of(run.measurements, run.diagnosis);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].title == "tfdata-doctor: host-1 (fast.xplane.pb) waits for input 20% of the time");
  CHECK(groups[1].title == "tfdata-doctor: host-1 (slow.xplane.pb) waits for input 80% of the time");
}

TEST_CASE("calls that overlap, as those of replicas do, have tracks of their own, and no more than eight") {
  SyntheticTrace trace;
  for (int thread = 0; thread < 12; ++thread)
    add_calls(trace, fmt::format("replica-{:02}", thread), 1000 + thread, 3, 80);
  const Analysis analysis = analysis_of(trace);
  const std::vector<AnnotationGroup> groups = annotations_of(analysis.measurements, analysis.diagnosis);
  REQUIRE(groups.size() == 1);
  CHECK(find_track(groups[0], "2 waiting for input, pipeline 0:0 (12 left out)") != nullptr);
  CHECK(find_track(groups[0], "2 waiting for input, pipeline 0:0 (8)") != nullptr);
  for (const AnnotationTrack& track : groups[0].tracks) {
    for (std::size_t index = 1; index < track.slices.size(); ++index) {
      CHECK(track.slices[index].span.start >= track.slices[index - 1].span.end);
    }
  }
}

}  // namespace doctor::annotations_test
