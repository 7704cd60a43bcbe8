#include "measure/waits/call_details.h"

#include "measure/waits/path_walker.h"

namespace doctor {
namespace {

/// A call that is wanted.
struct WantedCall {
  std::size_t root_call = 0;  ///< index into forest.root_calls
  std::size_t pipeline = 0;   ///< index into HostMeasurement::pipelines
  std::size_t number = 0;     ///< within the pipeline, from 1
};

bool is_wanted(const PipelineMeasurement& pipeline, const CallDetailRequest& request) {
  return request.root ? pipeline.root == *request.root : !pipeline.feeds_another;
}

/// Visits the calls of the pipelines that are wanted, in order of time; with a number in the request only those of that
/// number.
template <typename Visit>
void visit_wanted(const IteratorForest& forest, const CallDetailRequest& request, const HostMeasurement& host,
                  const Visit& visit) {
  std::map<IteratorId, std::size_t> pipelines;
  for (std::size_t index = 0; index < host.pipelines.size(); ++index) {
    if (is_wanted(host.pipelines[index], request)) pipelines[host.pipelines[index].root] = index;
  }
  std::vector<std::size_t> counts(host.pipelines.size(), 0);
  for (std::size_t index = 0; index < forest.root_calls.size(); ++index) {
    const auto pipeline = pipelines.find(forest.root_calls[index].root);
    if (pipeline == pipelines.end()) continue;
    const std::size_t number = ++counts[pipeline->second];
    if (request.number && *request.number != number) continue;
    visit(WantedCall{index, pipeline->second, number});
  }
}

/// Leaves the longest of the slow calls; the earlier one of two that are equally long.
void keep_longest(const IteratorForest& forest, std::vector<WantedCall>& calls, std::size_t count) {
  const auto latency = [&](const WantedCall& call) {
    const Interval span = forest.root_calls[call.root_call].span;
    return span.end - span.start;
  };
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const WantedCall& a, const WantedCall& b) { return latency(a) > latency(b); });
  const auto is_slow = [&](const WantedCall& call) { return latency(call) > kSlowCall; };
  const auto slow_end = std::find_if_not(calls.begin(), calls.end(), is_slow);
  const auto slow = static_cast<std::size_t>(slow_end - calls.begin());
  calls.resize(std::min({std::max<std::size_t>(slow, 1), count, calls.size()}));
  std::sort(calls.begin(), calls.end(),
            [](const WantedCall& a, const WantedCall& b) { return a.root_call < b.root_call; });
}

}  // namespace

void measure_call_details(const IteratorForest& forest, const CriticalPath& path, const CallDetailRequest& request,
                          HostMeasurement& host) {
  CriticalPath::Walker walker(path);
  const auto keep = [&](const WantedCall& wanted) {
    const RootCall& call = forest.root_calls[wanted.root_call];
    const std::span<const Segment> segments = walker.attribute(call);
    CallDetail detail;
    detail.number = wanted.number;
    detail.span = call.span;
    detail.lane = call.lane;
    detail.segments.assign(segments.begin(), segments.end());
    host.pipelines[wanted.pipeline].call_details.push_back(std::move(detail));
  };
  if (request.longest && !request.number) {
    std::vector<WantedCall> calls;
    visit_wanted(forest, request, host, [&](const WantedCall& call) { calls.push_back(call); });
    keep_longest(forest, calls, *request.longest);
    std::for_each(calls.begin(), calls.end(), keep);
    return;
  }
  for (PipelineMeasurement& pipeline : host.pipelines) {
    if (!request.number && is_wanted(pipeline, request)) pipeline.call_details.reserve(pipeline.calls.size());
  }
  visit_wanted(forest, request, host, keep);
}

}  // namespace doctor
