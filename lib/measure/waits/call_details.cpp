#include "measure/measure_passes.h"

namespace doctor {
namespace {

/// A call that is wanted.
struct WantedCall {
  const RootCall* call = nullptr;  ///< of forest.root_calls
  PipelineMeasurement* pipeline = nullptr;
  std::size_t number = 0;  ///< within the pipeline, from 1

  Picoseconds latency() const { return call->span.end - call->span.start; }
};

/// Leaves the longest of the slow calls; the earlier one of two that are equally long.
void keep_longest(std::vector<WantedCall>& calls, std::size_t count) {
  std::stable_sort(calls.begin(), calls.end(),
                   [](const WantedCall& a, const WantedCall& b) { return a.latency() > b.latency(); });
  const auto slow_end =
      std::ranges::find_if_not(calls, [](const WantedCall& call) { return call.latency() > kSlowCall; });
  const auto slow = static_cast<std::size_t>(slow_end - calls.begin());
  calls.resize(std::min({std::max<std::size_t>(slow, 1), count, calls.size()}));
  std::sort(calls.begin(), calls.end(), [](const WantedCall& a, const WantedCall& b) { return a.call < b.call; });
}

}  // namespace

bool is_requested(const PipelineMeasurement& pipeline, const CallRequest& request) {
  return request.root ? pipeline.root == *request.root : !pipeline.feeds_another;
}

void measure_call_details(const IteratorForest& forest, const CriticalPath& path, const CallRequest& request,
                          HostMeasurement& host) {
  std::map<IteratorId, WantedCall> last_calls;  // by root
  for (PipelineMeasurement& pipeline : host.pipelines) {
    if (is_requested(pipeline, request)) last_calls[pipeline.root].pipeline = &pipeline;
  }
  std::vector<WantedCall> calls;
  for (const RootCall& call : forest.root_calls) {
    const auto last = last_calls.find(call.root);
    if (last == last_calls.end()) continue;
    last->second.call = &call;
    ++last->second.number;
    if (!request.number || *request.number == last->second.number) calls.push_back(last->second);
  }
  if (request.longest && !request.number) keep_longest(calls, *request.longest);
  CriticalPath::Walker walker(path);
  for (const auto& [call, pipeline, number] : calls) {
    const std::span<const Segment> segments = walker.attribute(*call);
    pipeline->call_details.push_back({number, call->span, call->lane, {segments.begin(), segments.end()}});
  }
}

}  // namespace doctor
