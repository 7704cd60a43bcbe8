// The pages against what XProf 2.24.2 answered for the same traces (testdata/peers). docs/accuracy.md gives the
// reason for every number that differs on purpose; those are marked there and here.

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "built_paths.h"
#include "io/byte_source.h"
#include "pipeline.h"
#include "report/page.h"
#include "run_tool.h"
#include "trace/format.h"

namespace doctor::peers_test {
namespace {

using Json = nlohmann::json;

/// What a person who compares two tools calls the same: the figures of docs/accuracy.md.
constexpr double kSameTime = 0.01;
constexpr double kSameShare = 0.01;

/// `input_share` of a peer is that of XProf's sentence ("… of the total step time sampled is waiting for input"), a
/// part of the time of all steps; its table has the mean of their shares beside it, which is another number. Traces
/// whose input share differs on purpose: XProf counts the dispatch of GetNext as input.
const std::set<std::string> kOtherInputShare = {"traces/healthy_tf2.4.trace.json.gz",
                                                "traces/shuffle_fill_tf2.4.trace.json.gz"};

Json recorded() {
  return Json::parse(read_whole_file(source_dir() + "/testdata/peers/xprof_2.24.2.json"));
}

std::string path_of(const Json& peer) {
  return source_dir() + "/testdata/" + peer["trace"].get<std::string>();
}

Analysis analyze_with_profile(const std::string& path) {
  TraceNeeds options;
  options.profile = ProfileParts();
  return diagnose_files(std::vector<std::string>{path}, {.needs = options});
}

/// How many events of pool threads carry the name of an op as an argument, by that name. XProf counts each as an
/// occurrence of the op.
class ClosureCounter final : public EventSink {
 public:
  std::map<std::string, std::int64_t, std::less<>> counts;

  void take(const TraceEvent& event) override {
    const EventArgument* const op = event.find("tf_op");
    if (op != nullptr && event.line->plane->kind == PlaneKind::host) ++counts[std::string(op->text)];
  }
};

std::string key_of(std::string_view side, std::string_view type, std::string_view name) {
  return std::string(side) + " " + std::string(type) + " " + std::string(name);
}

std::map<std::string, std::int64_t, std::less<>> closures_of(const std::string& path) {
  ClosureCounter counter;
  const Result<std::unique_ptr<ByteSource>> source = open_source(path);
  REQUIRE(source);
  const Result<const Format*> format = format_of(**source);
  REQUIRE(format);
  REQUIRE((*format)->read_events(**source, counter, WantedPlanes::all, {}));
  return counter.counts;
}

TEST_CASE("steps, their average time and their input share are those of XProf") {
  for (const Json& peer : recorded()) {
    CAPTURE(peer["trace"]);
    if (peer["steps"] == 0) continue;  // we answer, XProf does not
    const Analysis analysis = analyze_with_profile(path_of(peer));
    const StepSummary steps = step_overview(analysis.measurements, analysis.diagnosis).summary;
    CHECK(steps.count == peer["steps"]);
    const double average_ms = steps.average / static_cast<double>(kPicosecondsPerMillisecond);
    CHECK(average_ms == doctest::Approx(peer["average_step_ms"].get<double>()).epsilon(kSameTime));
    if (kOtherInputShare.contains(peer["trace"])) continue;
    CHECK(std::abs(*steps.input_share - peer["input_share"].get<double>()) <= kSameShare);
  }
}

TEST_CASE("on a GPU host without markers the devices tell the step") {
  const Analysis analysis = analyze_with_profile(source_dir() + "/testdata/field/gpu_multi_worker.xplane.pb.gz");
  const StepSummary steps = step_overview(analysis.measurements, analysis.diagnosis).summary;
  CHECK(steps.count == 1);
  const auto milliseconds = [](double time) { return time / static_cast<double>(kPicosecondsPerMillisecond); };
  CHECK(milliseconds(steps.average) == doctest::Approx(21.310352).epsilon(kSameTime));
  const double half = steps.parts[static_cast<std::size_t>(StepPart::device_compute_16)];
  const double full = steps.parts[static_cast<std::size_t>(StepPart::device_compute_32)];
  CHECK(milliseconds(half + full) == doctest::Approx(14.875539).epsilon(kSameTime));
  CHECK(half / (half + full) == doctest::Approx(0.305).epsilon(0.01));
}

TEST_CASE("ops ran as often and as long as in XProf's table") {
  for (const Json& peer : recorded()) {
    CAPTURE(peer["trace"]);
    const std::string path = path_of(peer);
    const DataTable table = ops_table(analyze_with_profile(path).measurements, {});
    const std::map<std::string, std::int64_t, std::less<>> closures = closures_of(path);
    std::map<std::string, const std::vector<Cell>*> rows;
    for (const std::vector<Cell>& row : table.rows) {
      rows[key_of(std::get<std::string>(row[1]), std::get<std::string>(row[2]), std::get<std::string>(row[3]))] = &row;
    }
    for (const Json& op : peer["ops"]) {
      const std::string key = key_of(op[0].get<std::string>(), op[1].get<std::string>(), op[2].get<std::string>());
      CAPTURE(key);
      const auto row = rows.find(key);
      const auto closure = closures.find(op[2].get<std::string>());
      const std::int64_t closure_count = closure == closures.end() ? 0 : closure->second;
      if (row == rows.end()) {
        CHECK(op[3] == closure_count);  // nothing but such events
        continue;
      }
      const auto microseconds = [&](std::size_t column) {
        return to_microseconds(std::get<std::int64_t>((*row->second)[column]));
      };
      // XProf leaves these arguments out of the JSON that it writes.
      if (!path.ends_with(".xprof.trace.json.gz")) {
        CHECK(std::get<std::int64_t>((*row->second)[4]) + closure_count == op[3]);
      }
      CHECK(microseconds(5) == doctest::Approx(op[4].get<double>()).epsilon(kSameTime));
      CHECK(microseconds(7) == doctest::Approx(op[5].get<double>()).epsilon(kSameTime));
    }
  }
}

}  // namespace

}  // namespace doctor::peers_test
