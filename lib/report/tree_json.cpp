#include "report/json_values.h"
#include "report/report.h"

namespace doctor {

std::string render_tree_json(const Measurements& measurements, const Diagnosis& diagnosis) {
  OrderedJson pipelines = OrderedJson::array();
  for (const PipelineView& view : pipelines_of(measurements, diagnosis.judgement)) {
    pipelines.push_back(pipeline_json(view));
  }
  OrderedJson others = OrderedJson::array();
  for (const HostMeasurement& host : measurements.hosts) {
    OrderedJson iterators = OrderedJson::array();
    for (const IteratorId iterator : other_iterators(host)) {
      iterators.push_back(iterator_json(host, iterator, 0));
    }
    if (!iterators.empty()) others.push_back({{"host", host_name(host)}, {"iterators", std::move(iterators)}});
  }
  OrderedJson page = {{"schema", "tfdata-doctor.tree/1"}, {"tool", tool_json()}};
  page["pipelines"] = std::move(pipelines);
  page["other_iterators"] = std::move(others);
  return to_text(page);
}

}  // namespace doctor
