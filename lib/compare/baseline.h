#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compare/run_summary.h"

namespace doctor {

/// The schema of a baseline file.
inline constexpr std::string_view kBaselineSchema = "tfdata-doctor.baseline/1";

/// A run that is kept for later comparisons.
struct StoredRun {
  std::string id;     ///< identifier_of() its summary, so that a run is stored once
  std::string label;  ///< the user's name for its version, e.g. a commit; may be empty
  RunSummary summary;

  friend bool operator==(const StoredRun&, const StoredRun&) = default;
};

/// A hash of everything that was measured, without names of files: equal traces have equal ones.
std::string identifier_of(const RunSummary& summary);

/// One run as a JSON object on one line. ASCII; times in picoseconds.
std::string to_json(const StoredRun& run);

/// Reads what to_json() wrote. Errors: not such an object; `where` names it in the message.
Result<StoredRun> parse_stored_run(std::string_view json, const std::string& where);

/// A baseline as a file to commit, `tfdata-doctor.baseline/1`: runs in the order in which they were added, one a line.
std::string to_baseline_json(const std::vector<StoredRun>& runs);

/// Reads what to_baseline_json() wrote; an empty text is a baseline without runs. Errors: not a baseline, or one of a
/// newer version.
Result<std::vector<StoredRun>> parse_baseline_json(std::string_view json, const std::string& where);

/// Tests whether the start of a file looks like a baseline in JSON.
bool sniff_baseline_json(std::string_view head);

}  // namespace doctor
