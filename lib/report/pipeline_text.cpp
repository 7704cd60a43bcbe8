#include "report/pipeline_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnose/cores.h"
#include "diagnose/culprit_function.h"
#include "diagnose/dataset_words.h"
#include "diagnose/user_code.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::size_t kPlaceParts = 10;
constexpr std::size_t kInputParts = 3;
constexpr std::size_t kReportNameWidth = 40;
constexpr double kIdleShare = 0.05;      // of a function's time: less is rounding and the way to its ops
constexpr double kQueuedClosures = 0.5;  // on average: from here on one mostly waited
constexpr double kBesideShare = 0.1;     // of that time: what ran for less explains nothing

std::string part_name(const IteratorMeasurement& iterator) {
  return clip(escape_for_terminal(iterator.short_name), kReportNameWidth);
}

/// The input that the judged calls waited for most, else the first.
IteratorId main_input(const HostMeasurement& host, const PhaseMeasurement& phase, IteratorId of) {
  IteratorId main = kNoIterator;
  Picoseconds most = -1;
  for (const IteratorId child : host.iterators[index_of(of)].children) {
    const Picoseconds time = phase.critical[index_of(child)];
    if (time <= most) continue;
    main = child;
    most = time;
  }
  return main;
}

/// "DecodeJpeg of Dataset.map below it ran": what ran beside the function of `culprit`.
std::string describe_beside(const HostMeasurement& host, IteratorId culprit, const OpBeside& beside) {
  const std::string op = clip(escape_for_terminal(beside.op), kReportNameWidth);
  if (beside.iterator == kNoIterator) return op + " ran elsewhere";
  const IteratorMeasurement& other = host.iterators[index_of(beside.iterator)];
  std::size_t steps = host.iterators.size();  // a file may hold a cycle
  IteratorId above = other.parent;
  for (; above != kNoIterator && above != culprit && steps > 0; --steps) above = host.iterators[index_of(above)].parent;
  const SourceLine* const line = source_of(host, beside.iterator);
  const std::string place = line != nullptr ? " at " + to_text(*line) : std::string();
  return fmt::format("{} of {}{}{} ran", op, describe(other), place, above == culprit ? " below it" : "");
}

/// Why no op of the function ran while the calls waited for it, as far as the trace shows it.
std::string describe_idle_function(const PipelineView& view) {
  const PhaseMeasurement& phase = view.phase();
  std::string text = fmt::format("no op of it ran for {}", format_time(phase.function_idle));
  const bool is_queued = phase.queued_closures.value_or(0) >= kQueuedClosures;
  if (is_queued) text += ": its calls waited for a thread";
  const OpBeside most = phase.beside.empty() ? OpBeside{} : phase.beside.front();
  const double share = static_cast<double>(most.time) / static_cast<double>(phase.function_idle);
  if (share < kBesideShare) {
    if (is_queued) return text;
    return format_time(phase.function_idle) + " is call overhead, or ops too short to be recorded";
  }
  return text + fmt::format("{} {}, for {}", is_queued ? ", meanwhile" : ", while",
                            describe_beside(view.host, view.judgement.culprit, most), format_time(most.time));
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " > ") + part;
  return text;
}

}  // namespace

std::string describe_calls(const PipelineMeasurement& pipeline) {
  std::string text = format_count(pipeline.calls.size(), "call");
  if (pipeline.warmup_count > 0) text += fmt::format(", the first {} set aside as warm-up", pipeline.warmup_count);
  return text + fmt::format(", median {}, max {}", format_time(pipeline.median), format_time(pipeline.max));
}

std::string describe_place(const PipelineView& view) {
  if (view.judgement.culprit == kNoIterator) return {};
  const HostMeasurement& host = view.host;
  std::vector<std::string> above;
  // No way is longer than there are iterators, whatever a damaged trace says.
  IteratorId iterator = view.culprit().parent;
  while (iterator != kNoIterator && above.size() < host.iterators.size()) {
    above.push_back(part_name(host.iterators[index_of(iterator)]));
    iterator = host.iterators[index_of(iterator)].parent;
  }
  std::reverse(above.begin(), above.end());
  if (above.size() > kPlaceParts) {
    above.erase(above.begin() + 1, above.end() - (kPlaceParts - 2));
    above.insert(above.begin() + 1, "...");
  }
  const std::optional<std::int64_t> parallelism = view.culprit().number("parallelism");
  const std::string own = part_name(view.culprit());
  above.push_back(parallelism ? fmt::format("[{}, parallelism {}]", own, *parallelism) : fmt::format("[{}]", own));
  iterator = view.judgement.culprit;
  for (std::size_t part = 0; part < kInputParts; ++part) {
    iterator = main_input(host, view.phase(), iterator);
    if (iterator == kNoIterator) return join(above);
    above.push_back(part_name(host.iterators[index_of(iterator)]));
  }
  if (!host.iterators[index_of(iterator)].children.empty()) above.emplace_back("...");
  return join(above);
}

std::string describe_line(const SourceLine& line) {
  constexpr std::size_t kCodeWidth = 80;
  const std::string& file = line.repository_file.empty() ? line.file : line.repository_file;
  return fmt::format("{}:{}: {}", file, line.line, clip(escape_for_terminal(line.code), kCodeWidth));
}

std::string describe_function(const PipelineView& view) {
  const PhaseMeasurement& phase = view.phase();
  const IteratorId culprit = view.judgement.culprit;
  if (culprit == kNoIterator) return {};
  const CulpritFunction function = function_of_culprit(view.host, view.pipeline, view.judgement);
  if (function.time <= 0) return {};
  std::string text = function.is_waited_for
                         ? fmt::format("{} of {} in your function", format_time(function.time),
                                       format_time(phase.critical[index_of(culprit)]))
                         : fmt::format("{} in the ops of your function, on all threads", format_time(function.time));
  std::string_view before = ": ";
  for (const FunctionOp& op : function.main_ops()) {
    text += fmt::format("{}{} {}", std::exchange(before, ", "), clip(escape_for_terminal(op.op), kReportNameWidth),
                        format_time(op.self));
  }
  if (function.python > 0) text += fmt::format("; {} of it in Python", format_time(function.python));
  if (!function.is_waited_for) return text;
  const bool is_idle = static_cast<double>(phase.function_idle) >= kIdleShare * static_cast<double>(function.time);
  return is_idle ? text + "; " + describe_idle_function(view) : text;
}

std::string describe_feeding(const PipelineView& view) {
  const std::vector<std::string> ids = feeding_pipelines(view);
  if (ids.empty()) return {};
  std::string text =
      fmt::format("{} pipeline {} gets its elements from host pipeline{}", view.pipeline.is_device ? "device" : "host",
                  pipeline_id(view.judgement, view.pipeline), ids.size() > 1 ? "s" : "");
  for (const std::string& id : ids) text += (id == ids.front() ? " " : ", ") + id;
  return text;
}

std::string describe_cost(const PipelineView& view) {
  std::string text = format_time(view.pipeline.total) + " waited in all";
  if (view.host.window <= 0) return text;
  const double share = static_cast<double>(view.pipeline.total) / static_cast<double>(view.host.window);
  return text + fmt::format(" ({} of the window)", format_share(std::min(1.0, share)));
}

std::string describe_cores(const PipelineView& view) {
  const std::optional<double> utilization = cpu_utilization(view.pipeline, view.phase());
  const std::string seen = threads_seen(view.host.compute_threads);
  if (!utilization && seen.empty()) return {};
  const std::string busy =
      utilization ? fmt::format("{:.1f} of {}", *utilization * static_cast<double>(*view.pipeline.cpu_budget),
                                *view.pipeline.cpu_budget)
                  : fmt::format("{:.1f} ({})", view.phase().busy_threads, seen);
  return fmt::format("{} busy during the waits (estimate)", busy);
}

}  // namespace doctor
