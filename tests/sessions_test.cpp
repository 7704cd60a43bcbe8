// Machines, days and processes in a comparison: what they move together is not the pipeline's doing.

#include "compare/sessions.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compare/comparison.h"
#include "report/comparison_pages.h"
#include "summaries.h"

namespace doctor::sessions_test {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;
constexpr std::int64_t kMonday = 1'700'000'000'000'000'000;

/// Six maps with functions, so that there are rows enough to see what moves together.
RunSummary pipeline() {
  return SummaryBuilder("Root Batch Map Shuffle Filter Skip Take Range").takes("Map", 400).run();
}

struct Where {
  std::string host = "vm";
  std::uint64_t cores = 2;
  std::string process = {};  ///< empty: each recording has one of its own
};

/// `count` recordings, a minute apart, of which everything takes `factor` times as long.
std::vector<RunSummary> recorded(std::size_t count, std::int64_t start, double factor = 1, std::uint64_t seed = 1,
                                 const Where& where = {}) {
  std::vector<RunSummary> runs = recordings(scaled(pipeline(), factor), count, seed);
  for (std::size_t index = 0; index < count; ++index) {
    RecordingFacts& facts = runs[index].recording;
    facts.host = where.host;
    facts.cores = where.cores;
    facts.recorded_ns = start + static_cast<std::int64_t>(index) * kMinute;
    facts.process = where.process.empty() ? std::to_string(facts.recorded_ns) : where.process;
  }
  return runs;
}

std::vector<RunSummary> with_slower_map(std::vector<RunSummary> runs, double factor) {
  for (RunSummary& run : runs) {
    for (IteratorSummary& iterator : run.iterators) {
      if (iterator.kind == "Map") scale(iterator.self, factor);
    }
  }
  return runs;
}

Sessions sessions_of(const std::vector<RunSummary>& base, const std::vector<RunSummary>& candidate) {
  return find_sessions(base, candidate, ThresholdValues(comparison_thresholds(), {}));
}

TEST_CASE("recordings in turn share their sitting, one after the other do not") {
  std::vector<RunSummary> base = recorded(5, kMonday);
  CHECK(sessions_of(base, recorded(5, kMonday + kMinute / 2)).share_sittings);
  const Sessions apart = sessions_of(base, recorded(5, kMonday + 10 * kMinute));
  CHECK_FALSE(apart.share_sittings);
  CHECK(apart.base_sittings == 1);
  CHECK(apart.candidate_sittings == 1);
  // A pause ends a sitting.
  const std::vector<RunSummary> later = recorded(5, kMonday + 1000 * kMinute);
  base.insert(base.end(), later.begin(), later.end());
  CHECK(sessions_of(base, recorded(5, kMonday + 3000 * kMinute)).base_sittings == 2);
  // What no recording says is shared.
  CHECK(sessions_of(recordings(pipeline(), 5, 1), recordings(pipeline(), 5, 2)).share_sittings);
}

TEST_CASE("the floor is wider for recordings of another time, and less so where a side has several") {
  const ThresholdValues thresholds(comparison_thresholds(), {});
  const Readings steady = {{100, 100, 100, 100, 100}, {0, 1, 2, 3, 4}};
  const auto floor = [&](const std::vector<RunSummary>& base, const std::vector<RunSummary>& candidate,
                         const Readings& readings) {
    Readings of_base = readings;
    of_base.values.resize(base.size(), 100);
    for (std::size_t index = of_base.recordings.size(); index < base.size(); ++index) {
      of_base.recordings.push_back(index);
    }
    return session_floor(sessions_of(base, candidate), of_base, steady, thresholds);
  };
  const std::vector<RunSummary> candidate = recorded(5, kMonday + 9000 * kMinute);
  std::vector<RunSummary> base = recorded(5, kMonday);
  const double one = floor(base, candidate, steady);
  CHECK(one > 1.05);
  CHECK(one < 1.08);
  for (const int day : {1, 2}) {
    const std::vector<RunSummary> more = recorded(5, kMonday + day * 2000 * kMinute);
    base.insert(base.end(), more.begin(), more.end());
  }
  CHECK(floor(base, candidate, steady) < one);
  // Sittings that differ much raise it.
  CHECK(floor(base, candidate, {{60, 60, 60, 60, 60}, {0, 1, 2, 3, 4}}) > one);
}

TEST_CASE("what moves together is the machine, what moves alone is the pipeline") {
  const std::vector<RunSummary> base = recorded(5, kMonday);
  const std::int64_t later = kMonday + 500 * kMinute;
  const RunComparison slower_hour = compare_runs(base, recorded(5, later, 1.09, 2));
  CHECK(slower_hour.outcome == ComparisonOutcome::no_regression);
  CHECK(slower_hour.pace.ratio == doctest::Approx(1.09).epsilon(0.01));
  CHECK(render_comparison_text(slower_hour, {}).find("the machine is 1.09x slower") != std::string::npos);
  const RunComparison slower_map = compare_runs(base, with_slower_map(recorded(5, later, 1.09, 2), 1.2));
  CHECK(slower_map.outcome == ComparisonOutcome::regression);
  const TimeRow* const map = find_row(slower_map, TimeKind::self, "Map");
  REQUIRE(map != nullptr);
  CHECK(map->difference == Difference::slower);
  const TimeRow* const batch = find_row(slower_map, TimeKind::self, "Batch");
  REQUIRE(batch != nullptr);
  CHECK(batch->difference != Difference::slower);
  // In turn, there is no other hour to blame.
  CHECK(compare_runs(base, recorded(5, kMonday + kMinute / 2, 1.09, 2)).outcome == ComparisonOutcome::regression);
  // No hour is so much slower.
  CHECK(compare_runs(base, recorded(5, later, 1.4, 2)).outcome == ComparisonOutcome::regression);
}

TEST_CASE("one recording of a process of its own that was held up hides nothing") {
  std::vector<RunSummary> candidate = with_slower_map(recorded(5, kMonday + kMinute / 2, 1, 2), 1.2);
  for (IteratorSummary& iterator : candidate[2].iterators) scale(iterator.self, 1.4);
  const RunComparison comparison = compare_runs(recorded(5, kMonday), candidate);
  CHECK(find_row(comparison, TimeKind::self, "Map")->difference == Difference::slower);
}

TEST_CASE("tails and findings of another hour are the machine's, where pipeline and times are the same") {
  const std::vector<RunSummary> base = recorded(5, kMonday);
  const auto disturbed = [&](std::int64_t start) {
    std::vector<RunSummary> runs = recorded(5, start, 1, 2);
    for (RunSummary& run : runs) {
      for (IteratorSummary& iterator : run.iterators) {
        if (iterator.kind == "Map") iterator.self = durations(iterator.calls, 400, 0.3);
      }
      run.findings.push_back({"sequential-map", Severity::warning, "Iterator::Root::Batch::Map"});
    }
    return runs;
  };
  const RunComparison later = compare_runs(base, disturbed(kMonday + 500 * kMinute));
  CHECK(later.outcome == ComparisonOutcome::no_regression);
  const StructureChange* const finding = find_change(later, ChangeKind::finding_new);
  REQUIRE(finding != nullptr);
  CHECK(finding->message.find("the machine is the reason") != std::string::npos);
  // In turn both count.
  const RunComparison in_turn = compare_runs(base, disturbed(kMonday + kMinute / 2));
  CHECK(in_turn.outcome == ComparisonOutcome::regression);
  CHECK(find_row(in_turn, TimeKind::tail, "Map")->difference == Difference::slower);
  CHECK(find_change(in_turn, ChangeKind::finding_new)->is_worse);
  // So does a finding beside a call that takes longer.
  CHECK(
      find_change(compare_runs(base, with_slower_map(disturbed(kMonday + 500 * kMinute), 1.5)), ChangeKind::finding_new)
          ->is_worse);
}

TEST_CASE("times of another machine are not judged unless asked for") {
  const std::vector<RunSummary> base = recorded(5, kMonday);
  const Where elsewhere = {"bigbox", 16};
  const std::vector<RunSummary> candidate = recorded(5, kMonday + kMinute / 2, 1.7, 2, elsewhere);
  const RunComparison other = compare_runs(base, candidate);
  CHECK(other.outcome == ComparisonOutcome::inconclusive);
  CHECK(other.machines.is_other);
  const std::string text = render_comparison_text(other, {});
  CHECK(text.find("host: vm -> bigbox, cores: 2 -> 16") != std::string::npos);
  CHECK(text.find("--across-machines") != std::string::npos);
  const TimeRow* const map = find_row(other, TimeKind::self, "Map");
  REQUIRE(map != nullptr);
  CHECK(map->reason == "recorded on another machine");
  // The pipeline itself is compared all the same.
  std::vector<RunSummary> without_prefetch = candidate;
  std::vector<RunSummary> with_prefetch;
  for (RunSummary run : recordings(SummaryBuilder("Root Prefetch Batch Map Range"), 5, 1)) {
    run.recording = base.front().recording;
    with_prefetch.push_back(std::move(run));
  }
  CHECK(compare_runs(with_prefetch, without_prefetch).outcome == ComparisonOutcome::regression);

  ComparisonChoice across;
  across.is_across_machines = true;
  CHECK(compare_runs(base, candidate, across).outcome == ComparisonOutcome::no_regression);
  const RunComparison slower = compare_runs(base, with_slower_map(candidate, 1.3), across);
  CHECK(slower.outcome == ComparisonOutcome::regression);
  CHECK(slower.pace.ratio == doctest::Approx(1.7).epsilon(0.02));
}

TEST_CASE("recordings of other machines are left out where there are some of the same") {
  std::vector<RunSummary> base = recorded(5, kMonday);
  const std::vector<RunSummary> elsewhere = recorded(5, kMonday + kMinute / 3, 2, 3, {"bigbox", 16});
  base.insert(base.end(), elsewhere.begin(), elsewhere.end());
  const RunComparison comparison = compare_runs(base, recorded(5, kMonday + kMinute / 2, 1, 2));
  CHECK(comparison.base_count == 5);
  CHECK(comparison.outcome == ComparisonOutcome::no_regression);
}

}  // namespace
}  // namespace doctor::sessions_test
