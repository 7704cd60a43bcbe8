// Files of which a part is missing: what is not in them is no evidence that nobody waits.

#include "trace/torn.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "built_paths.h"
#include "compare/comparison.h"
#include "compare/comparison_thresholds.h"
#include "compare/run_summary.h"
#include "diagnose/budgets.h"
#include "diagnose/catalog.h"
#include "diagnose/recording.h"
#include "fleet/trace_row.h"
#include "measure/measure.h"
#include "measured_pipeline.h"
#include "report/selection.h"
#include "summaries.h"
#include "synthetic_trace.h"
#include "tree/iterator_forest.h"
#include "words/doubt_words.h"

namespace doctor::torn_test {
namespace {

namespace fs = std::filesystem;

/// Steps of 10 ms, of which `wait_us` are spent in GetNext: in a Map that stands right below the root.
SyntheticTrace loop(double wait_us) {
  SyntheticTrace trace;
  for (int step = 0; step < 60; ++step) {
    const double start = step * 10'000.0;
    trace.add("python", "IteratorGetNextOp::DoCompute", start, wait_us + 10);
    trace.iterator("python", "Iterator::Root", 1, 0, start + 2, wait_us + 6);
    trace.iterator("python", "Iterator::Root::Map", 2, 1, start + 4, wait_us);
    trace.add("trainer", "train_step", start + wait_us + 20, 9'000 - wait_us);
  }
  return trace;
}

struct Run {
  Measurements measurements;
  Diagnosis diagnosis;

  const Judgement& judgement() const { return diagnosis.judgement; }
};

/// Nothing if no event at all could be read.
std::optional<Run> diagnose_bytes(const std::string& bytes) {
  const Result<Trace> trace = SyntheticTrace::read(bytes);
  if (!trace) return std::nullopt;
  Run run;
  run.measurements.hosts.push_back(measure(*trace, build_tree(*trace)));
  run.diagnosis = diagnose(run.measurements, all_rules(), {});
  return run;
}

Measurements torn(MeasuredPipeline pipeline, const std::string& reason) {
  pipeline.host().loss.add(reason);
  return pipeline.measurements();
}

MeasuredPipeline healthy() {
  return MeasuredPipeline({"Root", "Prefetch", "Map", "Range"}).waits_for("Map", 0.9, 0.01);
}

MeasuredPipeline bound() {
  return MeasuredPipeline({"Root", "Prefetch", "Map", "Range"}).waits_for("Map");
}

/// One of each kind, all of which loop(20) keeps to.
const std::vector<Budget> kBudgets = {{BudgetKind::input_share, {}, 0.1, {}, "test"},
                                      {BudgetKind::get_next_p95, {}, 1e6, {}, "test"},
                                      {BudgetKind::forbidden_rule, {}, 0, "slow-source", "test"}};

TEST_CASE("every reason for a loss says whether a part of the file is missing, and every one is given by a reader") {
  static const std::regex kReason(
      "\"((?:events|calls|lines|planes|hosts|iterators|messages|input|document|files|device_planes|clock)_[a-z_]+)\"");
  std::set<std::string> given;
  const fs::path lib = fs::path(source_dir()) / "lib";
  std::vector<fs::path> files = {lib / "pipeline.cpp", lib / "convert" / "convert.cpp"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(lib / "trace")) {
    if (entry.path().extension() == ".cpp" && entry.path().filename() != "torn.cpp") files.push_back(entry.path());
  }
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator match(source.begin(), source.end(), kReason), end; match != end; ++match) {
      given.insert((*match)[1]);
    }
  }
  std::set<std::string> listed;
  for (const LossReason& reason : loss_reasons()) CHECK(listed.insert(std::string(reason.name)).second);
  CHECK(given == listed);
}

TEST_CASE("a healthy trace that is cut anywhere is never called healthy") {
  const SyntheticTrace trace = loop(20);
  const std::string json = trace.to_chrome_json();
  for (const std::string& bytes : {trace.to_xspace(), json.substr(0, json.rfind(']'))}) {
    REQUIRE(diagnose_bytes(bytes));
    for (std::size_t tenths = 1; tenths < 10; ++tenths) {
      CAPTURE(tenths);
      const std::optional<Run> run = diagnose_bytes(bytes.substr(0, bytes.size() * tenths / 10));
      if (!run) continue;
      CHECK(is_torn(run->measurements.hosts[0].loss));
      CHECK(run->judgement().status == VerdictStatus::inconclusive);
      CHECK(run->judgement().confidence < 0.5);
      for (const PipelineJudgement& pipeline : run->judgement().pipelines) {
        CHECK(pipeline.level == InputLevel::unknown);
      }
    }
  }
  const std::optional<Run> whole = diagnose_bytes(trace.to_xspace());
  CHECK(whole->judgement().status == VerdictStatus::healthy);
  CHECK(diagnose_bytes(json)->judgement().status == VerdictStatus::healthy);
}

std::string culprit_of(const Run& run) {
  if (run.judgement().status != VerdictStatus::input_bound) return {};
  return pipelines_of(run.measurements, run.judgement()).front().culprit().long_name;
}

TEST_CASE("the first part of the bytes of a recorded trace is never healthy, nor surely another culprit") {
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(source_dir()) / "testdata" / "traces")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".xplane.pb") && !name.ends_with(".trace.json.gz")) continue;
    CAPTURE(name);
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const std::string bytes = text.str();
    const std::optional<Run> whole = diagnose_bytes(bytes);
    REQUIRE(whole);
    for (std::size_t tenths = 1; tenths < 10; ++tenths) {
      CAPTURE(tenths);
      const std::optional<Run> run = diagnose_bytes(bytes.substr(0, bytes.size() * tenths / 10));
      if (!run) continue;
      CHECK(run->judgement().status != VerdictStatus::healthy);
      CHECK(run->judgement().status != VerdictStatus::no_input_pipeline);
      if (run->judgement().status != VerdictStatus::input_bound || run->judgement().confidence < 0.7) continue;
      CHECK(culprit_of(*run) == culprit_of(*whole));
    }
  }
}

TEST_CASE("what was seen of a torn trace stands, for what is less sure") {
  const std::string json = loop(6'000).to_chrome_json();
  const std::optional<Run> whole = diagnose_bytes(json);
  REQUIRE(whole);
  CHECK(whole->judgement().confidence > 0.7);
  const std::optional<Run> run = diagnose_bytes(json.substr(0, json.size() * 8 / 10));
  REQUIRE(run);
  CHECK(is_torn(run->measurements.hosts[0].loss));
  CHECK(run->judgement().status == VerdictStatus::input_bound);
  CHECK(run->judgement().confidence > 0.6);
  CHECK(run->judgement().confidence < 0.7);
  CHECK(culprit_of(*run) == culprit_of(*whole));
}

TEST_CASE("the report says what happened to a torn file, and what to do") {
  const std::string bytes = loop(20).to_xspace();
  const std::optional<Run> run = diagnose_bytes(bytes.substr(0, bytes.size() * 62 / 100));
  REQUIRE(run);
  CHECK(describe_doubt(*torn_file(run->measurements), run->measurements) ==
        "the file is cut off after at most 62%: what is missing may be what training waited for");
  CHECK(describe_tear(Loss{{{"document_cut_off", 1}, {"events_malformed", 3}}, {}, {}}) == "is cut off");
  CHECK(describe_tear(Loss{{{"events_malformed", 3}}, {}, {}}) == "is damaged");
  CHECK(describe_tear(Loss{{{"events_unpaired", 3}}, {}, {}}).empty());
}

TEST_CASE("of several hosts the torn one is named, and the run is not healthy however the others do") {
  Measurements measurements = healthy().measurements();
  measurements.hosts.push_back(torn(healthy(), "document_cut_off").hosts[0]);
  measurements.hosts[1].files = {{"second.trace.json", "chrome_json", 1000}};
  const Judgement judgement = diagnose(measurements, {}, {}).judgement;
  CHECK(judgement.status == VerdictStatus::inconclusive);
  CHECK(judgement.confidence < 0.5);
  CHECK(describe_doubt(*torn_file(measurements), measurements)
            .starts_with("second.trace.json is cut off: what is missing"));
  // A file of which nothing could be read.
  measurements.hosts[1] = {};
  measurements.hosts[1].files = {{"third.xplane.pb", {}, 0}};
  measurements.hosts[1].loss.add("files_unreadable");
  const Judgement without_second = diagnose(measurements, {}, {}).judgement;
  CHECK(without_second.status == VerdictStatus::inconclusive);
  CHECK(describe_doubt(*torn_file(measurements), measurements).starts_with("third.xplane.pb could not be read: "));
  // Losses of other kinds leave a verdict as it is.
  const Measurements unpaired = torn(healthy(), "events_unpaired");
  CHECK(diagnose(unpaired, {}, {}).judgement.status == VerdictStatus::healthy);
}

TEST_CASE("a budget that a torn trace keeps to is not evaluated, one that it exceeds is exceeded") {
  const auto share = [](double limit) { return std::vector<Budget>{{BudgetKind::input_share, {}, limit, {}, "test"}}; };
  const std::vector<Budget> forbidden = {{BudgetKind::forbidden_rule, {}, 0, "slow-source", "test"}};
  for (const MeasuredPipeline& pipeline : {healthy(), bound()}) {
    const Measurements measurements = torn(pipeline, "input_cut_off");
    const Diagnosis diagnosis = diagnose(measurements, {}, {});
    CHECK(outcome_of(check_budgets(measurements, diagnosis, share(0.9))) == BudgetOutcome::unknown);
    CHECK(outcome_of(check_budgets(measurements, diagnosis, forbidden)) == BudgetOutcome::unknown);
    CHECK(std::holds_alternative<doubts::TornFile>(check_budgets(measurements, diagnosis, share(0.9))[0].doubt));
  }
  const Measurements slow = torn(bound(), "input_cut_off");
  CHECK(outcome_of(check_budgets(slow, diagnose(slow, {}, {}), share(0.1))) == BudgetOutcome::exceeded);
  const Measurements whole = healthy().measurements();
  CHECK(outcome_of(check_budgets(whole, diagnose(whole, {}, {}), share(0.9))) == BudgetOutcome::met);
}

// Whose events all last no time was "your input is fine", and passed a budget.
TEST_CASE("a trace that has lost how long its events took is no evidence") {
  for (const double length_us : {0.0, 1e-6, 1e-3}) {
    CAPTURE(length_us);
    SyntheticTrace trace = loop(20);
    for (SyntheticTrace::Event& event : trace.events) event.duration_us = length_us;
    const std::optional<Run> run = diagnose_bytes(trace.to_xspace());
    REQUIRE(run);
    CHECK(run->judgement().status == VerdictStatus::inconclusive);
    CHECK(describe_doubt(*torn_file(run->measurements), run->measurements) ==
          "the file has lost how long its events took: it does not show how long training waited");
    CHECK(outcome_of(check_budgets(run->measurements, run->diagnosis, kBudgets)) == BudgetOutcome::unknown);
  }
}

// Each of these was "your input is fine", and passed budgets.
TEST_CASE("calls that no thread can make are no evidence") {
  struct Case {
    const char* name;
    std::function<void(SyntheticTrace&)> edit;
    std::string reason;
  };
  constexpr std::size_t kEvents = 4;  // of a step
  const auto call = [](SyntheticTrace& trace, std::size_t step) -> SyntheticTrace::Event& {
    return trace.events[step * kEvents];
  };
  for (const Case& one : std::vector<Case>{
           {"a call lasts until others have begun", [&](auto& trace) { call(trace, 30).duration_us *= 1000; },
            "calls_in_themselves"},
           {"the last call of a window, too", [&](auto& trace) { call(trace, 58).duration_us *= 1000; },
            "calls_in_themselves"},
           {"so does an iterator's", [&](auto& trace) { trace.events[30 * kEvents + 1].duration_us *= 1000; },
            "calls_in_themselves"},
           {"every event is there twice",
            [&](auto& trace) {
              std::vector<SyntheticTrace::Event> twice;
              for (const SyntheticTrace::Event& event : trace.events) twice.insert(twice.end(), {event, event});
              trace.events = twice;
            },
            "calls_in_themselves"},
           {"every thread is there twice",
            [&](auto& trace) {
              const std::vector<SyntheticTrace::Event> once = trace.events;
              for (SyntheticTrace::Event event : once) {
                event.thread += " again";
                trace.events.push_back(event);
              }
            },
            "calls_repeated"},
       }) {
    CAPTURE(one.name);
    SyntheticTrace trace = loop(20);
    one.edit(trace);
    const std::optional<Run> run = diagnose_bytes(trace.to_xspace());
    REQUIRE(run);
    CHECK(run->measurements.hosts[0].loss.counts.contains(one.reason));
    CHECK(run->judgement().status == VerdictStatus::inconclusive);
    for (const Budget& budget : kBudgets) {
      CHECK(outcome_of(check_budgets(run->measurements, run->diagnosis, std::vector{budget})) ==
            BudgetOutcome::unknown);
    }
  }
}

TEST_CASE("threads whose clocks disagree are no evidence") {
  SyntheticTrace trace = loop(20);
  for (int step = 0; step < 60; ++step) {
    const double start = step * 10'000.0;
    trace.add("producer", "ParallelMapProduce", start - 500, 400).ids["element_id"] =
        1000U + static_cast<unsigned>(step);
    trace.iterator("producer", "Iterator::Root::Map", 2, 1, start - 490, 300);
    trace.add("python", "ParallelMapConsume", start + 5, 1).ids["element_id"] = 1000U + static_cast<unsigned>(step);
  }
  std::stable_sort(trace.events.begin(), trace.events.end(),
                   [](const auto& a, const auto& b) { return a.start_us < b.start_us; });
  xspace::XSpace space = trace.to_message();
  CHECK(diagnose_bytes(space.SerializeAsString())->judgement().status == VerdictStatus::healthy);
  const auto counts_of = [](const xspace::XSpace& of) {
    const std::optional<Run> run = diagnose_bytes(of.SerializeAsString());
    REQUIRE(run);
    CHECK(run->judgement().status == VerdictStatus::inconclusive);
    return run->measurements.hosts[0].loss.counts;
  };
  xspace::XSpace shifted = space;
  for (xspace::XLine& line : *shifted.mutable_planes(0)->mutable_lines()) {
    if (line.name() == "producer") line.set_timestamp_ns(line.timestamp_ns() + 5'000'000'000);
  }
  CHECK(counts_of(shifted).contains("lines_of_other_clocks"));
  // The recording took a second.
  xspace::XPlane& recording = *shifted.add_planes();
  recording.set_name("Task Environment");
  for (const auto& [id, name, time] : {std::tuple(1, "profile_start_time", std::uint64_t{1'700'000'000'000'000'000}),
                                       std::tuple(2, "profile_stop_time", std::uint64_t{1'700'000'001'000'000'000})}) {
    (*recording.mutable_stat_metadata())[id].set_name(name);
    xspace::XStat& stat = *recording.add_stats();
    stat.set_metadata_id(id);
    stat.set_uint64_value(time);
  }
  CHECK(counts_of(shifted).contains("events_outside_recording"));
  *space.add_planes() = recording;
  CHECK(diagnose_bytes(space.SerializeAsString())->judgement().status == VerdictStatus::healthy);
}

TEST_CASE("a row of a torn trace is not healthy") {
  const Measurements measurements = torn(healthy(), "messages_malformed");
  const TraceRow row = row_of({}, measurements, diagnose(measurements, {}, {}), {});
  CHECK(row.verdict == "inconclusive");
  CHECK(row.confidence < 0.5);
  CHECK_FALSE(row.is_complete);
}

TEST_CASE("torn recordings take no part in a comparison") {
  CHECK(summarize_run("r", torn(healthy(), "events_malformed"), {}).is_torn);
  CHECK_FALSE(summarize_run("r", torn(healthy(), "events_unpaired"), {}).is_torn);
  const std::string_view chain = "Root Prefetch Map TFRecord";
  const std::vector<RunSummary> whole(6, SummaryBuilder(chain));
  std::vector<RunSummary> with_torn(5, SummaryBuilder(chain));
  RunSummary& half = with_torn.emplace_back(SummaryBuilder("Root Prefetch"));
  half.is_torn = true;
  half.is_complete = false;
  const ThresholdValues thresholds(comparison_thresholds(), {});
  const RunComparison comparison = compare(whole, with_torn, {}, thresholds);
  CHECK(comparison.base_count == 6);
  CHECK(comparison.candidate_count == 5);
  CHECK(comparison.changes.empty());
  REQUIRE_FALSE(comparison.notes.empty());
  CHECK(comparison.notes[0].starts_with("1 of 6 candidate recordings is cut off or damaged and was left out"));
  // Nothing is left to compare: no pass.
  const RunComparison nothing = compare(whole, std::span(with_torn).subspan(5), {}, thresholds);
  CHECK(nothing.outcome == ComparisonOutcome::inconclusive);
  CHECK(nothing.changes.empty());
  CHECK(nothing.notes.size() == 1);
}

}  // namespace
}  // namespace doctor::torn_test
