#pragma once

#include <array>
#include <unordered_set>

#include "base/result.h"
#include "fleet/fleet.h"
#include "fleet/trace_row.h"

namespace doctor {

/// Adds rows up. Their order does not matter: times are added as whole nanoseconds, and where there is too much to
/// keep, a sample is drawn by hash. Memory grows with the number of causes, pipelines, kinds of errors, jobs of each,
/// and runs that JobSteps keeps of each, but not with the number of rows.
class FleetCounter {
 public:
  explicit FleetCounter(RowGrouping grouping) : grouping_(std::move(grouping)) {}

  /// `hash` is the row's own; samples are drawn by it.
  void add(const TraceRow& row, std::uint64_t hash);

  /// Adds what the reader of rows passed over.
  void add_passed_over(std::uint64_t repeated, std::uint64_t not_rows, const std::string& first_not_row);

  /// Adds a line of another counter's parts(), or of a run. Errors: it is none, or has groups by something else.
  Result<void> add_part(std::string_view line);

  /// All sums as lines, see kind_of_part(). Lines of runs() are to follow.
  std::vector<std::string> parts() const;

  /// The runs that histories of jobs are made of, when they were recorded by the hash of their row.
  std::unordered_map<std::uint64_t, std::int64_t> runs() const { return steps_.runs(); }

  /// The fleet, without what rows say of runs. Nothing may be added afterwards.
  Fleet finish();

 private:
  using Jobs = std::unordered_set<std::uint64_t>;  ///< hashes of jobs' names

  /// Rows with one cause or pipeline.
  struct Group {
    std::uint64_t traces = 0;
    std::int64_t lost_ns = 0;
    FleetSaving saved;
    Jobs jobs;
    std::int64_t most_lost_ns = -1;
    std::string example;
  };

  /// The data kept of one recording of a pipeline.
  struct Recording {
    std::uint64_t hash = 0;
    std::int64_t recorded_ns = 0;
    double input_share = -1;      ///< -1: not known
    double get_next_p50_us = -1;  ///< -1: not known

    friend bool operator<(const Recording& a, const Recording& b) {
      return std::tie(a.hash, a.recorded_ns, a.input_share, a.get_next_p50_us) <
             std::tie(b.hash, b.recorded_ns, b.input_share, b.get_next_p50_us);
    }
    bool is_before(const Recording& other) const {
      return std::tie(recorded_ns, hash) < std::tie(other.recorded_ns, other.hash);
    }
  };

  struct Pipeline {
    Group group;
    std::uint64_t dated_traces = 0;
    Recording first;
    Recording last;
    std::set<Recording> sample;  ///< recordings with the smallest hashes: the same in any order
  };

  /// What rows are grouped by, beside their pipeline.
  enum Cause : std::uint8_t { kCulprit, kLine, kRule, kGroup, kError };

  /// The kind of part of each, and how many names one has: kind, dataset and resource of a culprit; line and dataset.
  static constexpr std::array<std::pair<std::string_view, std::size_t>, 5> kCauses = {
      {{"culprit", 3}, {"line", 2}, {"rule", 1}, {"group", 1}, {"error", 1}}};

  using Names = std::vector<std::string>;

  struct RowFacts;

  static void add(Group& group, const RowFacts& facts);
  void add(Cause cause, const Names& names, const RowFacts& facts, const FleetSaving& saving = {});
  static void add(Pipeline& pipeline, const RowFacts& facts);
  static void merge(Group& into, const Group& from);
  static void merge(Pipeline& into, const Pipeline& from);
  void merge(const Fleet& from, const Jobs& jobs);
  template <typename Visit, typename AnyGroup>
  static void visit_group(Visit& visit, AnyGroup& group);
  template <typename Visit, typename AnyPipeline>
  static void visit_pipeline(Visit& visit, AnyPipeline& pipeline);
  template <typename Visit, typename AnyFleet>
  static void visit_fleet(Visit& visit, AnyFleet& fleet);
  static void add(Pipeline& pipeline, const Recording& recording);
  static FleetPipeline describe(const std::string& signature, Pipeline& pipeline, std::vector<double>& p_values);
  FleetCause describe(const Group& group) const;

  RowGrouping grouping_;
  Fleet fleet_;
  Jobs jobs_;
  std::array<std::map<Names, Group>, kCauses.size()> causes_;  ///< indexed by Cause
  JobSteps steps_;
  std::map<std::string, Pipeline> pipelines_;
};

// The sums of a FleetCounter as lines of NDJSON, of which another one makes the same sums: what `fleet --partial`
// writes. Kinds of lines: "fleet", "culprit", "line", "rule", "group", "error", "pipeline", "run", and "end" after all
// others.

/// The kind of part that a line is; empty if it is none.
std::string_view kind_of_part(std::string_view line);

/// The last line of parts, after so many others.
std::string end_of_parts(std::uint64_t lines);

/// Tests whether a line is the last one of parts of which so many lines came before.
bool is_end_of_parts(std::string_view line, std::uint64_t lines);

/// A run of a job, as far as its history needs its row; `hash` is that of the whole row.
struct FleetRun {
  TraceRow row;
  std::uint64_t hash = 0;
};

std::string render_run(const TraceRow& row, std::uint64_t hash);

/// Errors: the line is not one of render_run().
Result<FleetRun> parse_run(std::string_view line);

}  // namespace doctor
