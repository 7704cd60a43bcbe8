#include "profile/host_activity.h"

#include <algorithm>
#include <utility>

#include "base/intervals.h"
#include "trace/event_kind.h"

namespace doctor {
namespace {

/// Events that trace a Python function to a graph (Keras and tf.function), or compile with XLA.
bool is_compilation(std::string_view name) {
  return name == "tf.function-graph_building" || name.starts_with("XlaCompil") || name.starts_with("Xla Compil") ||
         name.find("::CompileXla") != std::string_view::npos;
}

bool is_named_like_a_step(std::string_view name) {
  const bool has_prefix = name.starts_with("train") || name.starts_with("test") || name.starts_with("TraceContext");
  return has_prefix && name.find_first_of("/:") == std::string_view::npos;
}

std::uint64_t id_of(const TraceEvent& event) {
  const EventArgument* const argument = event.find("id");
  return argument == nullptr ? 0 : static_cast<std::uint64_t>(argument->as_integer().value_or(0));
}

}  // namespace

void HostActivityBuilder::take(const TraceEvent& event) {
  if (event.line->plane->kind != PlaneKind::host || event.line->kind != LineKind::activity) return;
  const Interval span = {event.start, event.start + event.duration};
  if (event.find("correlation_id") != nullptr) launch_.add(span);
  if (is_compilation(event.name)) activity_.compile.push_back(span);
  const bool is_step = is_named_like_a_step(event.name) || event.find("step_name") != nullptr;
  if (is_step && event.find("step_num") == nullptr) activity_.unnumbered_steps.push_back(span);
  Run run = {span, 0, Role::op};
  switch (classify_event(event.name)) {
    case EventKind::op:
      break;
    case EventKind::executor:
      run.role = Role::executor;
      run.function_id = id_of(event);
      break;
    case EventKind::captured_function:
      if (const std::uint64_t id = id_of(event); id != 0) tf_data_functions_.insert(id);
      run.role = Role::tf_data;
      break;
    case EventKind::iterator:
    case EventKind::get_next:
    case EventKind::produce:
      run.role = Role::tf_data;
      break;
    default:
      return;
  }
  threads_[event.line->index].push_back(run);
}

/// Of one thread what lies in no event of tf.data. What lies in a run of an executor is the job's where the executor
/// is.
void HostActivityBuilder::add_thread(std::vector<Run>& runs) {
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::pair(a.span.start, b.span.end) < std::pair(b.span.start, a.span.end);
  });
  Picoseconds known_until = INT64_MIN;
  for (const Run& run : runs) {
    if (run.span.end <= known_until) continue;
    if (run.role != Role::tf_data) candidates_.push_back({run.span, run.function_id});
    known_until = run.span.end;
  }
}

void HostActivityBuilder::end_line(const EventLine& line) {
  const auto thread = threads_.find(line.index);
  if (thread == threads_.end()) return;
  add_thread(thread->second);
  threads_.erase(thread);
}

void HostActivityBuilder::end_file() {
  for (auto& [line, runs] : threads_) add_thread(runs);
  threads_.clear();
  for (const Candidate& candidate : candidates_) {
    if (!tf_data_functions_.contains(candidate.function_id)) activity_.compute.push_back(candidate.span);
  }
  candidates_.clear();
  tf_data_functions_.clear();
}

HostActivity HostActivityBuilder::finish() {
  end_file();
  activity_.compute = merged(std::move(activity_.compute));
  activity_.launch = launch_.take();
  activity_.compile = merged(std::move(activity_.compile));
  std::sort(activity_.unnumbered_steps.begin(), activity_.unnumbered_steps.end(),
            [](Interval a, Interval b) { return std::pair(a.start, a.end) < std::pair(b.start, b.end); });
  return std::move(activity_);
}

}  // namespace doctor
