#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::devices_not_recorded_test {
namespace {

constexpr std::string_view kRule = "devices-not-recorded";

/// A job that names a GPU, with so many events of the host and none of the device.
MeasuredPipeline unseen(double events = 5000) {
  MeasuredPipeline pipeline = with_level(sequential_map(), kHealthy);
  pipeline.host().devices = {"/device:GPU:0"};
  pipeline.host().event_count = static_cast<std::uint64_t>(std::llround(events));
  return pipeline;
}

MeasuredPipeline by_its_thread() {
  MeasuredPipeline pipeline = unseen();
  pipeline.host().devices.clear();
  pipeline.host().threads.emplace_back("tf_GPU_Event_Manager/341089546");
  return pipeline;
}

MeasuredPipeline on_tpu() {
  MeasuredPipeline pipeline = unseen();
  pipeline.host().devices = {"/device:TPU:0"};
  return pipeline;
}

TEST_CASE("devices-not-recorded: situations") {
  check_situations(kRule, {{"a GPU without events", unseen(), "note"},
                           {"a thread for it", by_its_thread(), "note"},
                           {"few events", unseen(20), "silent"},
                           {"kernels", with_device(), "silent"},
                           {"another device", on_tpu(), "note"},
                           {"no device", sequential_map(), "silent"}});
}

TEST_CASE("devices-not-recorded: thresholds") {
  check_thresholds(kRule, {{"min_events", 20, [](double events) { return unseen(events); }, at_least, "note"}});
}

TEST_CASE("devices-not-recorded: it says how to see what is missing") {
  CHECK(says(kRule, unseen(), "ldconfig -p | grep libcupti"));
  CHECK(says(kRule, unseen(), "NVreg_RestrictProfilingToAdminUsers"));
  CHECK(says(kRule, on_tpu(), "jax.profiler.start_trace(logdir)"));
}

}  // namespace
}  // namespace doctor::rule_test::devices_not_recorded_test
