#include "base/intervals.h"
#include "profile/profile.h"
#include "profile/profile_parts.h"
#include "trace/event_kind.h"

namespace doctor {
namespace {

bool is_named_like_a_step(std::string_view name) {
  const bool has_prefix = name.starts_with("train") || name.starts_with("test") || name.starts_with("TraceContext");
  return has_prefix && name.find_first_of("/:") == std::string_view::npos;
}

/// Whether an event of this kind may be a step, a launch or a call of a function, too. Most events of a trace are of
/// the kinds that are not: tf.data and its pools write them with arguments of their own, and no profiler adds a mark.
bool may_be_marked(EventKind kind) {
  switch (kind) {
    case EventKind::iterator:
    case EventKind::captured_function:
    case EventKind::region_queued:
    case EventKind::region_start:
    case EventKind::region_stop:
      return false;
    default:
      return true;
  }
}

/// The arguments that matter, found in one walk over them: most events have some, and none of these.
struct KnownArguments {
  const EventArgument* step_name = nullptr;
  const EventArgument* step_number = nullptr;
  const EventArgument* group = nullptr;
  const EventArgument* correlation = nullptr;
  const EventArgument* function_call = nullptr;
};

struct KnownArgument {
  std::string_view name;
  ArgumentGroups groups;
  const EventArgument* KnownArguments::*member;
};

constexpr std::array<KnownArgument, 5> kKnownArguments = {
    {{"step_name", EventSink::kMarks, &KnownArguments::step_name},
     {"step_num", EventSink::kMarks, &KnownArguments::step_number},
     {"group_id", kBesideMarks, &KnownArguments::group},
     {"correlation_id", EventSink::kMarks, &KnownArguments::correlation},
     {"tf_function_call", EventSink::kMarks, &KnownArguments::function_call}}};

KnownArguments known_arguments(const TraceEvent& event) {
  KnownArguments known;
  for (const EventArgument& argument : event.arguments) {
    if ((argument.groups & (EventSink::kMarks | kBesideMarks)) == 0) continue;
    for (const KnownArgument& one : kKnownArguments) {
      if (argument.name == one.name) known.*one.member = &argument;
    }
  }
  return known;
}

std::optional<std::int64_t> integer_of(const EventArgument* argument) {
  return argument == nullptr ? std::nullopt : argument->as_integer();
}

std::uint64_t id_of(const TraceEvent& event) {
  return static_cast<std::uint64_t>(event.find_integer("id").value_or(0));
}

}  // namespace

void HostActivityBuilder::begin(const EventHeader& header) {
  has_devices_ |= !header.devices.empty();
  has_gpus_ |= std::any_of(header.devices.begin(), header.devices.end(),
                           [](std::string_view device) { return device.starts_with("/device:GPU"); });
}

ArgumentGroups HostActivityBuilder::groups_of(std::string_view argument) const {
  for (const KnownArgument& known : kKnownArguments) {
    if (argument == known.name) return known.groups;
  }
  if (argument == "tracing_count") return kBesideMarks;
  return argument == "id" ? kFunctionId : ArgumentGroups{};
}

EventUse HostActivityBuilder::use_of(std::string_view name) {
  const NameMeaning meaning = meaning_of(name);
  const ArgumentGroups marks = meaning.may_be_marked ? kMarks | kBesideMarks : 0;
  switch (meaning.kind) {
    case EventKind::executor:
      return {true, static_cast<ArgumentGroups>(marks | kFunctionId)};
    case EventKind::captured_function:
    case EventKind::op:
    case EventKind::output:
    case EventKind::compilation:
    case EventKind::program_run:
    case EventKind::iterator:
    case EventKind::get_next:
    case EventKind::produce:
      return {true, marks};
    default:
      return {meaning.is_like_a_step || meaning.is_staging, marks};
  }
}

HostActivityBuilder::NameMeaning HostActivityBuilder::meaning_of(std::string_view name) {
  const EventKind kind = classify_event(name);
  return {kind, is_named_like_a_step(name), may_be_marked(kind),
          kind == EventKind::op && is_output_op(op_type_of(name)), name == "H2D Dispatch"};
}

void HostActivityBuilder::take(const TraceEvent& event) {
  if (event.line->plane->kind != PlaneKind::host || event.line->kind != LineKind::activity) return;
  const Interval span = {event.start, event.start + event.duration};
  const NameMeaning& meaning = meanings_.of(event, [&] { return meaning_of(event.name); });
  if (meaning.is_staging && has_gpus_) staging_.add(span);
  const KnownArguments known = meaning.may_be_marked ? known_arguments(event) : KnownArguments();
  if (known.function_call != nullptr) take_function_call(event, known.function_call->text);
  if (known.step_name != nullptr || known.step_number != nullptr || meaning.is_like_a_step) {
    activity_.steps.push_back({span, integer_of(known.step_number), integer_of(known.group)});
  }
  Run run = {span, 0, Role::op};
  if (known.correlation != nullptr) {
    launch_.add(span);
    run.role = Role::driver_call;
    threads_.add(*event.line, run);
    return;
  }
  switch (meaning.kind) {
    case EventKind::op:
      if (meaning.is_output_op) activity_.output.push_back(span);
      break;
    case EventKind::output:
      activity_.output.push_back(span);
      return;
    case EventKind::compilation:
      return take_compilation(event);
    case EventKind::executor:
      run.role = Role::executor;
      run.function_id = id_of(event);
      break;
    case EventKind::program_run:
      break;
    case EventKind::captured_function:
    case EventKind::iterator:
    case EventKind::get_next:
    case EventKind::produce:
      run.role = Role::tf_data;
      break;
    default:
      return;
  }
  threads_.add(*event.line, run);
}

/// "notTraced-nonXla" of calls that found a graph.
void HostActivityBuilder::take_function_call(const TraceEvent& event, std::string_view mode) {
  if (!mode.starts_with("traced")) return;
  const Interval span = {event.start, event.start + event.duration};
  function_calls_[event.line->index].push_back({span, std::string(event.name), event.find_integer("tracing_count")});
}

void HostActivityBuilder::take_compilation(const TraceEvent& event) {
  const Interval span = {event.start, event.start + event.duration};
  activity_.compile.push_back(span);
  if (is_tracing(event.name)) {
    tracings_[event.line->index].push_back(span);
  } else {
    activity_.xla.push_back(span);
  }
}

/// Names each tracing by the call around it: of nested functions the outermost are traced for the call.
void HostActivityBuilder::join_tracings() {
  for (auto& [line, spans] : tracings_) {
    std::vector<FunctionCall>& calls = function_calls_[line];
    std::stable_sort(calls.begin(), calls.end(), [](const FunctionCall& a, const FunctionCall& b) {
      return std::pair(a.span.start, b.span.end) < std::pair(b.span.start, a.span.end);
    });
    std::size_t next = 0;
    Interval outer = {INT64_MIN, INT64_MIN};
    const FunctionCall* around = nullptr;
    for (const Interval span : merged(std::move(spans))) {
      for (; next < calls.size() && calls[next].span.start <= span.start; ++next) {
        if (calls[next].span.start < outer.end) continue;
        outer = calls[next].span;
        around = &calls[next];
      }
      const bool is_within = around != nullptr && span.end <= outer.end;
      activity_.tracings.push_back(
          {span, is_within ? around->function : std::string(), is_within ? around->count : std::nullopt});
    }
  }
  tracings_.clear();
  function_calls_.clear();
}

void HostActivityBuilder::ThreadWalk::take(const Run& run) {
  if (run.span.start >= outer_.span.end) begin_outer(run);
  if (outer_.role == Role::tf_data) return;
  if (run.role == Role::driver_call && run.span.start < op_.span.end) op_launches_ = true;
  if (run.role == Role::executor && run.span.start < op_.span.end) enter_function();
  if (run.role == Role::op && run.span.start >= op_.span.end) begin_op(run);
}

void HostActivityBuilder::ThreadWalk::finish() {
  end_op();
  if (outer_.role == Role::executor) add({launched_until_, outer_.span.end}, true);
}

void HostActivityBuilder::ThreadWalk::begin_outer(const Run& run) {
  finish();
  outer_ = run;
  if (run.role == Role::executor && builder_->tf_data_functions_.contains(run.function_id)) outer_.role = Role::tf_data;
  launched_until_ = run.span.start;
  op_ = {{run.span.start, run.span.start}, 0, Role::op};
  op_launches_ = false;
}

/// An op in no other op of its thread.
void HostActivityBuilder::ThreadWalk::begin_op(const Run& run) {
  end_op();
  op_ = run;
  op_launches_ = false;
}

/// An op that calls a function is like a run of the executor: its ops count one by one.
void HostActivityBuilder::ThreadWalk::enter_function() {
  outer_.role = Role::executor;
  op_.span.end = op_.span.start;
}

void HostActivityBuilder::ThreadWalk::end_op() {
  if (op_.span.end > op_.span.start) {
    if (outer_.role == Role::executor) add({launched_until_, op_.span.start}, true);
    add(op_.span, op_launches_);
    launched_until_ = op_.span.end;
  }
  op_.span.end = op_.span.start;
}

void HostActivityBuilder::ThreadWalk::add(Interval span, bool is_launch) {
  (is_launch && builder_->has_devices_ ? builder_->launch_ : builder_->compute_).add(span);
}

void HostActivityBuilder::end_line(const EventLine& line) {
  threads_.end_line(line);
}

void HostActivityBuilder::end_file() {
  threads_.end_file();
  meanings_.clear();
  join_tracings();
}

HostActivity HostActivityBuilder::finish() {
  end_file();
  activity_.compute = compute_.take();
  activity_.launch = launch_.take();
  activity_.staging = staging_.take();
  activity_.compile = merged(std::move(activity_.compile));
  activity_.xla = merged(std::move(activity_.xla));
  activity_.output = merged(std::move(activity_.output));
  std::stable_sort(activity_.tracings.begin(), activity_.tracings.end(),
                   [](const FunctionTracing& a, const FunctionTracing& b) { return a.span.start < b.span.start; });
  std::stable_sort(activity_.steps.begin(), activity_.steps.end(), [](const HostStep& a, const HostStep& b) {
    return std::tuple(a.span.start, a.span.end, a.number) < std::tuple(b.span.start, b.span.end, b.number);
  });
  return std::move(activity_);
}

}  // namespace doctor
