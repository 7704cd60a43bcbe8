#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace doctor {

/// A reason of Loss::counts, and what it says about the file.
struct LossReason {
  std::string_view name;  ///< "document_cut_off"
  /// What happened to a file of which a part is missing, as a predicate: "is cut off"; empty where all of it was read
  /// and some of it was not understood or not wanted.
  std::string_view tear;
  std::string_view cure = "Record or copy it again";
};

// What profilers leave out of large recordings.
inline constexpr std::string_view kCutByProfiler = "document_cut_by_profiler";  ///< of a Chrome trace all but the first
inline constexpr std::string_view kEmptyXSpace = "files_empty";  ///< the XSpace, so another file was read

/// Whether one of these is among the reasons.
bool is_limited_by_profiler(const Loss& loss);

/// Every reason that a reader gives; a test holds the list against the sources.
std::span<const LossReason> loss_reasons();

/// Whether a part of the file is missing: cut off, unreadable or malformed. What is missing may be what the job waited
/// for, so nothing that was *not* seen in such a file counts as evidence.
bool is_torn(const Loss& loss);

/// What happened to the file, as a predicate: "is cut off after at most 62 %"; empty if it is not torn.
std::string describe_tear(const Loss& loss);

/// What to do about it: "Record or copy it again"; empty if the file is not torn.
std::string_view cure_of_tear(const Loss& loss);

}  // namespace doctor
