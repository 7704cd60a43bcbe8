// Where, when and beside what a recording was made: the file beside a trace, and what it does to a comparison.

#include "trace/recording_facts.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "temporary_directory.h"

namespace doctor::recording_facts_test {
namespace {

constexpr std::string_view kWhole = R"({"schema": "tfdata-doctor.recording/1", "host": "vm", "cpu": "AMD EPYC",
  "cores": 2, "tensorflow": "2.21.0", "process": "12-34", "other_load": {"before": 0.5, "during": 1.25}})";

TEST_CASE("what the file beside a trace says") {
  const Result<RecordingFacts> facts = parse_recording_facts(kWhole);
  REQUIRE(facts);
  CHECK(facts->host == "vm");
  CHECK(facts->cpu == "AMD EPYC");
  CHECK(facts->cores == 2);
  CHECK(facts->tensorflow == "2.21.0");
  CHECK(facts->process == "12-34");
  CHECK(facts->other_load == OtherLoad{0.5, 1.25, std::nullopt});
  CHECK_FALSE(facts->slowdown.has_value());
}

std::optional<double> slowdown_of(const std::string& rates) {
  const std::string json = R"({"schema": "tfdata-doctor.recording/1", "steps_per_s": )" + rates + "}";
  return parse_recording_facts(json)->slowdown;
}

TEST_CASE("how much slower the loop is while it is recorded") {
  CHECK(slowdown_of(R"({"before": 90.0, "during": 30.0})") == 3.0);
  CHECK(slowdown_of(R"({"before": 90, "during": 120})") == 0.75);
  for (const char* const rates : {"{}", "[]", R"({"before": 9})", R"({"during": 9})", R"({"before": 9, "during": 0})",
                                  R"({"before": -9, "during": -3})", R"({"before": 1e300, "during": 1e-300})"}) {
    CAPTURE(rates);
    CHECK_FALSE(slowdown_of(rates).has_value());
  }
}

RecordingFacts with(const std::string& members) {
  return *parse_recording_facts(R"({"schema": "tfdata-doctor.recording/1", )" + members + "}");
}

TEST_CASE("which script and loop it was, and what all of its steps waited") {
  const RecordingFacts facts = with(R"("loop": {"kind": "fit", "script": "train.py", "first": 11, "last": 30},
    "whole_run": {"steps": 700, "wait_share": 0.5, "recorded_wait_share": 0.01, "worst": [51, 70]})");
  CHECK(facts.script == RecordedScript{"train.py", 11});
  CHECK(facts.whole_run == WholeRun{700, 0.5, 0.01, 51, 70});
  for (const char* const loop : {"[]", "{}", R"({"script": "train.py"})", R"({"script": 3, "first": 1})"}) {
    CAPTURE(loop);
    CHECK_FALSE(with(std::string(R"("loop": )") + loop).script.has_value());
  }
  for (const char* const run : {"{}", R"({"steps": 9, "wait_share": 2, "recorded_wait_share": 0, "worst": [1, 2]})",
                                R"({"steps": 9, "wait_share": 0.2, "recorded_wait_share": 0.1, "worst": [1]})",
                                R"({"steps": -9, "wait_share": 0.2, "recorded_wait_share": 0.1, "worst": [1, 2]})"}) {
    CAPTURE(run);
    CHECK_FALSE(with(std::string(R"("whole_run": )") + run).whole_run.has_value());
  }
}

TEST_CASE("by how much the steps that were not recorded are longer") {
  const RecordingFacts facts = with(R"("other_steps": {"steps": 700, "times_as_long": 1.6, "worst": [51, 70]})");
  CHECK(facts.other_steps == OtherSteps{700, 1.6, 51, 70});
  CHECK(facts.other_steps->extra_share() == doctest::Approx(0.375));
  CHECK(OtherSteps{700, 0.8, 51, 70}.extra_share() == 0);
  for (const char* const other : {"{}", R"({"steps": 9, "times_as_long": 0, "worst": [1, 2]})",
                                  R"({"steps": 9, "times_as_long": 1e300, "worst": [1, 2]})",
                                  R"({"steps": 9, "times_as_long": 1.6, "worst": [1]})"}) {
    CAPTURE(other);
    CHECK_FALSE(with(std::string(R"("other_steps": )") + other).other_steps.has_value());
  }
}

TEST_CASE("what is missing or makes no sense is unknown") {
  for (const std::string_view json :
       {R"({"schema": "tfdata-doctor.recording/1"})",
        R"({"schema": "tfdata-doctor.recording/1", "host": 3, "cores": -1, "other_load": {"during": -2}})",
        R"({"schema": "tfdata-doctor.recording/1", "cores": 1e99, "cpu": null, "other_load": []})"}) {
    CAPTURE(json);
    const Result<RecordingFacts> facts = parse_recording_facts(json);
    REQUIRE(facts);
    CHECK(*facts == RecordingFacts());
  }
  for (const std::string_view json : {"", "[]", "{", R"({"schema": "tfdata-doctor.recording/2"})"}) {
    CAPTURE(json);
    CHECK_FALSE(parse_recording_facts(json));
  }
}

TEST_CASE("it is read where it lies beside the trace, and only a small regular file") {
  const TemporaryDirectory directory;
  const std::string trace = directory / "vm.xplane.pb";
  CHECK(recording_facts_beside(trace) == RecordingFacts());
  std::ofstream(directory / "recording.json") << kWhole;
  CHECK(recording_facts_beside(trace).cpu == "AMD EPYC");
  CHECK(recording_facts_beside("-") == RecordingFacts());
  std::ofstream(directory / "recording.json", std::ios::app) << std::string(100'000, ' ');
  CHECK(recording_facts_beside(trace) == RecordingFacts());
}

}  // namespace
}  // namespace doctor::recording_facts_test
