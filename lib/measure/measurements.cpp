#include "measure/measurements.h"

#include <fmt/format.h>

#include "text/numbers.h"

namespace doctor {
namespace {

/// Whether elements above `iterator` are made ahead of the consumer, or kept from an earlier epoch.
bool is_read_in_advance(const HostMeasurement& host, const IteratorMeasurement& iterator) {
  std::size_t steps = host.iterators.size();  // a file may hold a cycle
  for (IteratorId above = iterator.parent; above != kNoIterator && steps > 0; --steps) {
    const IteratorMeasurement& ancestor = host.iterators[above];
    if (ancestor.is_async || ancestor.has(Trait::cache)) return true;
    above = ancestor.parent;
  }
  return false;
}

}  // namespace

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

InputWork work_of(const HostMeasurement& host, const IteratorMeasurement& iterator) {
  const DatasetKind& kind = iterator.kind();
  if (iterator.is_device_hop || kind.has(Trait::multi_device)) return InputWork::enqueue;
  if (kind.reads_files()) {
    return is_read_in_advance(host, iterator) ? InputWork::read_in_advance : InputWork::read_on_demand;
  }
  if (iterator.is_source || kind.has(Trait::prefetch | Trait::frame)) return InputWork::other;
  return InputWork::preprocessing;
}

std::string UserCall::method() const {
  return fmt::format("{}", fmt::join(methods, "."));
}

std::string UserCall::name() const {
  std::string joined;
  for (const std::string& name : names) {
    if (!name.empty()) joined += (joined.empty() ? "" : ", ") + name;
  }
  return joined;
}

bool IteratorMeasurement::is_of_call_of(const IteratorMeasurement& other) const {
  if (maker.empty() || other.maker != maker) return false;
  if (line() == nullptr || other.line() == nullptr) return true;
  return line()->file == other.line()->file && line()->line == other.line()->line;
}

const AttributeValue* IteratorMeasurement::find(std::string_view attribute) const {
  for (const AttributeValue& value : attributes) {
    if (value.name == attribute) return &value;
  }
  return nullptr;
}

std::optional<std::int64_t> IteratorMeasurement::number(std::string_view attribute) const {
  const AttributeValue* const value = find(attribute);
  return value == nullptr ? std::nullopt : value->number;
}

std::string_view IteratorMeasurement::text(std::string_view attribute) const {
  const AttributeValue* const value = find(attribute);
  return value == nullptr ? std::string_view() : std::string_view(value->text);
}

std::optional<bool> is_autotuned(const IteratorMeasurement& iterator) {
  const std::string_view value = iterator.text("autotune");
  if (value == "true") return true;
  if (value == "false") return false;
  return std::nullopt;
}

}  // namespace doctor
