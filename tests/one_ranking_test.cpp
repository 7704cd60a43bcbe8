// One ranking: whatif follows the report, and a cache that may never be complete is never first.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "diagnose/diagnose.h"
#include "diagnose/fix_advice.h"
#include "diagnose/whatif.h"
#include "measure/measure.h"
#include "model/prediction.h"
#include "pipeline.h"
#include "run_tool.h"

namespace doctor::one_ranking_test {
namespace {

namespace fs = std::filesystem;

const std::vector<Analysis>& recorded() {
  static const std::vector<Analysis> kAnalyses = [] {
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(source_dir()) / "testdata/traces")) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".pb") || name.ends_with(".gz")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::vector<Analysis> analyses;
    for (const std::string& file : files) {
      analyses.push_back(diagnose_files(std::vector<std::string>{file}, {.rules = all_rules()}));
    }
    return analyses;
  }();
  return kAnalyses;
}

const Advice& advice_of(const Diagnosis& diagnosis, const Change& change) {
  return diagnosis.findings[change.finding].advice[change.advice];
}

/// The place of a fix among the changes; after all of them if it is not there.
std::size_t place_of(const Diagnosis& diagnosis, const Fix& fix) {
  const auto found = std::find_if(diagnosis.changes.begin(), diagnosis.changes.end(), [&](const Change& change) {
    const std::vector<Fix>& fixes = advice_of(diagnosis, change).fixes;
    return std::any_of(fixes.begin(), fixes.end(),
                       [&](const Fix& one) { return one.kind == fix.kind && one.iterator == fix.iterator; });
  });
  return static_cast<std::size_t>(found - diagnosis.changes.begin());
}

/// What whatif says of a recording of one host; nullopt of several.
std::optional<HostPredictions> predictions_of(const Analysis& analysis, const WhatIfRequest& request = {}) {
  if (analysis.measurements.hosts.size() != 1) return std::nullopt;
  auto hosts = predict_fixes(analysis.measurements, analysis.diagnosis, request);
  REQUIRE(hosts);
  return std::move(hosts->front());
}

TEST_CASE("whatif has what gains without a condition in the order of the report") {
  std::size_t compared = 0;
  for (const Analysis& analysis : recorded()) {
    const std::optional<HostPredictions> host = predictions_of(analysis);
    if (!host) continue;
    CAPTURE(analysis.measurements.hosts.front().files.front().path);
    std::vector<std::size_t> places;
    for (const PredictedFixes& fixes : host->fixes) {
      const bool is_sure = fixes.prediction.condition == Condition::none;
      if (is_sure && fixes.prediction.estimate >= kLeastGain * host->now) {
        places.push_back(place_of(analysis.diagnosis, fixes.fixes.front()));
      }
    }
    CHECK(std::is_sorted(places.begin(), places.end()));
    compared += places.empty() ? 0 : 1;
  }
  CHECK(compared > 5);
}

TEST_CASE("what whatif names first the report names first, with a gain") {
  std::size_t compared = 0;
  for (const Analysis& analysis : recorded()) {
    const std::optional<HostPredictions> host = predictions_of(analysis);
    if (!host) continue;
    CAPTURE(analysis.measurements.hosts.front().files.front().path);
    if (host->fixes.empty() || analysis.diagnosis.judgement.status != VerdictStatus::input_bound) continue;
    const PredictedFixes& first = host->fixes.front();
    constexpr double kClearGain = 1.1;
    const bool is_sure = first.prediction.condition == Condition::none;
    if (!is_sure || first.prediction.estimate < kClearGain * host->now) continue;
    CHECK(place_of(analysis.diagnosis, first.fixes.front()) == 0);
    ++compared;
  }
  CHECK(compared > 5);
}

TEST_CASE("no changes bring more than elements that are ready") {
  std::size_t compared = 0;
  for (const Analysis& analysis : recorded()) {
    const std::optional<HostPredictions> host = predictions_of(analysis, {.wants_plan = true});
    if (!host || !host->pipeline) continue;
    CAPTURE(analysis.measurements.hosts.front().files.front().path);
    for (const PredictedFixes& several : host->together) {
      CHECK(several.prediction.estimate <= host->without_input.estimate);
    }
    if (host->plan) {
      for (const PredictedFixes& step : host->plan->steps) {
        if (step.fixes.size() > 1) CHECK(step.prediction.estimate <= host->without_input.estimate);
      }
    }
    const double ready = analysis.diagnosis.judgement.pipelines[*host->pipeline].steps_per_s_without_input;
    for (const Change& change : analysis.diagnosis.changes) {
      if (!change.together) continue;
      ++compared;
      CHECK(change.together->then.estimate <= ready);
    }
  }
  CHECK(compared > 4);
}

TEST_CASE("a cache without an end of an epoch comes after all other changes") {
  std::size_t unproven = 0;
  for (const Analysis& analysis : recorded()) {
    const HostMeasurement& host = analysis.measurements.hosts.front();
    CAPTURE(host.files.front().path);
    bool is_last = false;
    for (const Change& change : analysis.diagnosis.changes) {
      const std::vector<Fix>& fixes = advice_of(analysis.diagnosis, change).fixes;
      const bool may_bring_nothing = std::any_of(fixes.begin(), fixes.end(), [&](const Fix& fix) {
        const bool is_cache = fix.kind == FixKind::cache || fix.kind == FixKind::split_cache;
        return is_cache && !shows_epoch_end(host, fix.iterator);
      });
      CHECK(change.is_unproven == may_bring_nothing);
      if (is_last) CHECK(may_bring_nothing);
      is_last = is_last || may_bring_nothing;
      unproven += may_bring_nothing ? 1 : 0;
    }
  }
  CHECK(unproven > 3);
}

TEST_CASE("a cache is never advised after an endless repeat or a shuffle of elements") {
  HostMeasurement host;
  for (const char* const name : {"Root", "Map", "Shuffle", "TFRecord"}) {
    IteratorMeasurement iterator;
    iterator.short_name = name;
    iterator.long_name = name;
    const auto id = static_cast<IteratorId>(host.iterators.size());
    if (!host.iterators.empty()) {
      iterator.parent = static_cast<IteratorId>(host.iterators.size() - 1);
      host.iterators.back().children.push_back(id);
    }
    host.iterators.push_back(iterator);
  }
  find_user_calls({}, host);
  const Fix cache{FixKind::cache, IteratorId{1}, {}, {}};
  CHECK(advice_for(host, cache)->code ==
        "dataset = dataset.map(f).cache()  # before Dataset.shuffle; f must not be random");
  const Fix split{FixKind::split_cache, IteratorId{1}, {}, {}};
  CHECK(advice_for(host, split)->code->find(".cache().shuffle(n)") != std::string::npos);
  host.iterators[2].short_name = "ForeverRepeat";
  CHECK(advice_for(host, split)->code->find(".cache().repeat()  # no repeat before") != std::string::npos);
  CHECK(advice_for(host, cache)->text.whole().find("never be complete") != std::string::npos);
  host.iterators[2].short_name = "Take";
  CHECK(advice_for(host, cache)->code == "dataset = dataset.cache()  # after Dataset.map");
  // What from_generator() makes of a generator is one thing to who calls it.
  host.iterators[1].short_name = "FlatMap";
  host.iterators[2].short_name = "Generator";
  find_user_calls({}, host);
  CHECK(advice_for(host, cache)->code == "dataset = dataset.cache()  # after from_generator");
}

TEST_CASE("of gains that are alike the one that may be none comes after the one that is certain") {
  const auto gain = [](double low, double estimate) {
    Gain made;
    made.now = 20;
    made.then.low = 20 * low;
    made.then.estimate = 20 * estimate;
    return made;
  };
  const Gain uncertain = gain(0.99, 1.15);
  const Gain certain = gain(1.08, 1.12);
  CHECK(brings_more(certain, uncertain));
  CHECK_FALSE(brings_more(uncertain, certain));
  CHECK(brings_more(gain(0.99, 1.4), certain));
  CHECK_FALSE(brings_more(gain(1.05, 1.13), certain));
}

TEST_CASE("where no change has a gain, JSON and page say why in the same words") {
  const std::string trace = source_dir() + "/testdata/traces/sequential_map_tf2.4.trace.json.gz";
  const auto said = [&](const std::string& format, const std::string& least_gain) {
    return run_tool({trace, "--format", format, "--min-gain", least_gain}).output;
  };
  const std::string why = "none of the changes that the model knows makes it clearly faster";
  CHECK(said("json", "1000").find("\"no_gain_because\": \"" + why) != std::string::npos);
  CHECK(said("html", "1000").find("<p>Gain: " + why + ".</p>") != std::string::npos);
  for (const char* format : {"text", "json", "html"}) CHECK(said(format, "1.03").find(why) == std::string::npos);
}

}  // namespace
}  // namespace doctor::one_ranking_test
