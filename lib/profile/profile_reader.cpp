#include "profile/profile_reader.h"

#include <optional>
#include <vector>

#include "profile/device_steps.h"

namespace doctor {

/// Hands each event to all builders, with its time counted from the origin of the first file.
class ProfileReader::Sink final : public EventSink {
 public:
  void begin(const EventHeader& header) override {
    if (!origin_ns_) origin_ns_ = header.origin_ns;
    shift_ = time_since_origin(header.origin_ns, *origin_ns_);
  }

  void take(const TraceEvent& event) override {
    TraceEvent shifted = event;
    shifted.start += shift_;
    ops_.take(shifted);
    host_.take(shifted);
    devices_.take(shifted);
    device_steps_.take(shifted);
  }

  void end_line(const EventLine& line) override {
    ops_.end_line(line);
    host_.end_line(line);
  }

  void end_file() {
    ops_.end_file();
    host_.end_file();
  }

  Profile finish(std::int64_t origin_ns) {
    Profile profile = {ops_.finish(), host_.finish(), devices_.finish(), device_steps_.finish()};
    const Picoseconds shift = time_since_origin(origin_ns_.value_or(origin_ns), origin_ns);
    HostActivity& host = profile.host;
    DeviceSpans& devices = profile.devices;
    for (std::vector<Interval>* const list :
         {&host.compute, &host.launch, &host.compile, &host.unnumbered_steps, &devices.compute_16, &devices.compute_32,
          &devices.copy_to_device, &devices.copy_to_host, &devices.between_devices}) {
      for (Interval& interval : *list) interval = {interval.start + shift, interval.end + shift};
    }
    for (StepMarker& step : profile.device_steps) step.start += shift;
    return profile;
  }

 private:
  std::optional<std::int64_t> origin_ns_;
  Picoseconds shift_ = 0;
  OpTableBuilder ops_;
  HostActivityBuilder host_;
  DeviceSpansBuilder devices_;
  DeviceStepsBuilder device_steps_;
};

ProfileReader::ProfileReader() : sink_(std::make_unique<Sink>()) {}
ProfileReader::~ProfileReader() = default;

Result<void> ProfileReader::add(ByteSource& source, const Format& format, const WorkOptions& work) {
  const Result<EventTotals> totals = format.read_events(source, *sink_, WantedPlanes::all, work);
  sink_->end_file();
  if (!totals) return Unexpected(totals.error());
  return {};
}

Profile ProfileReader::finish(std::int64_t origin_ns) {
  Profile profile = sink_->finish(origin_ns);
  sink_ = std::make_unique<Sink>();
  return profile;
}

}  // namespace doctor
