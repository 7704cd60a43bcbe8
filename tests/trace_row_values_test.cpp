// What a row says of a trace.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "fleet/row_columns.h"
#include "fleet/trace_row.h"
#include "pipeline.h"
#include "report/report.h"
#include "rows_of_traces.h"
#include "temporary_directory.h"
#include "text/numbers.h"

namespace doctor::trace_row_test {
namespace {

TEST_CASE("the best fix is the first change whose gain is known") {
  const auto finding = [](const std::string& rule, double gain, Condition condition) {
    Finding result;
    result.rule = rule;
    result.advice.push_back({"explains", std::nullopt});
    result.advice.push_back({"do it", std::nullopt});
    Prediction then;
    then.estimate = 10 * gain;
    then.low = 10 * gain - 1;
    then.condition = condition;
    result.advice.back().gain = Gain{10, then};
    return result;
  };
  Measurements measurements;
  measurements.hosts.emplace_back();
  Diagnosis diagnosis;
  const auto row = [&] { return row_of({}, measurements, diagnosis, {}); };
  diagnosis.findings.resize(1);
  CHECK(row().best_fix.empty());
  CHECK(!row().best_gain);
  diagnosis.findings.push_back(finding("python-function", 4, Condition::python_releases_lock));
  diagnosis.changes = {{1, 1, {}, {}}};
  CHECK(row().best_fix == "python-function");
  CHECK(row().best_condition == "python_releases_lock");
  diagnosis.findings.push_back(finding("missing-prefetch", 1.25, Condition::none));
  diagnosis.findings.push_back(finding("sequential-map", 1.5, Condition::none));
  diagnosis.findings.push_back(finding("slow-source", 1.5, Condition::none));
  diagnosis.changes = {{3, 1, {}, {}}, {4, 1, {}, {}}, {2, 1, {}, {}}, {1, 1, {}, {}}};
  CHECK(row().best_fix == "sequential-map");
  CHECK(row().best_gain == 1.5);
  CHECK(row().best_condition.empty());
  CHECK(row().best_gain_low == doctest::Approx(1.4));
  diagnosis.findings[3].suppressed.emplace();
  CHECK(row().best_fix == "slow-source");
}

TEST_CASE("a row says what the JSON report says") {
  for (const char* const name : {"seed_example1.xplane.pb", "healthy_tf2.4.trace.json.gz", "no_tf_data_tf2.4.xplane.pb",
                                 "tf1_sequential_map.timeline.json", "two_replicas_tf2.4.trace.json.gz"}) {
    CAPTURE(name);
    const std::string file = (kTraces / name).string();
    const Analysis analysis = analysis_of(file);
    const TraceRow row = row_of({file, 1, ""}, analysis.measurements, analysis.diagnosis, analysis.unreadable);
    const auto report = nlohmann::ordered_json::parse(render_json(analysis.measurements, analysis.diagnosis));
    const auto line = nlohmann::ordered_json::parse(render_row(row));
    const auto& verdict = report["verdict"];
    CHECK(line["verdict"] == verdict["status"]);
    CHECK(line["confidence"] == verdict["confidence"]);
    CHECK(line["input_share"] == verdict["input_share"]);
    CHECK(line["events"] == report["trace"]["events"]);
    CHECK(line["window_us"] == report["trace"]["window_us"]);
    CHECK(line["format"] == report["trace"]["files"][0]["format"]);
    CHECK(line["error"].is_null());
    CHECK(line["findings"].size() == report["findings"].size());
    if (verdict["culprit"].is_null()) {
      CHECK(line["culprit"].is_null());
    } else {
      CHECK(line["culprit"] == verdict["culprit"]["long_name"]);
      CHECK(line["culprit_kind"] == verdict["culprit"]["kind"]);
      CHECK(line["culprit_share"] == verdict["culprit"]["share"]);
      CHECK(line["limiting_resource"] == verdict["limiting_resource"]);
      CHECK(line["function_ops"].size() == std::min<std::size_t>(3, verdict["culprit"]["function_ops"].size()));
    }
    double lost = 0;
    for (const auto& pipeline : report["pipelines"]) {
      if (!pipeline["feeds_another"]) lost += pipeline["get_next"]["total_us"].get<double>();
    }
    CHECK(line["input_lost_us"].get<double>() == doctest::Approx(lost));
    if (!report["pipelines"].empty()) {
      CHECK(line["get_next_p50_us"] == report["pipelines"][0]["get_next"]["p50_us"]);
      CHECK(line["get_next_p95_us"] == report["pipelines"][0]["get_next"]["p95_us"]);
      CHECK(line["get_next_max_us"] == report["pipelines"][0]["get_next"]["max_us"]);
      CHECK(line["get_next_count"] == report["pipelines"][0]["get_next"]["count"]);
    }
  }
}

TEST_CASE("a diagnosis for rows alone has the rows of one for reports") {
  std::size_t gains = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kTraces)) {
    const std::string file = entry.path().string();
    CAPTURE(file);
    const Analysis brief = diagnose_files(std::vector{file}, {.rules = all_rules(), .scope = DiagnosisScope::row});
    const TraceRow row = row_of({file, 7, std::string(64, 'a')}, brief.measurements, brief.diagnosis, brief.unreadable);
    CHECK(render_row(row) == render_row(row_of_file(file)));
    CHECK(brief.diagnosis.inquiries.empty());
    gains += row.best_gain.has_value() ? 1 : 0;
  }
  CHECK(gains > 10);
}

TEST_CASE("time is lost where consumers wait, not where pipelines feed each other or devices compute meanwhile") {
  Measurements measurements;
  HostMeasurement& host = measurements.hosts.emplace_back();
  const auto add_pipeline = [&](Picoseconds warmup, Picoseconds steady) -> PipelineMeasurement& {
    PipelineMeasurement& pipeline = host.pipelines.emplace_back();
    pipeline.warmup.waited = warmup;
    pipeline.steady.waited = steady;
    pipeline.total = warmup + steady;
    return pipeline;
  };
  add_pipeline(1'000'000, 2'000'000);
  add_pipeline(10'000'000, 20'000'000).exposed.emplace().time = 5'000'000;
  add_pipeline(100'000'000, 200'000'000).feeds_another = true;
  CHECK(row_of({}, measurements, {}, {}).input_lost_us == 3 + 15);
}

TEST_CASE("findings that are suppressed are in no row") {
  Measurements measurements;
  measurements.hosts.emplace_back();
  Diagnosis diagnosis;
  diagnosis.findings.resize(2);
  diagnosis.findings[0].rule = "input-bound";
  diagnosis.findings[0].suppressed.emplace();
  diagnosis.findings[1].rule = "slow-source";
  const TraceRow row = row_of({}, measurements, diagnosis, {});
  REQUIRE(row.findings.size() == 1);
  CHECK(row.findings[0].rule == "slow-source");
}

TEST_CASE("a file that could not be read has a row with the reason, without a diagnosis") {
  const TemporaryDirectory directory;
  const TraceRow row = row_of_file(directory.write("words.txt", "no trace at all\n"));
  CHECK(!row.error.empty());
  CHECK(row.error.find("words.txt") == std::string::npos);
  CHECK(row.verdict.empty());
  CHECK(!row.confidence);
  CHECK(row.format.empty());
  CHECK(!row.is_complete);
}

TEST_CASE("rows say when the trace was recorded, where its file does") {
  CHECK(row_of_trace("seed_example1.xplane.pb").recorded_ns == 1795272060462218363);  // beside its events
  CHECK(row_of_trace("no_tf_data_tf2.4.xplane.pb").recorded_ns == 0);                 // times from the beginning on
  CHECK(row_of_trace("healthy_tf2.4.trace.json.gz").recorded_ns == 0);
  // At the first event that is kept, on a clock that counts from 1970.
  CHECK(to_timestamp(row_of_trace("session_timeline_tf2.21.json").recorded_ns) == "2026-11-21T14:43:32.587785Z");
}

TEST_CASE("the same program has the same signature, whatever recorded it") {
  const fs::path testdata = fs::path(source_dir()) / "testdata";
  const auto signature = [&](const std::string& name) { return row_of_file((testdata / name).string()).signature; };
  const std::string unchanged = signature("compare/unchanged/base.xplane.pb");
  CHECK(unchanged.size() == 16);
  CHECK(signature("compare/unchanged/candidate.xplane.pb") == unchanged);
  // Another recording tool.
  CHECK(signature("formats/interleave_tf2.21/host.xplane.pb") ==
        signature("formats/interleave_tf2.21/host.xprof.trace.json.gz"));
  // Other parallelism.
  CHECK(signature("compare/parallelism_lowered/base.xplane.pb") ==
        signature("compare/parallelism_lowered/candidate.xplane.pb"));
  CHECK(signature("compare/parallelism_removed/base.xplane.pb") ==
        signature("compare/parallelism_removed/candidate.xplane.pb"));
  // Another frame of the runtime, and no repeat.
  CHECK(signature("traces/seed_example1.xplane.pb") == signature("traces/tf1_sequential_map.timeline.json"));
  // Another structure.
  CHECK(signature("compare/cache_removed/base.xplane.pb") != signature("compare/cache_removed/candidate.xplane.pb"));
  CHECK(signature("compare/batch_and_map_swapped/base.xplane.pb") !=
        signature("compare/batch_and_map_swapped/candidate.xplane.pb"));
  CHECK(signature("traces/no_tf_data_tf2.4.xplane.pb").empty());
}

TEST_CASE("times of 1970 to 2261 are spelled and read back") {
  struct Case {
    std::int64_t nanoseconds;
    std::string text;
  };
  for (const Case& one : std::vector<Case>{{0, "1970-01-01T00:00:00.000000Z"},
                                           {1'795'272'060'462'218'000, "2026-11-21T14:41:00.462218Z"},
                                           {951'782'400'000'000'000, "2000-02-29T00:00:00.000000Z"},
                                           {-1'000, "1969-12-31T23:59:59.999999Z"}}) {
    CHECK(to_timestamp(one.nanoseconds) == one.text);
    CHECK(parse_timestamp(one.text) == one.nanoseconds);
  }
  CHECK(parse_timestamp("2026-11-21T14:41:00Z") == 1'795'272'060'000'000'000);
  CHECK(parse_timestamp("2026-11-21T14:41:00.25Z") == 1'795'272'060'250'000'000);
  for (const char* const wrong : {"", "Z", "2026-11-21", "2026-11-21T14:41:00", "2026-11-21T14:41:00+01:00",
                                  "2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T14:41:00.Z",
                                  "2026-11-21T14:41:00.xZ", "0001-01-01T00:00:00Z", "9999-01-01T00:00:00Z"}) {
    CAPTURE(wrong);
    CHECK(!parse_timestamp(wrong));
  }
}

TEST_CASE("the SHA-256 of a file is that of its stored bytes") {
  const TemporaryDirectory directory;
  // Of FIPS 180-2, appendix B.1 and B.3.
  CHECK(sha256_of_file(directory.write("abc", "abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of_file(directory.write("million", std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(sha256_of_file(directory.write("empty", "")) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(!sha256_of_file(directory / "missing"));
  CHECK(!sha256_of_file(directory.path()));
}

}  // namespace
}  // namespace doctor::trace_row_test
