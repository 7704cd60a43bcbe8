#include "measure/measurements.h"

#include <algorithm>

#include "text/numbers.h"

namespace doctor {

std::string name_of_files(const HostMeasurement& host) {
  const auto by_path = [](const TraceFile& a, const TraceFile& b) { return a.path < b.path; };
  const auto first = std::min_element(host.files.begin(), host.files.end(), by_path);
  if (first == host.files.end()) return {};
  // Documents go out, and folders are nobody's business.
  const std::string name = first->path.substr(first->path.rfind('/') + 1);
  return host.files.size() == 1 ? name : name + " and " + format_count(host.files.size() - 1, "other file");
}

std::string HostMeasurement::name() const {
  return hosts.empty() ? name_of_files(*this) : hosts.front();
}

bool Measurements::shows_tf_data() const {
  return std::any_of(hosts.begin(), hosts.end(),
                     [](const HostMeasurement& host) { return !host.iterators.empty() || !host.pipelines.empty(); });
}

/// Few pipelines have more: rules ask often for what stands above an iterator, and a vector that grows is slow.
constexpr std::size_t kUsualDepth = 16;

std::vector<IteratorId> HostMeasurement::iterators_above(IteratorId iterator) const {
  std::vector<IteratorId> above;
  above.reserve(kUsualDepth);
  IteratorId parent = iterators[iterator].parent;
  while (parent != kNoIterator && above.size() < iterators.size()) {
    above.push_back(parent);
    parent = iterators[parent].parent;
  }
  return above;
}

std::vector<IteratorId> HostMeasurement::iterators_below(IteratorId iterator) const {
  const std::vector<IteratorId>& children = iterators[iterator].children;
  std::vector<IteratorId> below;
  below.reserve(std::max(children.size(), kUsualDepth));
  below.insert(below.end(), children.begin(), children.end());
  std::vector<bool> is_known(iterators.size());
  for (std::size_t next = 0; next < below.size(); ++next) {
    if (is_known[index_of(below[next])]) continue;
    is_known[index_of(below[next])] = true;
    const std::vector<IteratorId>& inputs = iterators[below[next]].children;
    below.insert(below.end(), inputs.begin(), inputs.end());
  }
  return below;
}

std::optional<double> cpu_utilization(const PipelineMeasurement& pipeline, const PhaseMeasurement& phase) {
  if (!pipeline.cpu_budget || *pipeline.cpu_budget <= 0) return std::nullopt;
  return std::min(1.0, (phase.busy_threads + pipeline.cores_of_others) / static_cast<double>(*pipeline.cpu_budget));
}

}  // namespace doctor
