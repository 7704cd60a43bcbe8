#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diagnose/pipelines.h"
#include "measure/steps/step_table.h"
#include "text/numbers.h"

namespace doctor::rules::function_retraced {
namespace {

/// A tf.function whose Python code is traced to a graph again while the job goes through its steps.
struct RetracedFunction {
  std::string name;
  std::size_t times = 0;  ///< in steps, without its very first tracing, or in the window if that is not known
  Picoseconds time = 0;   ///< total time of these
  std::optional<std::int64_t> count;  ///< how often it was traced since the job began, at the end of the window
};

/// Of the steps that averages count.
bool begins_in_a_step(const StepTable& table, Picoseconds time) {
  const auto step = std::partition_point(table.steps.begin(), table.steps.end(),
                                         [&](const StepMeasurement& other) { return other.span.end <= time; });
  return step != table.steps.end() && step->span.start <= time && !step->is_boundary;
}

/// The functions with a name, most time first.
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

std::vector<Advice> advice() {
  return {
      {"Let one graph serve all shapes",
       "@tf.function(reduce_retracing=True)  # or input_signature=[tf.TensorSpec([None, 224, 224, 3], tf.float32)]"},
      {"Give it batches of one shape",
       "dataset = dataset.batch(batch_size, drop_remainder=True)  # or padded_batch() with fixed padded_shapes"},
      {{"Pass tensors, not Python numbers or texts",
        "Each new value of these is another graph. Make the tf.function once, outside of the loop."},
       "train_step(batch, tf.constant(step))"}};
}

std::optional<Finding> check_host(const HostMeasurement& host, Examiner& examiner) {
  const std::vector<RetracedFunction> functions = find_retraced_functions(host);
  if (!examiner.holds("a tf.function is traced again while the job goes through its steps", !functions.empty())) {
    return std::nullopt;
  }
  const RetracedFunction& function = functions.front();
  if (!examiner.at_least(number_of("times", function.times), "min_times")) return std::nullopt;
  const Evidence share = share_of("share_of_steps", share_of_steps(function.time, host.steps));
  if (!examiner.at_least(share, "min_share")) return std::nullopt;
  const bool is_high = examiner.at_least(share, "min_high_share");
  Finding finding;
  finding.severity = is_high ? Severity::warning : Severity::note;
  finding.subject = function.name;
  finding.message = fmt::format("'{}' is traced to a graph again and again: {} in these steps, {} of their time",
                                function.name, format_count(function.times, "time"), format_share(share.value));
  finding.evidence = {share, number_of("times", function.times), time_of("tracing", function.time)};
  if (function.count) finding.evidence.push_back(number_of("times_since_start", *function.count));
  finding.advice = advice();
  finding.at_stake = function.time;
  return finding;
}

}  // namespace

Rule rule() {
  return {
      .id = "function-retraced",
      .summary = "A tf.function is traced to a graph again and again",
      .follows = {references::kRetracing},
      .thresholds = {{"min_times", 2, "times",
                      "minimum tracings of one function in the steps, its first one left out. Chosen: a second graph "
                      "for the last, smaller batch is ordinary"},
                     {"min_share", 0.02, "share", "minimum share of the steps' time that they take. Chosen"},
                     {"min_high_share", 0.20, "share",
                      "minimum share that makes it a warning, as for waiting for input"}},
      .check = each_host<check_host>};
}

}  // namespace doctor::rules::function_retraced
