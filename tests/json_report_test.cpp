// The report as JSON.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "report/page.h"
#include "report/report.h"
#include "report/selection.h"
#include "reported_case.h"
#include "unwrapped.h"

namespace doctor::report_test {
namespace {

TEST_CASE("the JSON report has the keys of its schema") {
  const Json page = json_of(input_bound_case());
  CHECK(page["schema"] == "tfdata-doctor.report/2");
  CHECK(page["tool"]["name"] == "tfdata-doctor");
  CHECK(page["trace"]["files"][0] == Json({{"path", "host.xplane.pb"}, {"format", "xspace"}, {"bytes", 1234}}));
  CHECK(page["trace"]["loss"] == Json({{"complete", true}}));
  CHECK(page["trace"]["window_us"] == 900'000.0);
  CHECK(page["verdict"]["status"] == "input_bound");
  CHECK(page["verdict"]["confidence"] == 0.8);
  CHECK(page["verdict"]["input_share"] == 0.9);
  CHECK(page["verdict"]["culprit"] == page["pipelines"][0]["culprit"]);
  CHECK(page["not_evaluated"] == Json::parse(R"([{"rule": "low-parallelism", "reason": "no queue delay"}])"));

  const Json& pipeline = page["pipelines"][0];
  CHECK(pipeline["id"] == "0:0");
  CHECK(pipeline["host"] == "worker-0");
  CHECK(pipeline["kind"] == "host");
  CHECK(pipeline["root"] == "Iterator::Root");
  CHECK(pipeline["get_next"] == Json::parse(R"({"count": 8, "slow_count": 8, "threshold_us": 50, "p50_us": 100000.0,
      "p95_us": 100000.0, "max_us": 100000.0, "total_us": 800000.0, "warmup_count": 0})"));

  const Json& culprit = pipeline["culprit"];
  CHECK(culprit["long_name"] == "Iterator::Root::Zip[0]::Map");
  CHECK(culprit["kind"] == "transformation");
  CHECK(culprit["chosen_by"] == "waits");
  CHECK(pipeline["limiting_resource"] == "cores");
  CHECK(pipeline["limit"] == "the 2 cores");
  CHECK(culprit["queued_closures"] == 2.5);
  CHECK(culprit["function_ops"][0] ==
        Json::parse(R"({"op": "MatMul", "self_us": 600000.0, "share": 0.8, "share_of_wait": 0.75})"));

  const Json& finding = page["findings"][0];
  CHECK(finding["severity"] == "warning");
  CHECK(finding["evidence"][0] == Json::parse(R"({"name": "function time", "value": 750.0, "unit": "ms"})"));
  CHECK(finding["advice"][0]["predicted_speedup"].is_null());
}

TEST_CASE("iterators are listed parents first, inputs in order, with ids as strings") {
  const Json iterators = json_of(input_bound_case())["pipelines"][0]["iterators"];
  REQUIRE(iterators.size() == 4);
  CHECK(iterators[0]["short_name"] == "Root");
  CHECK(iterators[1]["short_name"] == "Zip");
  CHECK(iterators[2]["short_name"] == "Map");
  CHECK(iterators[3]["short_name"] == "Range");
  CHECK(iterators[2]["id"] == "18446744073709551601");
  CHECK(iterators[2]["parent_id"] == "7");
  CHECK(iterators[0]["id"].is_null());
  CHECK(iterators[2]["attributes"] == Json::parse(R"({"deterministic": "true", "parallelism": 1})"));
}

TEST_CASE("critical times and what lies elsewhere add up to the time in GetNext") {
  const Json pipeline = json_of(input_bound_case())["pipelines"][0];
  double sum = 0;
  for (const Json& member : pipeline["iterators"]) sum += member["critical_us"].get<double>();
  for (const Json& part : pipeline["elsewhere"]) sum += part.get<double>();
  CHECK(sum == doctest::Approx(pipeline["get_next"]["total_us"].get<double>()));
}

TEST_CASE("only an iterator that somebody waits for is a culprit") {
  PipelineJudgement judged;
  judged.culprit = IteratorId{2};
  const auto has_culprit = [&](InputLevel level, Phase phase) {
    judged.level = level;
    judged.phase = phase;
    Case shown = input_bound_case();
    shown.diagnosis.judgement.pipelines = {judged};
    return !json_of(shown)["pipelines"][0]["culprit"].is_null();
  };
  CHECK(has_culprit(InputLevel::bound, Phase::steady));
  CHECK(has_culprit(InputLevel::mild, Phase::steady));
  CHECK(has_culprit(InputLevel::not_bound, Phase::warmup));
  CHECK_FALSE(has_culprit(InputLevel::not_bound, Phase::steady));
  CHECK_FALSE(has_culprit(InputLevel::not_bound, Phase::background));
  CHECK_FALSE(has_culprit(InputLevel::unknown, Phase::steady));
  judged.culprit = kNoIterator;
  CHECK_FALSE(has_culprit(InputLevel::bound, Phase::steady));
}

TEST_CASE("a pipeline of bare GetNext ops has no root and no iterators") {
  Case bare = input_bound_case();
  PipelineMeasurement& pipeline = bare.measurements.hosts[0].pipelines[0];
  pipeline.root = kNoIterator;
  pipeline.members.clear();
  bare.diagnosis.judgement.pipelines[0].culprit = kNoIterator;
  const Json shown = json_of(bare)["pipelines"][0];
  CHECK(shown["id"] == "0:getnext");
  CHECK(shown["root"].is_null());
  CHECK(shown["iterators"].empty());
  CHECK(holds(text_of(bare), "unknown: the trace shows that data arrives late"));
}

TEST_CASE("JSON survives invalid UTF-8 and is ASCII") {
  Case hostile = input_bound_case();
  hostile.measurements.hosts[0].iterators[2].long_name = "Iterator::\xFF\x1b\xC2\x9B\xC3\xB6";
  hostile.measurements.hosts[0].files[0].path = std::string("a\0b", 3);
  const std::string page = render_json(hostile.measurements, hostile.diagnosis);
  for (const char byte : page) {
    const auto value = static_cast<unsigned char>(byte);
    REQUIRE((value == '\n' || (value >= 0x20 && value < 0x7f)));
  }
  const Json parsed = Json::parse(page);
  CHECK(parsed["pipelines"][0]["culprit"]["long_name"] == "Iterator::\xEF\xBF\xBD\x1b\xC2\x9B\xC3\xB6");
  CHECK(parsed["trace"]["files"][0]["path"] == std::string("a\0b", 3));
}

}  // namespace
}  // namespace doctor::report_test
