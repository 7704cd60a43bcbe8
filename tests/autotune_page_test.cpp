// The page of `show autotune`.

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "autotune_readings.h"
#include "built_paths.h"
#include "diagnose/tuning.h"
#include "measured_pipeline.h"
#include "pipeline.h"
#include "shown_page.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::autotune_test {
namespace {

using Json = nlohmann::json;

TEST_CASE("the text page") {
  SyntheticTrace trace = two_threads();
  for (auto& event : trace.events) {
    event.start_us *= 1e4;
    if (event.name == kMap) event.texts = {{"autotune", "true"}, {"deterministic", "true"}};
    if (event.name == "Iterator::Root") {
      event.numbers = {{"cpu_budget", 4}, {"ram_budget_megabytes", 9020}, {"threadpool_size", 4}};
      event.texts = {{"algorithm", "DEFAULT"}, {"ram_usage_megabytes", "7422 out of 25276 (29.37%)"}};
    }
  }
  const Analysis analysis = analyze_bytes(trace.to_xspace());
  CHECK(page_text(kAutotunePage, analysis) ==
        "pipeline 0:0 on host-1\n"
        "stage             given         parallelism                                       buffer  "
        "filled (min/mean/max)  what binds\n"
        "Dataset.prefetch  not recorded                                                    2       "
        "0 / 0.7 / 2            empty in 67% and full in 33% of the calls: a larger buffer can smooth the bursts\n"
        "  Dataset.map     AUTOTUNE      1 -> 2 at 2.100 s -> 4 at 4.100 s, deterministic          "
        "                       at the CPU budget of 4 cores\n"
        "CPU: 4 cores, 4 threads in the pool, algorithm DEFAULT\n"
        "RAM: 9,020 MB for buffers, the machine uses 7,422 MB of 25,276 MB\n");
}

TEST_CASE("the JSON and CSV pages of a recorded trace") {
  const fs::path trace = fs::path(source_dir()) / "testdata/traces/parallel_map_all_cores_tf2.21.xplane.pb";
  TraceNeeds options;
  options.attribute_history = true;
  const Analysis analysis = diagnose_files(std::vector<std::string>{trace.string()}, {.needs = options});
  const Json page(page_document(kAutotunePage, analysis));
  CHECK(page["schema"] == "tfdata-doctor.autotune/1");
  const Json& pipeline = page["pipelines"][0];
  CHECK(pipeline["budget"]["cpu_cores"] == 2);
  CHECK(pipeline["budget"]["machine_ram_mb"] == 25276);
  REQUIRE(pipeline["stages"].size() == 2);
  const Json& prefetch = pipeline["stages"][0];
  CHECK(prefetch["given"] == "autotune");
  CHECK(prefetch["binding"] == "empty_buffer");
  CHECK(prefetch["fill"]["call_count"] == 15);
  CHECK(prefetch["fill"]["empty_share"] == 1.0);
  const Json& map = pipeline["stages"][1];
  CHECK(map["chosen"]["parallelism"] == 2);
  CHECK(map["binding"] == "cpu_budget");
  CHECK(map["reason"] == "at the CPU budget of 2 cores");
  for (const Json& history : map["history"]) {
    if (history["attribute"] != "parallelism") continue;
    CHECK(history["event_count"] == 54);
    CHECK(history["unavailable_count"] == 5);
    CHECK(history["change_count"] == 0);
  }
  const std::string csv = page_csv(kAutotunePage, analysis);
  CHECK(csv.starts_with("pipeline,long_name,attribute,first,last,min,mean,max,changes\n0:0,Iterator::Root,algorithm,"));
  CHECK(csv.find("\n0:0,Iterator::Root::Prefetch,buffer_limit,2,2,2,2,2,0\n") != std::string::npos);
}

TEST_CASE("one run in several formats has one history") {
  const fs::path folder = fs::path(source_dir()) / "testdata/formats/interleave_tf2.21";
  TraceNeeds options;
  options.attribute_history = true;
  std::set<std::string> pages;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const Analysis analysis = diagnose_files(std::vector<std::string>{entry.path().string()}, {.needs = options});
    pages.insert(page_csv(kAutotunePage, analysis));
  }
  CHECK(pages.size() == 1);
  CHECK(pages.begin()->size() > 100);
}

TEST_CASE("a trace without attributes, without calls, without tf.data") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Model", 1, 0, 0, 100);
  const Analysis plain = analyze_bytes(trace.to_xspace());
  CHECK(page_text(kAutotunePage, plain) ==
        "pipeline 0:0 on host-1\n"
        "the trace shows no stage with a parallelism or a buffer\n"
        "the trace does not say what the pipeline may use (before TF 2.5 none did)\n");
  SyntheticTrace other;
  other.add("main", "work", 0, 10);
  const Analysis none = analyze_bytes(other.to_xspace());
  CHECK(page_text(kAutotunePage, none) == "no tf.data iterator in this trace\n");
}

}  // namespace
}  // namespace doctor::autotune_test
