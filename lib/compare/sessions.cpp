#include "compare/sessions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace doctor {
namespace {

/// A recording in the order of time.
struct Timed {
  std::int64_t recorded_ns = 0;
  bool is_candidate = false;
  std::size_t recording = 0;
};

SessionsOfSide& side_of(Sessions& sessions, const Timed& one) {
  return one.is_candidate ? sessions.candidate : sessions.base;
}

/// Recordings by machine, in order of time; those that do not say when they were made are left out.
std::map<std::string, std::vector<Timed>> by_machine(std::span<const RunSummary> base,
                                                     std::span<const RunSummary> candidate) {
  std::map<std::string, std::vector<Timed>> machines;
  for (const bool is_candidate : {false, true}) {
    const std::span<const RunSummary> runs = is_candidate ? candidate : base;
    for (std::size_t recording = 0; recording < runs.size(); ++recording) {
      const RecordingFacts& facts = runs[recording].recording;
      if (facts.recorded_ns != 0) machines[facts.host].push_back({facts.recorded_ns, is_candidate, recording});
    }
  }
  for (auto& [host, recordings] : machines) {
    std::sort(recordings.begin(), recordings.end(),
              [](const Timed& a, const Timed& b) { return a.recorded_ns < b.recorded_ns; });
  }
  return machines;
}

/// How often the next recording is of the other side.
std::size_t count_turns(std::span<const Timed> recordings) {
  std::size_t turns = 0;
  for (std::size_t index = 1; index < recordings.size(); ++index) {
    turns += recordings[index].is_candidate != recordings[index - 1].is_candidate ? 1U : 0U;
  }
  return turns;
}

/// Numbers the sittings from 1 on; 0 is that of all recordings without a time.
void number_sittings(const std::map<std::string, std::vector<Timed>>& machines, double gap_s, Sessions& sessions) {
  const double gap_ns = gap_s * 1e9;
  std::size_t number = 0;
  for (const auto& [host, recordings] : machines) {
    for (std::size_t begin = 0, end = 0; begin < recordings.size(); begin = end) {
      for (end = begin + 1; end < recordings.size(); ++end) {
        const auto before = static_cast<double>(recordings[end - 1].recorded_ns);
        if (static_cast<double>(recordings[end].recorded_ns) - before > gap_ns) break;
      }
      const std::span<const Timed> sitting = std::span(recordings).subspan(begin, end - begin);
      const bool is_one_after_the_other = count_turns(sitting) == 1;
      ++number;
      for (const Timed& one : sitting) {
        const bool is_second = is_one_after_the_other && one.is_candidate != sitting.front().is_candidate;
        side_of(sessions, one).sittings[one.recording] = number + (is_second ? 1U : 0U);
      }
      number += is_one_after_the_other ? 1U : 0U;
    }
  }
}

/// Numbers the processes from 1 on; 0 is that of all recordings that do not say theirs.
void number_processes(std::span<const RunSummary> base, std::span<const RunSummary> candidate, Sessions& sessions) {
  std::map<std::pair<std::string, std::string>, std::size_t> numbers;
  const auto number = [&](std::span<const RunSummary> runs, std::vector<std::size_t>& processes) {
    for (std::size_t recording = 0; recording < runs.size(); ++recording) {
      const RecordingFacts& facts = runs[recording].recording;
      if (facts.process.empty()) continue;
      processes[recording] = numbers.try_emplace({facts.host, facts.process}, numbers.size() + 1).first->second;
    }
  };
  number(base, sessions.base.processes);
  number(candidate, sessions.candidate.processes);
}

std::set<std::size_t> distinct(const std::vector<std::size_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// What is known of a spread: prior and estimate together, weighted by their degrees of freedom.
class Spread {
 public:
  Spread(double prior, double weight) : squares_(weight * prior * prior), freedom_(weight) {}

  /// Adds how the means of a side's groups differ. How many groups there are.
  std::size_t add(const Readings& readings, const std::vector<std::size_t>& groups) {
    std::map<std::size_t, std::pair<double, double>> sums;
    for (std::size_t index = 0; index < readings.values.size(); ++index) {
      auto& [sum, count] = sums[groups[readings.recordings[index]]];
      sum += std::log(readings.values[index]);
      ++count;
    }
    double mean = 0;
    for (const auto& [group, sum] : sums) mean += sum.first / sum.second / static_cast<double>(sums.size());
    for (const auto& [group, sum] : sums) squares_ += std::pow(sum.first / sum.second - mean, 2);
    freedom_ += static_cast<double>(sums.size()) - 1;
    return sums.size();
  }

  double variance() const { return squares_ / freedom_; }

 private:
  double squares_;
  double freedom_;
};

/// Of the logarithm of the ratio.
double variance_of_level(const Readings& base, const std::vector<std::size_t>& base_groups, const Readings& candidate,
                         const std::vector<std::size_t>& candidate_groups, Spread spread) {
  const std::size_t before = spread.add(base, base_groups);
  const std::size_t after = spread.add(candidate, candidate_groups);
  return spread.variance() * (1 / static_cast<double>(before) + 1 / static_cast<double>(after));
}

bool are_positive(const Readings& readings) {
  return !readings.values.empty() &&
         std::all_of(readings.values.begin(), readings.values.end(), [](double value) { return value > 0; });
}

}  // namespace

Sessions find_sessions(std::span<const RunSummary> base, std::span<const RunSummary> candidate,
                       const ThresholdValues& thresholds) {
  Sessions sessions;
  sessions.base = {std::vector<std::size_t>(base.size()), std::vector<std::size_t>(base.size())};
  sessions.candidate = {std::vector<std::size_t>(candidate.size()), std::vector<std::size_t>(candidate.size())};
  number_processes(base, candidate, sessions);
  number_sittings(by_machine(base, candidate), thresholds["sitting_gap"], sessions);
  const std::set<std::size_t> base_sittings = distinct(sessions.base.sittings);
  const std::set<std::size_t> candidate_sittings = distinct(sessions.candidate.sittings);
  sessions.base_sittings = base_sittings.size();
  sessions.candidate_sittings = candidate_sittings.size();
  // What one recording does not say is unknown for all.
  const auto are_shared = [](const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
    return a == b || a.contains(0) || b.contains(0);
  };
  sessions.share_sittings = are_shared(base_sittings, candidate_sittings);
  const std::set<std::size_t> base_processes = distinct(sessions.base.processes);
  const std::set<std::size_t> candidate_processes = distinct(sessions.candidate.processes);
  // Where each recording has a process of its own, how processes differ is in what the recordings of a side differ by,
  // and one that was held up must not hide what all others show.
  const bool has_one_each = base_processes.size() == base.size() && candidate_processes.size() == candidate.size();
  sessions.share_processes = has_one_each || are_shared(base_processes, candidate_processes);
  return sessions;
}

std::size_t count_of_last_sittings(std::span<const RunSummary> runs, std::size_t sittings,
                                   const ThresholdValues& thresholds) {
  const std::vector<std::size_t> numbers = find_sessions(runs, {}, thresholds).base.sittings;
  std::set<std::size_t> seen;
  std::size_t count = 0;
  for (; count < numbers.size(); ++count) {
    seen.insert(numbers[numbers.size() - 1 - count]);
    if (seen.size() > sittings) break;
  }
  return count;
}

double session_floor(const Sessions& sessions, const Readings& base, const Readings& candidate,
                     const ThresholdValues& thresholds) {
  if (!are_positive(base) || !are_positive(candidate)) return 1;
  const double weight = thresholds["spread_weight"];
  double variance = 0;
  if (!sessions.share_processes) {
    variance += variance_of_level(base, sessions.base.processes, candidate, sessions.candidate.processes,
                                  Spread(thresholds["process_spread"], weight));
  }
  if (!sessions.share_sittings) {
    variance += variance_of_level(base, sessions.base.sittings, candidate, sessions.candidate.sittings,
                                  Spread(thresholds["sitting_spread"], weight));
  }
  return std::exp(thresholds["spread_errors"] * std::sqrt(variance));
}

}  // namespace doctor
