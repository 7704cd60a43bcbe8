#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::device_pipeline_starved_test {
namespace {

constexpr std::string_view kRule = "device-pipeline-starved";

/// A device pipeline over a host pipeline of two iterators, and where its waits go.
MeasuredPipeline device_pipeline(double host_share, double device_share) {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Generator", "Map", "Range"});
  pipeline.waits_for(host_share > device_share ? "Map" : "Generator", 0);
  pipeline.pipeline().is_device = true;
  pipeline["Generator"].is_device_hop = true;
  for (const char* host_side : {"Map", "Range"}) pipeline[host_side].root = pipeline.id_of("Map");
  PhaseMeasurement& steady = pipeline.pipeline().steady;
  const auto waited = static_cast<double>(steady.waited);
  steady.critical = {};
  steady.critical[pipeline.id_of("Map")] = std::llround(host_share * waited);
  // A little of it is passing elements between threads.
  steady.critical[pipeline.id_of("Generator")] = std::llround(device_share * waited * 0.95);
  steady.handoff = std::llround(device_share * waited * 0.05);
  return pipeline;
}

TEST_CASE("device-pipeline-starved: situations") {
  check_situations(kRule, {{"the host pipeline is slow", device_pipeline(0.9, 0.05), "note"},
                           {"handing over is slow", device_pipeline(0.05, 0.9), "warning"},
                           {"the wait is not seen", device_pipeline(0.3, 0.2), "silent"},
                           {"does not wait", with_level(device_pipeline(0.9, 0.05), kHealthy), "silent"},
                           {"a host pipeline", sequential_map(), "silent"},
                           {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

TEST_CASE("device-pipeline-starved: replicas that share a host pipeline are counted") {
  MeasuredPipeline pipeline = device_pipeline(0.9, 0.05);
  pipeline.pipeline().fed_by = {pipeline.id_of("Map")};
  for (const std::size_t replicas : {1, 3}) {
    CAPTURE(replicas);
    MeasuredPipeline shared = pipeline;
    while (shared.host().pipelines.size() < replicas) shared.host().pipelines.push_back(shared.pipeline());
    const std::vector<Finding> findings = ask(kRule, shared.measurements()).findings;
    REQUIRE_FALSE(findings.empty());
    CHECK(mentions(findings.front(), replicas == 1 ? "The device pipeline waits" : "3 replicas wait for the one"));
    CHECK(mentions(findings.front(), "3 times as fast") == (replicas == 3));
  }
}

TEST_CASE("device-pipeline-starved: thresholds") {
  check_thresholds(kRule,
                   {{"min_host_share", 0.1, [](double share) { return device_pipeline(share, 0); }, at_least, "note"},
                    {"min_device_share", 0.1, [](double share) { return device_pipeline(0, share); }, at_least}});
}

}  // namespace
}  // namespace doctor::rule_test::device_pipeline_starved_test
