#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "profile/profile.h"
#include "trace/format.h"

namespace doctor {

/// Reads every event of the files of one host.
class ProfileReader {
 public:
  ProfileReader();
  ~ProfileReader();
  ProfileReader(const ProfileReader&) = delete;
  ProfileReader& operator=(const ProfileReader&) = delete;

  /// Errors as of Format::read_events. What is lost on the way was counted when the Trace was read.
  Result<void> add(ByteSource& source, const Format& format, const WorkOptions& work);

  /// `origin_ns` is that of the Trace. The reader is empty afterwards.
  Profile finish(std::int64_t origin_ns);

 private:
  class Sink;
  std::unique_ptr<Sink> sink_;
};

}  // namespace doctor
