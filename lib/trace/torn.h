#pragma once

#include "trace/trace.h"

namespace doctor {

/// A reason of Loss::counts, and what it says about the file.
struct LossReason {
  std::string_view name;  ///< "document_cut_off"
  /// The predicate for a file of which a part is missing: "is cut off". Empty if all of it was read and some events
  /// were not understood or not wanted.
  std::string_view tear;
  std::string_view cure = "Record or copy it again";
  /// What follows for the job, as a clause.
  std::string_view effect = "what is missing may be what training waited for";
};

// The reasons for what profilers leave out of large recordings.
/// of a Chrome trace, all but the first events
inline constexpr std::string_view kCutByProfiler = "document_cut_by_profiler";
inline constexpr std::string_view kEmptyXSpace = "files_empty";  ///< the XSpace, so another file was read

/// Tests whether one of these is among the reasons.
bool is_limited_by_profiler(const Loss& loss);

/// Every reason that a reader gives. A test compares the list with the sources.
std::span<const LossReason> loss_reasons();

/// Tests whether a part of the file is missing: cut off, unreadable or malformed. The missing part may be what the job
/// waited for, so what was *not* seen in such a file proves nothing.
bool is_torn(const Loss& loss);

/// The damage to the file as a predicate: "is cut off after at most 62 %"; empty if it is not torn.
std::string describe_tear(const Loss& loss);

/// What follows for the job: "what is missing may be what training waited for"; empty if the file is not torn.
std::string_view effect_of_tear(const Loss& loss);

/// The remedy: "Record or copy it again"; empty if the file is not torn.
std::string_view cure_of_tear(const Loss& loss);

}  // namespace doctor
