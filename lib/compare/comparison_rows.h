#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/ranks.h"
#include "diagnose/finding.h"
#include "trace/source_lines.h"

namespace doctor {

// What a comparison is made of: the types that its builders share.

enum class ChangeKind {
  iterator_added,
  iterator_removed,
  iterator_moved,
  form_changed,           ///< the same transformation in another form: map with and without num_parallel_calls
  setting_changed,        ///< parallelism, buffer, batch size, cycle length…
  op_added,               ///< an op that the function of an iterator did not run before
  op_calls_changed,       ///< its function calls an op so many times for the same elements
  element_bytes_changed,  ///< its elements take so many bytes, from the same input
  calls_changed,          ///< so many calls for one step, as follows from the batch sizes between it and the consumer
  finding_new,
  finding_gone,
  budget_exceeded,  ///< of the candidate, whatever the base is
};

/// Something about the pipeline itself that is not the same in base and candidate.
struct StructureChange {
  ChangeKind kind = ChangeKind::setting_changed;
  std::string subject;  ///< long name, in the base where it is there; empty if it is the whole run
  std::string words;    ///< what the user calls it
  std::string message;  ///< one clause with what was and what is
  /// Every recording of one side differs in it from every recording of the other. Else it may be chance, and never
  /// gates.
  bool is_certain = true;
  bool is_worse = false;                  ///< it makes the pipeline slower, or may
  std::optional<SourceLine> source = {};  ///< where the user wrote the subject, in the candidate where it is there
};

/// What a row of times is about.
enum class TimeKind {
  self,      ///< an iterator's own part of a call
  op,        ///< one type of op in an iterator's functions
  work,      ///< all ops of an iterator's functions, for one step: calls times what one takes
  tail,      ///< calls that take many times as long as usual: their part of the time of that iterator or op
  calls,     ///< calls of an iterator for one step
  get_next,  ///< latency of the consumer's calls
  step,      ///< time from call to call
  modelled,  ///< the same as the work of its parts has it: see step_model.h
};

/// Whether it is what the consumer sees, not a part of the pipeline.
constexpr bool is_of_consumer(TimeKind kind) {
  return kind == TimeKind::get_next || kind == TimeKind::step || kind == TimeKind::modelled;
}

enum class Difference {
  unknown,  ///< `~`: nothing can be said
  same,     ///< the interval of the ratio is within the effect floor
  faster,
  slower,
};

/// One number of one thing, in every recording.
struct TimeRow {
  TimeKind kind = TimeKind::self;
  std::string subject;                    ///< long name of the iterator, or of the root for get_next and step
  std::string words;                      ///< what the user calls it
  std::string op;                         ///< for TimeKind::op and their tails
  std::optional<SourceLine> source = {};  ///< where the user wrote the subject in the candidate
  /// Microseconds of a call, or of a step for `work`; for `tail` shares 0..1, for `calls` numbers. One for each
  /// recording that has enough calls of it.
  std::vector<double> base;
  std::vector<double> candidate;
  double base_median = 0;
  double candidate_median = 0;
  std::optional<RatioInterval> interval;  ///< of the ratio candidate / base; none for tails
  double p_value = 1;                     ///< that the candidate is as far above the base by chance
  double adjusted_p_value = 1;            ///< the same, with all rows tested counted (Holm)
  double pace = 1;                        ///< of the candidate's machine; its readings are divided by it first
  double min_ratio = 1;                   ///< effect floor of this row, where it is above that of its kind
  double cost_us = 0;                     ///< microseconds more (or less, negative) for each step
  std::optional<double> longer_step;      ///< how much longer that makes the step, as a share of it
  Difference difference = Difference::unknown;
  bool is_judged = false;             ///< it can make a regression
  std::string reason;                 ///< why nothing can be said, or why it is not judged; empty else
  std::optional<std::size_t> needed;  ///< recordings per side that would decide it, where more of them would

  /// 0 where the base has none.
  double ratio() const { return base_median > 0 ? candidate_median / base_median : 0; }
};

/// What the user chose.
struct ComparisonChoice {
  bool is_weak = false;          ///< 3 against 3 with a wide floor
  bool judges_get_next = false;  ///< differences of GetNext and step times make a regression too
  bool judges_step = false;
  std::optional<double> max_slowdown;  ///< share by which a step may get longer: then only what exceeds it gates
  bool is_across_machines = false;     ///< recordings of another machine are judged too, each row against all others
  std::optional<Severity> fail_on = Severity::warning;  ///< new findings from here up make a regression
};

/// Whether it makes the comparison a regression.
inline bool is_regression(const StructureChange& change) {
  return change.is_certain && change.is_worse;
}
inline bool is_regression(const TimeRow& row) {
  return row.is_judged && row.difference == Difference::slower;
}

}  // namespace doctor
