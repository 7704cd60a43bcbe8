#include <fmt/format.h>

#include <cmath>

#include "base/hash.h"
#include "compare/change_points.h"
#include "fleet/fleet.h"
#include "fleet/trace_row.h"
#include "text/columns.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// The run from `begin` to `end` whose step is nearest to `median_us`.
std::size_t typical_run(const std::vector<JobRun>& runs, std::size_t begin, std::size_t end, double median_us) {
  const auto distance = [&](const JobRun& run) { return std::abs(run.step_us - median_us); };
  const auto first = runs.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = runs.begin() + static_cast<std::ptrdiff_t>(end);
  const auto nearest =
      std::min_element(first, last, [&](const JobRun& a, const JobRun& b) { return distance(a) < distance(b); });
  return static_cast<std::size_t>(nearest - runs.begin());
}

std::vector<JobSlowdown> slowdowns_of(const std::vector<JobRun>& runs, const ThresholdValues& thresholds) {
  std::vector<double> steps;
  steps.reserve(runs.size());
  for (const JobRun& run : runs) steps.push_back(run.step_us);
  const std::vector<SeriesChange> changes =
      changes_of(steps, thresholds["history_significance"], thresholds["step_min_ratio"]);
  std::vector<JobSlowdown> slowdowns;
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    if (change->after <= change->before) continue;
    const double half = std::sqrt(change->before * change->after);
    const auto end =
        std::find_if(change, changes.end(), [&](const SeriesChange& later) { return later.after <= half; });
    slowdowns.push_back({change->at, end == changes.end() ? std::nullopt : std::optional(end->at), change->before,
                         change->after, typical_run(runs, change->begin, change->at, change->before),
                         typical_run(runs, change->at, change->end, change->after)});
  }
  return slowdowns;
}

bool is_worse(const JobSlowdown& a, const JobSlowdown& b) {
  return std::tuple(!a.until, a.ratio()) > std::tuple(!b.until, b.ratio());
}

}  // namespace

const JobSlowdown& JobHistory::worst() const {
  return *std::min_element(slowdowns.begin(), slowdowns.end(), is_worse);
}

std::string describe_cause(const JobHistory& history, const JobSlowdown& slowdown) {
  const JobRun& before = history.runs[slowdown.typical_before];
  const JobRun& after = history.runs[slowdown.typical_after];
  constexpr std::array<std::pair<std::string_view, std::string JobRun::*>, 5> kParts = {
      {{"verdict", &JobRun::verdict},
       {"culprit", &JobRun::culprit},
       {"limited by", &JobRun::limiting_resource},
       {"line", &JobRun::source},
       {"pipeline", &JobRun::signature}}};
  const auto word = [](const std::string& value) { return value.empty() ? "none" : value; };
  return joined(kParts, ", ", [&](const auto& part) {
    const auto& [was, is] = std::pair(before.*part.second, after.*part.second);
    return was == is ? std::string() : fmt::format("{} {} -> {}", part.first, word(was), word(is));
  });
}

/// What two hosts of a run come to.
void JobSteps::Run::join(const Run& other) {
  if (std::tie(other.step_us, other.row) > std::tie(step_us, row)) {
    step_us = other.step_us;
    row = other.row;
  }
  recorded_ns = std::min(recorded_ns, other.recorded_ns);
}

void JobSteps::add(const TraceRow& row, std::uint64_t hash) {
  const std::string folder = run_folder_of(row.file.path);
  const std::int64_t begun_ns = time_of_run_folder(folder);
  const std::int64_t recorded_ns = row.recorded_ns != 0 ? row.recorded_ns : begun_ns;
  if (recorded_ns == 0 || !(row.step_p50_us.value_or(0) > 0)) return;
  constexpr double kLongestStep = 9e12;  // microseconds: what is longer is nonsense, and fits nowhere
  const Run run = {begun_ns != 0 ? begun_ns : recorded_ns, fnv1a_64(folder.empty() ? row.file.path : folder),
                   recorded_ns, std::min(*row.step_p50_us, kLongestStep), hash};
  std::vector<Run>& runs = jobs_[fnv1a_64(job_of(row.file.path))];
  const auto at =
      std::lower_bound(runs.begin(), runs.end(), run, [](const Run& a, const Run& b) { return a.is_before(b); });
  if (at != runs.end() && !run.is_before(*at)) return at->join(run);
  runs.insert(at, run);
  if (runs.size() > kMostHistoryValues) runs.erase(runs.begin());
}

std::unordered_map<std::uint64_t, std::int64_t> JobSteps::runs() const {
  std::unordered_map<std::uint64_t, std::int64_t> rows;
  for (const auto& [job, runs] : jobs_) {
    for (const Run& run : runs) rows.emplace(run.row, run.recorded_ns);
  }
  return rows;
}

std::vector<JobRun> JobSteps::in_order(const std::vector<Run>& runs) {
  // Hosts of a run whose folder's name does not tell a time have an entry each.
  std::vector<Run> joined;
  std::unordered_map<std::uint64_t, std::size_t> index_of_place;
  for (const Run& run : runs) {
    const auto [known, is_new] = index_of_place.try_emplace(run.place, joined.size());
    if (is_new) joined.push_back(run);
    if (!is_new) joined[known->second].join(run);
  }
  std::sort(joined.begin(), joined.end(),
            [](const Run& a, const Run& b) { return std::tie(a.recorded_ns, a.row) < std::tie(b.recorded_ns, b.row); });
  std::vector<JobRun> ordered;
  for (const Run& run : joined) {
    JobRun& entry = ordered.emplace_back();
    entry.recorded_ns = run.recorded_ns;
    entry.step_us = run.step_us;
    entry.row = run.row;
  }
  return ordered;
}

std::vector<JobHistory> JobSteps::slower(const ThresholdValues& thresholds) const {
  std::vector<JobHistory> histories;
  for (const auto& [job, runs] : jobs_) {
    JobHistory history = {{}, in_order(runs), {}};
    history.slowdowns = slowdowns_of(history.runs, thresholds);
    if (!history.slowdowns.empty()) histories.push_back(std::move(history));
  }
  std::sort(histories.begin(), histories.end(), [](const JobHistory& a, const JobHistory& b) {
    const JobSlowdown& one = a.worst();
    const JobSlowdown& other = b.worst();
    return is_worse(one, other) || (!is_worse(other, one) && a.runs.front().row < b.runs.front().row);
  });
  return histories;
}

RunDescriber::RunDescriber(std::vector<JobHistory>& jobs) {
  for (JobHistory& job : jobs) {
    for (std::size_t run = 0; run < job.runs.size(); ++run) places_.emplace(job.runs[run].row, Place{job, run});
  }
}

void RunDescriber::add(const TraceRow& row, std::uint64_t hash) {
  const auto place = places_.find(hash);
  if (place == places_.end()) return;
  place->second.job.job = job_of(row.file.path);
  JobRun& run = place->second.job.runs[place->second.run];
  run.trace = row.file.path;
  run.verdict = row.verdict;
  run.input_share = row.input_share;
  run.culprit = kind_of(row.culprit_dataset);
  run.limiting_resource = row.limiting_resource;
  run.source = row.culprit_source;
  run.signature = row.signature;
}

}  // namespace doctor
