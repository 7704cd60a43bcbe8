#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "profile/line_walks.h"
#include "profile/profile.h"
#include "profile/profile_parts.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/repeated_events.h"

namespace doctor {

/// Reads every event of the files of one host.
class ProfileReader {
 public:
  /// Of more than one file events should be read in LineOrder::any: they are not read again.
  explicit ProfileReader(ProfileParts parts, LineOrder order = LineOrder::any);
  ~ProfileReader();
  ProfileReader(const ProfileReader&) = delete;
  ProfileReader& operator=(const ProfileReader&) = delete;

  /// `devices` takes the same events, with the op that launched it where only the host's events show it. Errors as of
  /// Format::read_events. What is lost on the way was counted when the Trace was read.
  Result<void> add(ByteSource& source, const Format& format, const WorkOptions& work, EventSink* devices = nullptr);

  /// Whether the file should be read again, after begin_again(), because of what was met too late: ops of the host that
  /// launched events of devices which came before them, or events of a line that began before others.
  bool must_read_again() const;
  /// Forgets everything but which ops launched what, and whether lines are in order.
  void begin_again();

  /// `origin_ns` is that of the Trace. The reader is empty afterwards.
  Profile finish(std::int64_t origin_ns);

 private:
  class Sink;
  ProfileParts parts_;
  LineOrder order_;
  std::unique_ptr<Sink> sink_;
  RepeatedEvents repeats_;
};

}  // namespace doctor
