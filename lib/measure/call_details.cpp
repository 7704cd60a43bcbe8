#include "measure/call_details.h"

#include <algorithm>
#include <map>

#include "measure/measurements.h"
#include "measure/path_walker.h"

namespace doctor {
namespace {

/// A call that may be wanted.
struct Candidate {
  std::size_t root_call = 0;  ///< index into forest.root_calls
  std::size_t pipeline = 0;   ///< index into HostMeasurement::pipelines
  std::size_t number = 0;     ///< within the pipeline, from 1
  Picoseconds latency = 0;
};

bool is_wanted(const PipelineMeasurement& pipeline, const CallDetailRequest& request) {
  return request.root ? pipeline.root == *request.root : !pipeline.feeds_another;
}

/// The calls of the pipelines that are wanted, in order of time; with a number in the request only those of that
/// number.
std::vector<Candidate> find_candidates(const IteratorForest& forest, const CallDetailRequest& request,
                                       const HostMeasurement& host) {
  std::map<IteratorId, std::size_t> pipelines;
  for (std::size_t index = 0; index < host.pipelines.size(); ++index) {
    if (is_wanted(host.pipelines[index], request)) pipelines[host.pipelines[index].root] = index;
  }
  std::vector<std::size_t> counts(host.pipelines.size(), 0);
  std::vector<Candidate> candidates;
  for (std::size_t index = 0; index < forest.root_calls.size(); ++index) {
    const RootCall& call = forest.root_calls[index];
    const auto pipeline = pipelines.find(call.root);
    if (pipeline == pipelines.end()) continue;
    const std::size_t number = ++counts[pipeline->second];
    if (request.number && *request.number != number) continue;
    candidates.push_back({index, pipeline->second, number, call.span.end - call.span.start});
  }
  return candidates;
}

/// Leaves the longest of the slow calls; the earlier one of two that are equally long.
void keep_longest(std::vector<Candidate>& candidates, std::size_t count) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.latency > b.latency; });
  const auto is_slow = [](const Candidate& call) { return call.latency > kSlowCall; };
  const auto slow_end = std::find_if_not(candidates.begin(), candidates.end(), is_slow);
  const auto slow = static_cast<std::size_t>(slow_end - candidates.begin());
  candidates.resize(std::min({std::max<std::size_t>(slow, 1), count, candidates.size()}));
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.root_call < b.root_call; });
}

}  // namespace

void measure_call_details(const IteratorForest& forest, const CriticalPath& path, const CallDetailRequest& request,
                          HostMeasurement& host) {
  std::vector<Candidate> calls = find_candidates(forest, request, host);
  if (request.longest && !request.number) keep_longest(calls, *request.longest);
  CriticalPath::Walker walker(path);
  for (const Candidate& candidate : calls) {
    const RootCall& call = forest.root_calls[candidate.root_call];
    const std::span<const Segment> segments = walker.attribute(call);
    CallDetail detail;
    detail.number = candidate.number;
    detail.span = call.span;
    detail.lane = call.lane;
    detail.segments.assign(segments.begin(), segments.end());
    host.pipelines[candidate.pipeline].call_details.push_back(std::move(detail));
  }
}

}  // namespace doctor
