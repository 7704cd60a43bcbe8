// Several pipelines of one host: made anew for each epoch, replicas, and host pipelines that feed devices.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "diagnose/diagnose.h"
#include "io/byte_source.h"
#include "report/report.h"
#include "synthetic_trace.h"
#include "trace/format.h"
#include "tree/recreated_pipelines.h"

namespace doctor {
namespace {

using Json = nlohmann::ordered_json;

/// Calls of a pipeline Root > Prefetch > Map, whose ids begin at `first_id`, one every 10 ms.
void add_epoch(SyntheticTrace& trace, std::uint64_t first_id, double start_us, int calls, double wait_us,
               const std::string& source = "Map") {
  for (int call = 0; call < calls; ++call) {
    const double start = start_us + call * 10'000;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, wait_us);
    trace.iterator("main", "Iterator::Root", first_id, 0, start + 1, wait_us - 2);
    trace.iterator("main", "Iterator::Root::Prefetch", first_id + 1, first_id, start + 2, wait_us - 4);
    trace.iterator("worker", "Iterator::Root::Prefetch::" + source, first_id + 2, first_id + 1, start + 3, wait_us - 6);
  }
}

HostMeasurement measured(const SyntheticTrace& written) {
  const Trace trace = written.to_trace();
  return measure(trace, build_tree(trace));
}

struct Written {
  Json page;
  std::string text;
  std::string tree;
};

Written report_on(HostMeasurement host) {
  Measurements measurements;
  measurements.hosts.push_back(std::move(host));
  const Diagnosis diagnosis = diagnose(measurements, {}, {});
  return {Json::parse(render_json(measurements, diagnosis)), render_text(measurements, diagnosis, {}),
          render_tree_text(measurements, diagnosis)};
}

}  // namespace

TEST_CASE("a pipeline that is made anew for each epoch is one pipeline") {
  SyntheticTrace trace;
  // Epochs of 10 calls of 4 ms in 10 ms; between them 5 s of something else.
  for (int epoch = 0; epoch < 3; ++epoch) {
    add_epoch(trace, 100 + 10 * static_cast<std::uint64_t>(epoch), epoch * 5'000'000.0, 10, 4'000);
  }
  const HostMeasurement host = measured(trace);
  REQUIRE(host.pipelines.size() == 1);
  const PipelineMeasurement& pipeline = host.pipelines[0];
  CHECK(pipeline.calls.size() == 30);
  CHECK(pipeline.iteration_starts == std::vector<std::size_t>{10, 20});
  CHECK(pipeline.cadence.share == doctest::Approx(0.4));
  CHECK(host.unattributed == 0);
  REQUIRE(host.iterators.size() == 3);
  CHECK(host.iterators[0].instances == 3);
  CHECK(host.iterators[index_of(pipeline.steady.culprit)].short_name == "Map");
  CHECK(pipeline.steady.critical[index_of(pipeline.steady.culprit)] >= 30 * 3'990 * kPicosecondsPerMicrosecond);
}

TEST_CASE("pipelines that differ or run at the same time stay apart") {
  SyntheticTrace other;
  add_epoch(other, 100, 0, 10, 4'000);
  add_epoch(other, 200, 5'000'000, 10, 4'000, "ParallelMapV2");
  CHECK(measured(other).pipelines.size() == 2);
  SyntheticTrace replicas;
  add_epoch(replicas, 100, 0, 10, 2'000);
  add_epoch(replicas, 200, 5'000, 10, 2'000);
  CHECK(measured(replicas).pipelines.size() == 2);
  // Replicas of which the window shows a call each seem to run one after the other.
  SyntheticTrace cut;
  add_epoch(cut, 100, 0, 1, 2'000);
  add_epoch(cut, 200, 5'000, 1, 2'000);
  CHECK(measured(cut).pipelines.size() == 2);
}

TEST_CASE("which pipelines are iterated anew") {
  const auto found = [](const std::vector<PipelineMember>& members) {
    std::string text;
    for (const auto& [pipeline, iteration] : find_recreated_pipelines(members)) {
      text += fmt::format("{}={}#{} ", pipeline, iteration.pipeline, iteration.number);
    }
    return text;
  };
  const auto root = [](std::uint64_t id, Picoseconds from, Picoseconds to) {
    return PipelineMember{id, "Root", true, 2, from, to};
  };
  const auto map = [](std::uint64_t id, Picoseconds from, Picoseconds to) {
    return PipelineMember{id, "Root::Map", false, 2, from, to};
  };
  CHECK(found({}).empty());
  CHECK(found({root(5, 0, 10), root(3, 20, 30), root(4, 40, 50)}) == "3=5#1 4=5#2 ");
  // Two replicas, both made anew.
  CHECK(found({root(1, 0, 10), root(2, 1, 11), root(3, 20, 30), root(4, 21, 31)}) == "3=1#1 4=2#1 ");
  CHECK(found({root(1, 0, 10), root(2, 10, 30)}).empty());
  CHECK(found({root(0, 0, 10), root(0, 20, 30)}).empty());
  // The background work counts as well.
  CHECK(found({root(1, 0, 10), map(1, 0, 25), root(2, 20, 30), map(2, 20, 30)}).empty());
  CHECK(found({root(1, 0, 10), map(1, 0, 12), root(2, 20, 30), map(2, 20, 30)}) == "2=1#1 ");
  CHECK(found({root(1, 0, 10), map(1, 0, 12), root(2, 20, 30)}).empty());
}

TEST_CASE("a device pipeline names the host pipeline that feeds it") {
  const auto source = open_source(DOCTOR_SOURCE_DIR "/testdata/traces/two_replicas_tf2.4.trace.json.gz");
  REQUIRE(source);
  const Result<Trace> trace = read_trace(**source);
  REQUIRE(trace);
  const HostMeasurement host = measure(*trace, build_tree(*trace));
  REQUIRE(host.pipelines.size() == 2);
  REQUIRE(host.pipelines[0].fed_by.size() == 1);
  const IteratorId root = host.pipelines[0].fed_by[0];
  CHECK(host.pipelines[1].fed_by == std::vector<IteratorId>{root});
  CHECK(host.iterators[index_of(root)].parent == kNoIterator);
  const std::string id = fmt::format("0:{}", index_of(root));
  const Written report = report_on(host);
  CHECK(report.page["pipelines"][0]["kind"] == "device");
  CHECK(report.page["pipelines"][0]["fed_by"] == Json::array({id}));
  const std::string own = report.page["pipelines"][0]["id"];
  CHECK(own != id);
  CHECK(report.text.find(fmt::format("  fed by    device pipeline {} gets its elements from host pipeline {}\n", own,
                                     id)) != std::string::npos);
  CHECK(report.tree.find(fmt::format("pipeline {} (device, fed by {}) on", own, id)) != std::string::npos);
}

TEST_CASE("pipelines are ranked by what they cost") {
  SyntheticTrace trace;
  add_epoch(trace, 100, 0, 10, 4'000);
  add_epoch(trace, 200, 100'000, 10, 3'000, "ParallelMapV2");
  const Written report = report_on(measured(trace));
  CHECK(report.page["pipelines"][0]["fed_by"] == Json::array());
  CHECK(report.text.find("  worst     pipeline 0:0: 40.0 ms waited in all (21 % of the window), input-bound\n"
                         "  also      pipeline 0:3: 30.0 ms waited in all (16 % of the window), 30 % of the time in") !=
        std::string::npos);
  SyntheticTrace alone;
  add_epoch(alone, 100, 0, 10, 4'000);
  CHECK(report_on(measured(alone)).text.find("  worst ") == std::string::npos);
}

}  // namespace doctor
