#pragma once

#include <compare>

#include "diagnose/finding.h"
#include "measure/measurements.h"

namespace doctor {

/// A version of TensorFlow, {2, 4}.
struct TfVersion {
  int major_number = 0;
  int minor_number = 0;

  auto operator<=>(const TfVersion&) const = default;
};

/// How advice spells what older versions of TensorFlow have by another name or not at all.
struct Spelling {
  std::string_view now;           ///< a piece of Python
  TfVersion since;                ///< the first version that has it
  std::string_view before;        ///< what stands in its place in versions before; empty: it is left out
  std::string_view closing = {};  ///< what then ends its line: a bracket that `before` opens
  std::string_view then = {};     ///< lines that then follow all others
};

/// All spellings, one piece of Python each. No piece is part of another one's `before`.
std::span<const Spelling> spellings();

/// What is known of the TensorFlow that a trace was recorded with.
struct RecordedVersion {
  TfVersion oldest;              ///< it is this one or newer
  bool runs_in_session = false;  ///< a TF1 job, whatever its version: its code runs in TF 1.15
};

/// From what its events show: timelines of session runs, the root iterator that TF 2.6 introduced; else any TF 2.
RecordedVersion recorded_version(const HostMeasurement& host);

/// Spells text and code of an advice so that it runs on that version. Where the version may be older than a spelling
/// and may be not, it stays and `advice.versions` says what to write before.
void spell_for(const RecordedVersion& version, Advice& advice);

/// Spells the advice of all findings for the version of their host; advice about no host in particular is for the first
/// one: hosts of a run have one version. A row has no words, but code that is spelled for sessions may become that of
/// another change.
void spell_for_hosts(const Measurements& measurements, bool is_for_report, std::vector<Finding>& findings);

}  // namespace doctor
