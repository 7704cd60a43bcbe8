#pragma once

#include "base/id_set.h"
#include "base/result.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "profile/device_profile.h"
#include "profile/line_walks.h"
#include "profile/profile.h"
#include "profile/profile_parts.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/repeated_events.h"

namespace doctor {

/// Tests whether a diagnosis needs more of the events than the trace has kept: it has devices, functions are traced or
/// output is written, or it has one step, which an event may show that is not kept.
bool needs_profile(const Trace& trace);

/// Reads every event of the file of a trace, and again where information came too late. Times are those of the trace.
Result<void> read_profile(ByteSource& source, const Format& format, ProfileParts parts, const Trace& trace,
                          const WorkOptions& work, DeviceProfile& devices, std::optional<Profile>& profile);

/// Reads every event of the files of one host.
class ProfileReader {
 public:
  /// For more than one file use LineOrder::any: they are not read again. `tf_data_functions` are the ids of the
  /// functions that tf.data calls.
  explicit ProfileReader(ProfileParts parts, LineOrder order = LineOrder::any, IdSet tf_data_functions = {});
  ~ProfileReader();
  ProfileReader(const ProfileReader&) = delete;
  ProfileReader& operator=(const ProfileReader&) = delete;

  /// Reads a file. `devices` receives the same events, with the op that launched each where only the host's events show
  /// it. Errors as for Format::read_events. What is lost on the way was counted when the Trace was read.
  Result<void> add(ByteSource& source, const Format& format, const WorkOptions& work,
                   DeviceProfiler* devices = nullptr);

  /// True if the file should be read again, after begin_again(), because information came too late: ops of the host
  /// that launched earlier device events, or events of a line that began before others.
  bool must_read_again() const;
  /// Forgets everything except which ops launched what, and whether lines are in order.
  void begin_again();

  /// `origin_ns` is that of the Trace. The reader is empty afterwards.
  Profile finish(std::int64_t origin_ns);

 private:
  class Sink;
  ProfileParts parts_;
  LineOrder order_;
  IdSet tf_data_functions_;
  std::unique_ptr<Sink> sink_;
  RepeatedEvents repeats_;
};

}  // namespace doctor
