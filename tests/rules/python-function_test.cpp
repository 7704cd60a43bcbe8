#include <doctest/doctest.h>

#include "pipelines.h"
#include "rule_test.h"

namespace doctor::rule_test::python_function_test {
namespace {

constexpr std::string_view kRule = "python-function";

TEST_CASE("python-function: situations") {
  check_situations(kRule, {{"mostly Python", python_map(0.9), "warning"},
                           {"mostly Python, only at the start", warming_up(python_map(0.9)), "note"},
                           {"mostly Python, does not wait", with_level(python_map(0.9), kHealthy), "silent"},
                           {"no ops seen", sequential_map(), "silent"},
                           {"a generator", python_generator().runs({{"EagerPyFunc", 1'000'000}}), "silent"}});
}

TEST_CASE("python-function: thresholds") {
  check_thresholds(kRule, {{"min_python_share", 0.1, python_map, at_least}});
}

}  // namespace
}  // namespace doctor::rule_test::python_function_test
