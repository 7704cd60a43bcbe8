#include "measure/cycles/cycle_recording.h"

namespace doctor {
namespace {

FunctionCost cost_of(const FunctionCosts& functions, std::uint64_t function_id) {
  const FunctionEvents& events = *functions.find(function_id);
  return {static_cast<float>(events.cpu), static_cast<float>(events.python),
          static_cast<float>(kEventCost * events.events)};
}

}  // namespace

std::vector<FunctionCost> costs_in_order(std::vector<FunctionOfElement> runs, std::vector<TakenElement> taken,
                                         const FunctionCosts& functions) {
  std::sort(runs.begin(), runs.end(), [](const FunctionOfElement& a, const FunctionOfElement& b) {
    return std::pair(a.start, a.function_id) < std::pair(b.start, b.function_id);
  });
  std::vector<FunctionCost> costs;
  costs.reserve(runs.size());
  for (const FunctionOfElement& run : runs) costs.push_back(cost_of(functions, run.function_id));
  if (taken.empty()) return costs;
  std::sort(taken.begin(), taken.end(), [](const TakenElement& a, const TakenElement& b) { return a.start < b.start; });
  std::unordered_map<std::uint64_t, std::uint64_t> function_of_element;
  for (const FunctionOfElement& run : runs) {
    if (run.element_id != 0) function_of_element[run.element_id] = run.function_id;
  }
  std::vector<FunctionCost> known;
  for (const TakenElement& element : taken) {
    const auto found = function_of_element.find(element.element_id);
    if (found != function_of_element.end()) known.push_back(cost_of(functions, found->second));
  }
  constexpr std::size_t kFewestKnown = 4;  // a median of fewer says little of the others
  if (known.size() < kFewestKnown || 2 * known.size() <= taken.size()) return costs;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::vector<FunctionCost> sorted = known;
  std::nth_element(sorted.begin(), sorted.begin() + (middle - known.begin()), sorted.end(),
                   [](const FunctionCost& a, const FunctionCost& b) { return a.cpu + a.python < b.cpu + b.python; });
  const FunctionCost median = sorted[known.size() / 2];
  costs.clear();
  for (const TakenElement& element : taken) {
    const auto found = function_of_element.find(element.element_id);
    costs.push_back(found == function_of_element.end() ? median : cost_of(functions, found->second));
  }
  return costs;
}

double calling_time(const std::vector<FunctionOfElement>& runs, const FunctionCosts& functions) {
  std::vector<double> times;
  for (const FunctionOfElement& run : runs) {
    const FunctionEvents& events = *functions.find(run.function_id);
    if (events.end <= run.start) continue;
    times.push_back(std::max(0.0, to_microseconds(events.end - run.start) - events.cpu - events.python));
  }
  if (times.empty()) return 0;
  const auto quartile = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
  std::nth_element(times.begin(), quartile, times.end());
  return *quartile;
}

std::int64_t most_elements_in_work(const std::vector<FunctionOfElement>& runs, const std::vector<TakenElement>& taken) {
  std::unordered_map<std::uint64_t, Picoseconds> end_of;
  for (const TakenElement& element : taken) {
    Picoseconds& end = end_of[element.element_id];
    end = std::max(end, element.end);
  }
  std::vector<std::pair<Picoseconds, int>> changes;
  for (const FunctionOfElement& run : runs) {
    const auto found = end_of.find(run.element_id);
    if (run.element_id == 0 || found == end_of.end()) continue;
    changes.emplace_back(run.start, 1);
    changes.emplace_back(found->second, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t in_work = 0;
  std::int64_t most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, in_work += change);
  return most;
}

std::int64_t usually_at_once(const std::vector<Interval>& times) {
  constexpr double kSeldom = 0.05;  // of the time: a moment of many at once is not how a stage works
  std::vector<std::pair<Picoseconds, int>> changes;
  changes.reserve(2 * times.size());
  for (const Interval& time : times) {
    changes.emplace_back(time.start, 1);
    changes.emplace_back(time.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::map<int, Picoseconds, std::greater<>> time_at;  // by how many go on, the most first
  Picoseconds active = 0;
  int at_once = 0;
  for (std::size_t index = 0; index + 1 < changes.size(); ++index) {
    at_once += changes[index].second;
    const Picoseconds length = changes[index + 1].first - changes[index].first;
    if (at_once > 0) active += length;
    if (at_once > 0 && length > 0) time_at[at_once] += length;
  }
  Picoseconds seen = 0;
  for (const auto& [count, time] : time_at) {
    seen += time;
    if (static_cast<double>(seen) >= kSeldom * static_cast<double>(active)) return count;
  }
  return 0;
}

std::vector<Interval> times_of_runs(const std::vector<FunctionOfElement>& runs, const FunctionCosts& functions) {
  std::vector<Interval> times;
  times.reserve(runs.size());
  for (const FunctionOfElement& run : runs) {
    const Picoseconds end = functions.find(run.function_id)->end;
    if (end > run.start) times.push_back({run.start, end});
  }
  return times;
}

}  // namespace doctor
