#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "report/selection.h"
#include "text/text_page.h"

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

/// A change with what it is of. Refers to the diagnosis.
struct ShownChange {
  const Change& change;
  const Finding& finding;
  const Advice& advice;
};

/// The changes whose findings count, in their order. A suppressed finding advises nothing.
std::vector<ShownChange> changes_that_count(const Diagnosis& diagnosis);

/// The rates one after another: "12 steps/s now -> 14 with 1 -> 16 with 1 + 2 -> 1,135 if every element were ready".
/// Empty where no model reproduces the rate that was measured. With Detail::screen of the changes that are shown.
std::string describe_rates(const Diagnosis& diagnosis, const PipelineView& worst);

/// Why none of the changes says what it brings: the model, or that no change it knows gains enough. Empty where one
/// does, and where nobody waits.
std::string describe_missing_gains(const Diagnosis& diagnosis, const PipelineView& worst);

/// Rows about what to change: code, its rule and what it brings; where there is no change, the first sentences that
/// findings advise. Returns the rule of the first, empty if there is none.
std::string add_changes(const Measurements& measurements, const Diagnosis& diagnosis, Detail detail, Brevity brevity,
                        TextPage& page);

/// What the device that ran most kernels did: those of a host do the same work.
void add_devices(const Measurements& measurements, TextPage& page);

/// The hosts beside each other, and which of them holds the others up.
void add_hosts(const HostComparison& comparison, const std::vector<PipelineView>& pipelines, TextPage& page);

/// That the report is about one of several hosts, because the user wanted it so.
void add_left_out(const Measurements& measurements, TextPage& page);

/// The pipelines after the first one, which the report is about, and perhaps why it is.
void add_other_pipelines(const std::vector<PipelineView>& pipelines, const HostComparison& comparison,
                         bool has_many_hosts, bool explains_rank, TextPage& page);

}  // namespace doctor
