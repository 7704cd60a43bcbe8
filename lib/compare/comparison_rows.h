#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ranks.h"
#include "diagnose/finding.h"
#include "trace/source_lines.h"

namespace doctor {

// The types that the builders of a comparison share.

enum class ChangeKind {
  iterator_added,
  iterator_removed,
  iterator_moved,
  form_changed,           ///< the same transformation in another form: map with and without num_parallel_calls
  setting_changed,        ///< parallelism, buffer, batch size, cycle length…
  op_added,               ///< an op that the function of an iterator did not run before
  op_calls_changed,       ///< its function calls an op another number of times for the same elements
  element_bytes_changed,  ///< its elements have another size, from the same input
  calls_changed,          ///< another number of calls for one step than the batch sizes imply
  finding_new,
  finding_gone,
  budget_exceeded,  ///< of the candidate, whatever the base is
};

/// A difference between the pipelines of base and candidate.
struct StructureChange {
  ChangeKind kind = ChangeKind::setting_changed;
  std::string subject;  ///< long name, that of the base if it is there; empty if it is the whole run
  std::string words;    ///< the user's name for it
  std::string message;  ///< one clause with the old and the new value
  /// True if every recording of one side differs in it from every recording of the other. Otherwise it may be chance,
  /// and never gates.
  bool is_certain = true;
  bool is_worse = false;                  ///< it makes the pipeline slower, or may
  std::optional<SourceLine> source = {};  ///< where the user wrote the subject, in the candidate if it is there
  /// What it adds to the pipeline's work for a step, as a share of the base's; negative if it takes work away. nullopt
  /// for changes that are not of work.
  std::optional<double> added_share = {};
};

/// The subject of a row of times.
enum class TimeKind {
  self,      ///< an iterator's own part of a call
  op,        ///< one type of op in an iterator's functions
  work,      ///< all ops of an iterator's functions for one step: calls times the time of one call
  tail,      ///< calls that take many times as long as usual: their share of the time of that iterator or op
  calls,     ///< calls of an iterator for one step
  get_next,  ///< latency of the consumer's calls
  step,      ///< time from call to call
  modelled,  ///< time of a step computed from its parts: see step_model.h
};

/// True if it is what the consumer sees, and not a part of the pipeline.
constexpr bool is_of_consumer(TimeKind kind) {
  return kind == TimeKind::get_next || kind == TimeKind::step || kind == TimeKind::modelled;
}

enum class Difference {
  unknown,  ///< `~`: the difference is not known
  same,     ///< the interval of the ratio lies within the effect floor
  faster,
  slower,
};

/// One quantity of one thing, in every recording.
struct TimeRow {
  TimeKind kind = TimeKind::self;
  std::string subject;                    ///< long name of the iterator, or of the root for get_next and step
  std::string words;                      ///< the user's name for it
  std::string op;                         ///< for TimeKind::op and its tails
  std::optional<SourceLine> source = {};  ///< where the user wrote the subject in the candidate
  /// Microseconds of a call, or of a step for `work`; for `tail` shares 0..1, for `calls` numbers. One value for each
  /// recording with enough calls.
  std::vector<double> base;
  std::vector<double> candidate;
  double base_median = 0;
  double candidate_median = 0;
  std::optional<RatioInterval> interval;  ///< of the ratio candidate / base; nullopt for tails
  double p_value = 1;                     ///< the probability that the candidate is this far above the base by chance
  double adjusted_p_value = 1;            ///< the same, adjusted for the number of rows tested (Holm)
  double pace = 1;                        ///< pace of the candidate's machine, by which its readings are divided first
  double min_ratio = 1;                   ///< effect floor of this row, if it is above that of its kind
  double cost_us = 0;                     ///< additional microseconds for each step; negative if it takes less
  std::optional<double> longer_step;      ///< how much longer that makes the step, as a share of it
  Difference difference = Difference::unknown;
  bool is_judged = false;             ///< it can make a regression
  std::string reason;                 ///< why nothing can be said, or why it is not judged; else empty
  std::optional<std::size_t> needed;  ///< recordings per side that would decide it, if more of them would

  /// The ratio of the medians; 0 if the base has none.
  double ratio() const { return base_median > 0 ? candidate_median / base_median : 0; }
};

/// The options that the user chose.
struct ComparisonChoice {
  bool is_weak = false;          ///< 3 against 3 with a wide floor
  bool judges_get_next = false;  ///< differences of GetNext and step times make a regression too
  bool judges_step = false;
  std::optional<double> max_slowdown;  ///< share by which a step may get longer: then only more than that gates
  /// recordings of another machine are judged too, each row relative to all others
  bool is_across_machines = false;
  std::optional<Severity> fail_on = Severity::warning;  ///< new findings of this severity and above make a regression
};

/// True if the change makes the comparison a regression.
inline bool is_regression(const StructureChange& change) {
  return change.is_certain && change.is_worse;
}
inline bool is_regression(const TimeRow& row) {
  return row.is_judged && row.difference == Difference::slower;
}

}  // namespace doctor
