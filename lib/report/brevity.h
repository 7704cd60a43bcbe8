#pragma once

#include <cstddef>
#include <cstdint>

namespace doctor {

/// A report of at most so many lines is short enough to be read as a whole.
inline constexpr std::size_t kShortReport = 12;

/// What a report leaves out until it is short, step by step; what one step leaves out, those after it do, too. All of
/// it comes with -v.
enum class Brevity : std::uint8_t {
  nothing,
  explanation,      ///< the command that explains the first rule: its name stands beside the change
  notes,            ///< what warns of nothing
  later_limits,     ///< what limits after the first change; all but the first sentence of advice
  alternatives,     ///< other ways to make a change, and the third one
  comparisons,      ///< what the job gains without the work of others than the culprit
  second_evidence,  ///< of two rows of evidence that of the function; that a sure verdict rests on few calls
  later_changes,    ///< all but the first
};
inline constexpr Brevity kMostBrevity = Brevity::later_changes;

inline bool leaves_out(Brevity brevity, Brevity what) {
  return brevity >= what;
}

}  // namespace doctor
