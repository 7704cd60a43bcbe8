#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::host_to_device_copy_test {
namespace {

constexpr std::string_view kRule = "host-to-device-copy";

MeasuredPipeline copying(double uncovered_share) {
  MeasuredPipeline pipeline = with_device();
  device_of(pipeline).to_device = {100, 1'000'000, kPicosecondsPerSecond / 2};
  device_of(pipeline).uncovered_copies_to_device = part_of_second(uncovered_share);
  return pipeline;
}

TEST_CASE("host-to-device-copy: situations") {
  check_situations(kRule, {{"copies", copying(0.5), "warning"},
                           {"copies a little", copying(0.1), "note"},
                           {"kernels run meanwhile", copying(0.01), "silent"},
                           {"no copies", with_device(), "silent"},
                           {"no device", sequential_map(), "not evaluated"},
                           {"no kernel", without_kernels(), "not evaluated"},
                           {"a TF1 timeline", of_timeline(copying(0.5)), "not evaluated"}});
}

TEST_CASE("host-to-device-copy: thresholds") {
  check_thresholds(kRule, {{"min_share", 0.05, copying, at_least, "warning", "note"},
                           {"min_mild_share", 0.02, copying, at_least, "note"}});
}

}  // namespace
}  // namespace doctor::rule_test::host_to_device_copy_test
