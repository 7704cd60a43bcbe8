// Baselines: what is stored is read again, whatever is in it, and a program that is killed loses none of it.

#include "compare/baseline.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compare/baseline_store.h"
#include "stored_runs.h"
#include "summaries.h"
#include "temporary_directory.h"

namespace doctor::baseline_test {
namespace {

std::string random_text(std::mt19937_64& random) {
  static const std::vector<std::string> kTexts = {"",
                                                  "Iterator::Root::Map",
                                                  std::string("a\0b", 3),
                                                  "'; DROP TABLE runs; --",
                                                  "\"quoted\\ \n\t\x01\x7f",
                                                  "größer \xf0\x9f\x98\x80",
                                                  "</script>{}[],:"};
  return kTexts[random() % kTexts.size()];
}

DurationStatistics random_durations(std::mt19937_64& random) {
  const auto time = [&] { return static_cast<Picoseconds>(random() >> (1 + random() % 60)); };
  return {random() >> (random() % 64), time(), time(), time(), time(), time(), time()};
}

RunSummary random_summary(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RunSummary run;
  run.source = random_text(random);
  run.tool_version = random_text(random);
  run.status = static_cast<VerdictStatus>(random() % 4);
  if (random() % 2 == 0) {
    run.recording = {random_text(random),
                     random_text(random),
                     random() % 100,
                     random_text(random),
                     random_text(random),
                     static_cast<std::int64_t>(random() >> 1),
                     {},
                     std::nullopt,
                     std::nullopt,
                     std::nullopt,
                     std::nullopt};
    if (random() % 2 == 0) run.recording.other_load = {0.25, 1.5, std::nullopt};
  }
  run.confidence = static_cast<double>(random() % 1001) / 1000;
  run.is_complete = random() % 2 == 0;
  run.is_torn = random() % 2 == 0;
  for (std::size_t count = random() % 5; run.iterators.size() < count;) {
    IteratorSummary iterator;
    iterator.long_name = random_text(random);
    if (random() % 2 == 0) iterator.user_name = random_text(random);
    if (random() % 2 == 0) {
      iterator.source =
          SourceLine{random_text(random), random() % 100, random_text(random), random_text(random), std::nullopt};
    }
    iterator.kind = random_text(random);
    iterator.words = random_text(random);
    const std::size_t parent = random() % (run.iterators.size() + 1);
    iterator.parent = parent == run.iterators.size() ? kNoIndex : parent;
    iterator.is_autotuned = random() % 2 == 0;
    iterator.is_parallelised_by_tf = random() % 2 == 0;
    for (const char* name : {"batch_size", "parallelism"}) {
      if (random() % 2 == 0) iterator.settings.push_back({name, -static_cast<std::int64_t>(random() % 9), INT64_MAX});
    }
    iterator.calls = random();
    if (random() % 2 == 0) iterator.element_bytes = random();
    iterator.self = random_durations(random);
    if (random() % 2 == 0) iterator.function_ops.push_back({random_text(random), random_durations(random)});
    run.iterators.push_back(std::move(iterator));
  }
  if (random() % 2 == 0) {
    PipelineSummary& pipeline = run.pipelines.emplace_back();
    if (!run.iterators.empty()) pipeline.root = 0;
    pipeline.is_device = random() % 2 == 0;
    pipeline.feeds_another = random() % 2 == 0;
    pipeline.get_next = random_durations(random);
    pipeline.step = random_durations(random);
    pipeline.input_share = static_cast<double>(random() % 1001) / 1000;
  }
  if (random() % 2 == 0) run.findings.push_back({random_text(random), Severity::error, random_text(random)});
  return run;
}

TEST_CASE("what is stored is read again, whatever is in it") {
  for (const std::string& name : kNames) {
    CAPTURE(name);
    const TemporaryDirectory directory;
    const std::string path = directory / name;
    std::vector<StoredRun> runs;
    std::set<std::string> ids;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      StoredRun run{{}, {}, random_summary(seed)};
      run.id = identifier_of(run.summary);
      std::mt19937_64 random(seed);
      run.label = random_text(random);
      if (ids.insert(run.id).second) runs.push_back(run);
    }
    CHECK(runs.size() > 50);
    CHECK(added(path, runs) == runs.size());
    CHECK(loaded(path) == runs);
  }
}

TEST_CASE("invalid UTF-8 becomes replacement characters") {
  for (const std::string& name : kNames) {
    const TemporaryDirectory directory;
    StoredRun run = stored(1);
    run.label = "a\xff\xc3";
    run.summary.iterators[0].long_name = "Iterator::\x80";
    CHECK(added(directory / name, {run}) == 1);
    const std::vector<StoredRun> runs = loaded(directory / name);
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].label == "a\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(runs[0].summary.iterators[0].long_name == "Iterator::\xef\xbf\xbd");
  }
}

TEST_CASE("the identifier is that of what was measured") {
  RunSummary run = stored(7).summary;
  const std::string id = identifier_of(run);
  run.source = "another name";
  run.tool_version = "9.9";
  CHECK(identifier_of(run) == id);
  run.iterators[1].calls += 1;
  CHECK(identifier_of(run) != id);
}

TEST_CASE("the same run is stored once, and the last ones stay") {
  for (const std::string& name : kNames) {
    CAPTURE(name);
    const TemporaryDirectory directory;
    const std::string path = directory / name;
    CHECK(added(path, stored_from(1, 3)) == 3);
    CHECK(added(path, stored_from(2, 3)) == 1);
    CHECK(added(path, {stored(9), stored(9)}) == 1);
    CHECK(loaded(path) == std::vector<StoredRun>{stored(1), stored(2), stored(3), stored(4), stored(9)});
    CHECK(prune_baseline(path, last(10), kByName) == 0);
    CHECK(prune_baseline(path, last(2), kByName) == 3);
    CHECK(loaded(path) == std::vector<StoredRun>{stored(4), stored(9)});
    CHECK(added(path, {stored(1)}) == 1);
    CHECK(prune_baseline(path, last(0), kByName) == 3);
    CHECK(loaded(path).empty());
    CHECK(added(path, {stored(1)}) == 1);
  }
}

TEST_CASE("a baseline is JSON, whatever its name") {
  const TemporaryDirectory directory;
  for (const char* name : {"a.json", "b.db", "c"}) {
    CHECK(added(directory / name, {stored(1)}) == 1);
    CHECK(added(directory / name, {stored(2)}) == 1);
    CHECK(loaded(directory / name).size() == 2);
    CHECK(content_of(directory / name).starts_with("{\"schema\":\"tfdata-doctor.baseline/1\""));
    CHECK(sniff_baseline(content_of(directory / name)));
  }
  CHECK_FALSE(sniff_baseline("{\"traceEvents\":[]}"));
  CHECK_FALSE(sniff_baseline(""));
  // An empty file is none yet, and may become one.
  for (const std::string& name : kNames) {
    write(directory / name, "");
    const Result<std::vector<StoredRun>> runs = load_baseline(directory / name);
    REQUIRE_FALSE(runs);
    CHECK(runs.error().what.find("is empty") != std::string::npos);
    CHECK(runs.error().next.find("baseline add") != std::string::npos);
    CHECK(prune_baseline(directory / name, last(0), kByName) == 0);
    CHECK(added(directory / name, {stored(1)}) == 1);
  }
}

}  // namespace
}  // namespace doctor::baseline_test
