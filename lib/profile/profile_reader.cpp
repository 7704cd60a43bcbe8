#include "profile/profile_reader.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/device_feeds.h"
#include "profile/device_steps.h"
#include "profile/gpu_event.h"
#include "profile/launching_ops.h"

namespace doctor {

/// Hands each event to all builders, with its time counted from the origin of the first file.
class ProfileReader::Sink final : public EventSink {
 public:
  Sink(Detail detail, LaunchingOps launches)
      : is_for_pages_(detail == Detail::for_pages), launches_(std::move(launches)) {}

  void begin(const EventHeader& header) override {
    if (!origin_ns_) origin_ns_ = header.origin_ns;
    shift_ = time_since_origin(header.origin_ns, *origin_ns_);
    has_devices_ = has_devices_ || !header.devices.empty();
    host_.begin(header);
    if (also_ != nullptr) also_->begin(header);
  }

  void take(const TraceEvent& event) override {
    if (has_devices_ && event.line->kind == LineKind::activity) {
      if (event.line->plane->kind == PlaneKind::host) launches_.take(event);
      if (event.line->plane->kind == PlaneKind::device) return take_with_op(event);
    }
    hand_on(event);
  }

  bool wants(std::string_view argument) const override {
    if (argument == "correlation_id" || host_.wants(argument)) return true;
    return is_for_pages_ && (memory_.wants(argument) || element_types_.wants(argument));
  }

  void end_line(const EventLine& line) override {
    if (is_for_pages_) table_of_ops_.end_line(line);
    host_.end_line(line);
    launches_.end_line(line);
  }

  void end_file() {
    table_of_ops_.end_file();
    host_.end_file();
    launches_.end_file();
    also_ = nullptr;
  }

  void hand_also_to(EventSink* also) { also_ = also; }
  bool has_late_launches() const { return launches_at_miss_ && *launches_at_miss_ < launches_.size(); }
  LaunchingOps take_launches() { return std::move(launches_); }

  Profile finish(std::int64_t origin_ns) {
    const Picoseconds shift = time_since_origin(origin_ns_.value_or(origin_ns), origin_ns);
    Profile profile;
    profile.ops = table_of_ops_.finish();
    profile.host = host_.finish();
    profile.devices = devices_.finish();
    profile.device_steps = device_steps_.finish();
    profile.program_runs = device_steps_.take_program_runs();
    profile.device_feeds = device_feeds_.finish();
    profile.memory = memory_.finish(shift);
    profile.element_types = element_types_.finish();
    const auto move = [&](Interval& span) { span = {span.start + shift, span.end + shift}; };
    HostActivity& host = profile.host;
    DeviceSpans& devices = profile.devices;
    for (std::vector<Interval>* const list :
         {&host.compute, &host.launch, &host.compile, &host.xla, &host.output, &devices.compute_16, &devices.compute_32,
          &devices.copy_to_device, &devices.copy_to_host, &devices.copy_wait, &devices.between_devices}) {
      for (Interval& interval : *list) move(interval);
    }
    for (HostStep& step : host.steps) move(step.span);
    for (FunctionTracing& tracing : host.tracings) move(tracing.span);
    for (DeviceStep& step : profile.device_steps) move(step.span);
    for (Interval& run : profile.program_runs) move(run);
    for (DeviceFeed& feed : profile.device_feeds) {
      for (Interval& span : feed.spans) move(span);
    }
    return profile;
  }

 private:
  /// With the op that launched it, if only the host's events show that.
  void take_with_op(const TraceEvent& event) {
    const std::optional<std::int64_t> correlation =
        op_of_gpu_event(event).empty() ? event.find_integer("correlation_id") : std::nullopt;
    if (!correlation) return hand_on(event);
    const std::string_view op = launches_.op_of(*correlation);
    if (op.empty()) {
      launches_at_miss_ = launches_.size();
      return hand_on(event);
    }
    arguments_.assign(event.arguments.begin(), event.arguments.end());
    arguments_.push_back({"tf_op", ArgumentType::text, op});
    TraceEvent with_op = event;
    with_op.arguments = arguments_;
    hand_on(with_op);
  }

  void hand_on(const TraceEvent& event) {
    if (also_ != nullptr && has_devices_) also_->take(event);
    TraceEvent shifted = event;
    shifted.start += shift_;
    if (is_for_pages_) {
      table_of_ops_.take(shifted);
      memory_.take(shifted);
      element_types_.take(shifted);
    }
    host_.take(shifted);
    if (!has_devices_) return;
    devices_.take(shifted);
    device_steps_.take(shifted);
    device_feeds_.take(shifted);
  }

  bool is_for_pages_;
  bool has_devices_ = false;
  LaunchingOps launches_;
  std::optional<std::size_t> launches_at_miss_;  ///< when the last event of a device was not found among them
  EventSink* also_ = nullptr;
  std::optional<std::int64_t> origin_ns_;
  Picoseconds shift_ = 0;
  std::vector<EventArgument> arguments_;
  OpTableBuilder table_of_ops_;
  HostActivityBuilder host_;
  DeviceSpansBuilder devices_;
  DeviceStepsBuilder device_steps_;
  DeviceFeedsBuilder device_feeds_;
  MemoryProfileBuilder memory_;
  ElementTypesBuilder element_types_;
};

ProfileReader::ProfileReader(Detail detail) : detail_(detail), sink_(std::make_unique<Sink>(detail, LaunchingOps())) {}
ProfileReader::~ProfileReader() = default;

Result<void> ProfileReader::add(ByteSource& source, const Format& format, const WorkOptions& work, EventSink* devices) {
  sink_->hand_also_to(devices);
  EventsOnce once(*sink_, format.join != nullptr ? &repeats_ : nullptr);
  const Result<EventTotals> totals = format.read_events(source, once, WantedPlanes::all, work);
  sink_->end_file();
  repeats_.end_file();
  if (!totals) return Unexpected(totals.error());
  return {};
}

bool ProfileReader::has_late_launches() const {
  return sink_->has_late_launches();
}

void ProfileReader::begin_again() {
  sink_ = std::make_unique<Sink>(detail_, sink_->take_launches());
}

Profile ProfileReader::finish(std::int64_t origin_ns) {
  Profile profile = sink_->finish(origin_ns);
  sink_ = std::make_unique<Sink>(detail_, LaunchingOps());
  repeats_ = {};
  return profile;
}

}  // namespace doctor
