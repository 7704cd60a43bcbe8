#include "profile/profile_reader.h"

#include "profile/xla_op.h"

namespace doctor {

/// Finds the op of the host that launched an event on a device, for traces that do not say it on the device. The driver
/// call lies within the op, and the device's event has the same `correlation_id`.
class LaunchingOps {
 public:
  /// The number of launches that are kept, the first ones: enough for any trace that names no ops on its devices, and a
  /// bound on memory.
  static constexpr std::size_t kMostLaunches = std::size_t{1} << 20;

  /// Takes an event of the host.
  void take(const TraceEvent& event);
  void end_line(const EventLine& line) { open_.erase(line.index); }
  /// Ends a file: lines and names of the next file are others, even if their numbers are the same.
  void end_file() {
    open_.clear();
    ops_.clear();
  }

  /// The launching op, "model/dense/MatMul:MatMul"; empty if it is not known. Valid until the next event is taken.
  std::string_view op_of(std::int64_t correlation) const;

  std::size_t size() const { return launches_.size(); }

 private:
  struct OpenOp {
    Picoseconds end = 0;
    std::uint32_t name = 0;
  };

  std::uint32_t intern(std::string_view name);

  std::unordered_map<std::size_t, std::vector<OpenOp>> open_;  ///< running ops, by EventLine::index
  NameMemo<std::optional<std::uint32_t>> ops_;                 ///< indices into names_; nullopt for other events
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<std::string> names_;
  std::unordered_map<std::int64_t, std::uint32_t> launches_;  ///< by correlation id
};

void LaunchingOps::take(const TraceEvent& event) {
  const std::optional<std::uint32_t> op = ops_.of(event, [&] {
    const bool is_op = classify_event(event.name) == EventKind::op;
    return is_op ? std::optional(intern(event.name)) : std::nullopt;
  });
  const std::optional<std::int64_t> correlation = op ? std::nullopt : event.find_integer("correlation_id");
  if (!op && !correlation) return;
  std::vector<OpenOp>& open = open_[event.line->index];
  while (!open.empty() && open.back().end <= event.start) open.pop_back();
  if (op) {
    open.push_back({event.start + event.duration, *op});
  } else if (!open.empty() && launches_.size() < kMostLaunches) {
    launches_.try_emplace(*correlation, open.back().name);
  }
}

std::string_view LaunchingOps::op_of(std::int64_t correlation) const {
  const auto found = launches_.find(correlation);
  return found == launches_.end() ? std::string_view{} : std::string_view(names_[found->second]);
}

std::uint32_t LaunchingOps::intern(std::string_view name) {
  const auto [place, is_new] = ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return place->second;
}

/// Hands each event to all builders, with its time counted from the origin of the first file.
class ProfileReader::Sink final : public EventSink {
 public:
  Sink(ProfileParts parts, LineOrder order, const IdSet& tf_data_functions, LaunchingOps launches)
      : parts_(parts), launches_(std::move(launches)), table_of_ops_(order), host_(tf_data_functions, order) {}

  void begin(const EventHeader& header) override {
    if (!origin_ns_) origin_ns_ = header.origin_ns;
    shift_ = time_since_origin(header.origin_ns, *origin_ns_);
    has_devices_ = has_devices_ || !header.devices.empty();
    host_.begin(header);
    if (also_ != nullptr) also_->begin(header);
  }

  void take(const TraceEvent& event) override {
    if (event.is_repeat) return;
    const bool is_on_device = event.line->plane->kind == PlaneKind::device;
    if (has_devices_ && event.line->kind == LineKind::activity) {
      if (event.line->plane->kind == PlaneKind::host) launches_.take(event);
      if (is_on_device) return take_with_op(event);
    }
    hand_on(event, has_devices_ && is_on_device ? device_events_.understand(event) : std::nullopt);
  }

  bool uses_line(const EventLine& line) const override {
    return line.plane->kind != PlaneKind::device || line.kind != LineKind::derived || is_xla_module_line(line);
  }

  ArgumentGroups groups_of(std::string_view argument) const override {
    return (looks_at_host() ? host_.groups_of(argument) : 0) | groups_of_any(argument);
  }
  ArgumentGroups device_groups_of(std::string_view argument) const override {
    return DeviceEvents::groups_of(argument) | groups_of_any(argument);
  }

  EventUse use_of(std::string_view name) override {
    EventUse use = {false, 0};
    if (looks_at_host()) use = joined(use, host_.use_of(name));
    if (parts_.ops) use = joined(use, table_of_ops_.use_of(name));
    if (parts_.memory) use = joined(use, memory_.use_of(name));
    return use;
  }

  void end_line(const EventLine& line) override {
    table_of_ops_.end_line(line);
    host_.end_line(line);
    launches_.end_line(line);
  }

  void end_file() {
    table_of_ops_.end_file();
    device_events_.end_file();
    host_.end_file();
    launches_.end_file();
    also_ = nullptr;
  }

  void hand_also_to(DeviceProfiler* also) { also_ = also; }
  bool has_late_launches() const { return launches_at_miss_ && *launches_at_miss_ < launches_.size(); }
  bool is_disordered() const { return table_of_ops_.is_disordered() || host_.is_disordered(); }
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
    const auto move = [&](Interval& span) { span = {span.start + shift, span.end + shift}; };
    HostActivity& host = profile.host;
    DeviceSpans& devices = profile.devices;
    for (std::vector<Interval>* const list :
         {&host.compute, &host.launch, &host.compile, &host.xla, &host.output, &host.staging, &devices.compute_16,
          &devices.compute_32, &devices.copy_to_device, &devices.copy_to_host, &devices.copy_wait,
          &devices.between_devices}) {
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
  /// What devices need of the host, calls of the driver and ops that launch, is among what is looked at for it.
  bool looks_at_host() const { return parts_.host || has_devices_; }

  /// Of what is looked for wherever it is.
  ArgumentGroups groups_of_any(std::string_view argument) const {
    ArgumentGroups groups = 0;
    if (parts_.memory) groups |= memory_.groups_of(argument);
    return groups;
  }

  /// With the op that launched it, if only the host's events show that.
  void take_with_op(const TraceEvent& event) {
    const std::optional<std::int64_t> correlation =
        op_of_gpu_event(event).empty() ? event.find_integer("correlation_id") : std::nullopt;
    if (!correlation) return hand_on(event, device_events_.understand(event));
    const std::string_view op = launches_.op_of(*correlation);
    if (op.empty()) {
      launches_at_miss_ = launches_.size();
      return hand_on(event, device_events_.understand(event));
    }
    arguments_.assign(event.arguments.begin(), event.arguments.end());
    EventArgument& launching = arguments_.emplace_back();
    launching.name = "tf_op";
    launching.text = op;
    launching.groups = kDeviceMeaning;
    TraceEvent with_op = event;
    with_op.arguments = arguments_;
    hand_on(with_op, device_events_.understand(with_op));
  }

  void hand_on(const TraceEvent& event, const std::optional<DeviceEvent>& understood) {
    if (also_ != nullptr && understood) also_->take(*understood);
    if (shift_ == 0) return hand_out(event, understood);
    hand_out_shifted(event, understood);
  }

  [[gnu::noinline]] void hand_out_shifted(TraceEvent event, const std::optional<DeviceEvent>& understood) {
    event.start += shift_;
    if (!understood) return hand_out(event, understood);
    hand_out(event, DeviceEvent{event, understood->device, understood->meaning});
  }

  void hand_out(const TraceEvent& event, const std::optional<DeviceEvent>& understood) {
    if (parts_.ops) table_of_ops_.take(event);
    if (parts_.memory) memory_.take(event);
    if (parts_.host) host_.take(event);
    if (!has_devices_) return;
    if (understood) devices_.take(*understood);
    device_steps_.take(event);
    if (understood) {
      device_feeds_.take(*understood);
    } else {
      device_feeds_.take(event);
    }
  }

  ProfileParts parts_;
  bool has_devices_ = false;
  LaunchingOps launches_;
  std::optional<std::size_t> launches_at_miss_;  ///< when the last event of a device was not found among them
  DeviceProfiler* also_ = nullptr;
  std::optional<std::int64_t> origin_ns_;
  Picoseconds shift_ = 0;
  std::vector<EventArgument> arguments_;
  OpTableBuilder table_of_ops_;
  HostActivityBuilder host_;
  DeviceEvents device_events_;
  DeviceSpansBuilder devices_;
  DeviceStepsBuilder device_steps_;
  DeviceFeedsBuilder device_feeds_;
  MemoryProfileBuilder memory_;
};

ProfileReader::ProfileReader(ProfileParts parts, LineOrder order, IdSet tf_data_functions)
    : parts_(parts),
      order_(order),
      tf_data_functions_(std::move(tf_data_functions)),
      sink_(std::make_unique<Sink>(parts, order, tf_data_functions_, LaunchingOps())) {}
ProfileReader::~ProfileReader() = default;

Result<void> ProfileReader::add(ByteSource& source, const Format& format, const WorkOptions& work,
                                DeviceProfiler* devices) {
  sink_->hand_also_to(devices);
  EventsOnce once(*sink_, &repeats_);
  EventSink& events = format.join != nullptr ? static_cast<EventSink&>(once) : *sink_;
  const Result<EventTotals> totals = format.read_events(source, events, WantedPlanes::all, work);
  sink_->end_file();
  repeats_.end_file();
  if (!totals) return Unexpected(totals.error());
  return {};
}

bool ProfileReader::must_read_again() const {
  return sink_->has_late_launches() || sink_->is_disordered();
}

void ProfileReader::begin_again() {
  if (sink_->is_disordered()) order_ = LineOrder::any;
  sink_ = std::make_unique<Sink>(parts_, order_, tf_data_functions_, sink_->take_launches());
}

Profile ProfileReader::finish(std::int64_t origin_ns) {
  Profile profile = sink_->finish(origin_ns);
  sink_ = std::make_unique<Sink>(parts_, order_, tf_data_functions_, LaunchingOps());
  repeats_ = {};
  return profile;
}

namespace {

/// The first reading counts the events that show when functions are traced and output is written, and keeps ops by
/// their type.
bool compiles_or_writes(const Trace& trace) {
  if (trace.compile_and_output_count > 0) return true;
  for (std::size_t index = 0; index < trace.strings.size(); ++index) {
    if (is_output_op(trace.strings[static_cast<StringId>(index)])) return true;
  }
  return false;
}

/// Keras records one step by default.
bool is_one_step(const Trace& trace) {
  constexpr std::size_t kMostCalls = 8;  // one for each replica
  std::size_t calls = 0;
  for (const Lane& lane : trace.lanes) calls += lane.get_next_calls.size();
  return calls > 0 && calls <= kMostCalls && trace.steps.empty();
}

IdSet tf_data_functions_of(const Trace& trace) {
  IdSet functions;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t run = 0; run < lane.function_runs.size(); ++run) {
      const std::uint64_t id = lane.function_runs[run].function_id.value();
      if (id != 0) functions.insert(id);
    }
  }
  return functions;
}

}  // namespace

bool needs_profile(const Trace& trace) {
  return !trace.devices.empty() || is_one_step(trace) || compiles_or_writes(trace);
}

Result<void> read_profile(ByteSource& source, const Format& format, ProfileParts parts, const Trace& trace,
                          const WorkOptions& work, DeviceProfile& devices, std::optional<Profile>& profile) {
  ProfileReader reader(parts, LineOrder::by_start, tf_data_functions_of(trace));
  for (bool is_again = false;; is_again = true) {
    DeviceProfiler profiler(trace.origin_ns);
    const Result<void> start = source.rewind();
    const Result<void> read = start ? reader.add(source, format, work, &profiler) : start;
    devices = profiler.finish();
    if (!read) return read;
    if (is_again || !reader.must_read_again()) break;
    reader.begin_again();
  }
  profile = reader.finish(trace.origin_ns);
  return {};
}

}  // namespace doctor
