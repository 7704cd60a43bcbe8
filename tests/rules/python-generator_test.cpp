#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::python_generator_test {
namespace {

constexpr std::string_view kRule = "python-generator";

MeasuredPipeline device_hop() {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Generator"});
  pipeline.waits_for("Generator");
  pipeline.pipeline().is_device = true;
  pipeline["Generator"].is_device_hop = true;
  return pipeline;
}

TEST_CASE("python-generator: situations") {
  check_situations(kRule, {{"a generator", python_generator(), "warning"},
                           {"only at the start", warming_up(python_generator()), "warning"},
                           {"does not wait", with_level(python_generator(), kHealthy), "silent"},
                           {"a device pipeline's hop", device_hop(), "silent"},
                           {"nothing seen inside", bare_get_next(), "not evaluated"}});
}

TEST_CASE("python-generator: thresholds") {
  check_thresholds(kRule, {});
}

}  // namespace
}  // namespace doctor::rule_test::python_generator_test
