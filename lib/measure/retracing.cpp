#include "measure/retracing.h"

#include <algorithm>
#include <map>

namespace doctor {
namespace {

/// Of the steps that averages count.
bool begins_in_a_step(const StepTable& table, Picoseconds time) {
  const auto step = std::partition_point(table.steps.begin(), table.steps.end(),
                                         [&](const StepMeasurement& other) { return other.span.end <= time; });
  return step != table.steps.end() && step->span.start <= time && !step->is_boundary;
}

}  // namespace

std::vector<RetracedFunction> find_retraced_functions(const HostMeasurement& host) {
  std::vector<RetracedFunction> functions;
  if (!host.profile) return functions;
  std::map<std::string, std::size_t> by_name;
  for (const FunctionTracing& tracing : host.profile->host.tracings) {
    if (tracing.function.empty()) continue;
    const auto [place, is_new] = by_name.try_emplace(tracing.function, functions.size());
    if (is_new) functions.push_back({tracing.function, 0, 0, std::nullopt});
    RetracedFunction& function = functions[place->second];
    function.count = tracing.count;
    const bool is_first = tracing.count ? *tracing.count <= 1 : is_new;
    if (is_first || !begins_in_a_step(host.steps, tracing.span.start)) continue;
    ++function.times;
    function.time += tracing.span.end - tracing.span.start;
  }
  std::erase_if(functions, [](const RetracedFunction& function) { return function.times == 0; });
  std::stable_sort(functions.begin(), functions.end(),
                   [](const RetracedFunction& a, const RetracedFunction& b) { return a.time > b.time; });
  return functions;
}

}  // namespace doctor
