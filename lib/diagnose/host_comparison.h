#pragma once

#include "diagnose/judgement_types.h"
#include "diagnose/threshold.h"

namespace doctor {

/// One host of a run, by its worst pipeline that a consumer waits for.
struct ComparedHost {
  std::size_t host = 0;                    ///< index into Measurements::hosts
  std::string name;                        ///< of the machine; with its file where two have the same name. Foreign text
  std::optional<std::size_t> judgement;    ///< index into Judgement::pipelines; none: its calls say nothing
  InputLevel level = InputLevel::unknown;  ///< of that pipeline
  Picoseconds mean_wait = 0;               ///< mean latency of its steady calls without the longest
  double input_share = 0;
  bool is_straggler = false;            ///< waits much longer than the others
  Picoseconds mean_wait_of_others = 0;  ///< median over the other hosts that can be compared
  double input_share_of_others = 0;     ///< likewise

  /// How many times as long as the others it waits in a call; a picosecond means no wait at all.
  double wait_ratio() const {
    return static_cast<double>(mean_wait) / static_cast<double>(std::max<Picoseconds>(mean_wait_of_others, 1));
  }
  double share_above_others() const { return input_share - input_share_of_others; }
};

/// How the hosts of a run wait for their input. Each is measured by its own clock, so clocks need not agree.
struct HostComparison {
  std::vector<ComparedHost> hosts;  ///< worst first; those that cannot be compared come last
  std::size_t compared_count = 0;
  std::size_t straggler_count = 0;
  /// They are one host, recorded several times one after another: none of them holds the others up.
  bool are_windows = false;

  /// What they are called: "hosts", "windows".
  std::string_view noun() const { return are_windows ? "windows" : "hosts"; }

  /// Whether there is anything to compare: two hosts whose calls can be judged.
  bool is_possible() const { return compared_count >= 2; }

  /// How many hosts are input-bound.
  std::size_t bound_count() const;
};

/// The thresholds that decide who straggles. They are those of the rule that names it.
std::vector<Threshold> straggler_thresholds();

/// Whether the traces are windows of one host: all of that name, recorded one after another. Traces that do not say
/// when they were recorded count as hosts, and so do those that overlap: several processes of one run on one machine.
bool are_windows_of_one_host(const Measurements& measurements);

/// Compares the hosts of a run. A host is a straggler if it is slow itself and waits longer than the median of the
/// others, by both thresholds.
HostComparison compare_hosts(const Measurements& measurements, const Judgement& judgement,
                             const ThresholdValues& thresholds);

/// "3 of 4 hosts wait alike; host-3 is the straggler: it waits 9.8 times as long as the median of the 3 other hosts".
/// Holds foreign text; empty if nothing can be compared.
std::string describe_comparison(const HostComparison& comparison);

}  // namespace doctor
