#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "profile/profile.h"
#include "trace/event_reader.h"
#include "trace/format.h"
#include "trace/repeated_events.h"

namespace doctor {

/// Reads every event of the files of one host.
class ProfileReader {
 public:
  /// Ops, memory and the types of elements are for pages. A diagnosis does without.
  enum class Detail : std::uint8_t { for_diagnosis, for_pages };

  explicit ProfileReader(Detail detail);
  ~ProfileReader();
  ProfileReader(const ProfileReader&) = delete;
  ProfileReader& operator=(const ProfileReader&) = delete;

  /// `devices` takes the same events, with the op that launched it where only the host's events show it. Errors as of
  /// Format::read_events. What is lost on the way was counted when the Trace was read.
  Result<void> add(ByteSource& source, const Format& format, const WorkOptions& work, EventSink* devices = nullptr);

  /// Whether events of devices came before those of the host that show which op launched them: then the file should be
  /// read again, after begin_again().
  bool has_late_launches() const;
  /// Forgets everything but which ops launched what.
  void begin_again();

  /// `origin_ns` is that of the Trace. The reader is empty afterwards.
  Profile finish(std::int64_t origin_ns);

 private:
  class Sink;
  Detail detail_;
  std::unique_ptr<Sink> sink_;
  RepeatedEvents repeats_;
};

}  // namespace doctor
