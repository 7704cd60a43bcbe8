// An input-bound case, and its report as text and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/page.h"
#include "report/report.h"
#include "report/selection.h"
#include "text/text_page.h"

namespace doctor::report_test {

using Json = nlohmann::json;

constexpr Picoseconds kMs = kPicosecondsPerMillisecond;

inline IteratorMeasurement iterator(const std::string& long_name, const std::string& short_name, std::uint32_t depth,
                                    IteratorId parent) {
  IteratorMeasurement made;
  made.long_name = long_name;
  made.short_name = short_name;
  made.depth = depth;
  made.parent = parent;
  made.root = IteratorId{0};
  made.calls = 8;
  made.total = 100 * kMs;
  made.self = 10 * kMs;
  return made;
}

/// Root > Zip > {Map, Range}: eight calls of 100 ms, of which Map holds 95% in its function.
inline HostMeasurement host_with_pipeline() {
  HostMeasurement host;
  host.files = {{"host.xplane.pb", "xspace", 1234}};
  host.hosts = {"worker-0"};
  host.event_count = 100;
  host.iterator_event_count = 40;
  host.window = 900 * kMs;
  host.iterators = {iterator("Iterator::Root", "Root", 0, kNoIterator),
                    iterator("Iterator::Root::Zip[1]::Range", "Range", 2, IteratorId{3}),
                    iterator("Iterator::Root::Zip[0]::Map", "Map", 2, IteratorId{3}),
                    iterator("Iterator::Root::Zip", "Zip", 1, IteratorId{0})};
  host.iterators[0].children = {IteratorId{3}};
  host.iterators[3].children = {IteratorId{2}, IteratorId{1}};
  host.iterators[1].is_source = true;
  host.iterators[2].id = 0xffff'ffff'ffff'fff1u;
  host.iterators[2].parent_id = 7;
  host.iterators[2].dataset_name = "MapDataset:3";
  host.iterators[2].attributes = {{"deterministic", std::nullopt, "true"}, {"parallelism", 1, ""}};

  PipelineMeasurement pipeline;
  pipeline.root = IteratorId{0};
  pipeline.members = {IteratorId{0}, IteratorId{1}, IteratorId{2}, IteratorId{3}};
  for (Picoseconds call = 0; call < 8; ++call)
    pipeline.calls.push_back({call * 110 * kMs, call * 110 * kMs + 100 * kMs});
  pipeline.total = 800 * kMs;
  pipeline.median = 100 * kMs;
  pipeline.p95 = 100 * kMs;
  pipeline.max = 100 * kMs;
  pipeline.slow_count = 8;
  pipeline.trimmed_mean = 100 * kMs;
  pipeline.has_cadence = true;
  pipeline.cadence.share = 0.9;
  pipeline.trimmed_cadence.share = 0.91;
  pipeline.cpu_budget = 2;
  pipeline.steady.call_count = 8;
  pipeline.steady.waited = 800 * kMs;
  pipeline.steady.critical = {8 * kMs, 0, 760 * kMs, 12 * kMs};
  pipeline.steady.in_function = {0, 0, 750 * kMs, 0};
  pipeline.steady.handoff = 15 * kMs;
  pipeline.steady.unseen = 5 * kMs;
  pipeline.steady.culprit = IteratorId{2};
  pipeline.steady.function_ops = {{"MatMul", 600 * kMs}, {"ParseExample", 150 * kMs}};
  pipeline.steady.busy_threads = 1.7;
  pipeline.steady.queued_closures = 2.5;
  host.pipelines = {pipeline};
  return host;
}

struct Case {
  Measurements measurements;
  Diagnosis diagnosis;
};

inline Case input_bound_case() {
  Case made;
  made.measurements.hosts = {host_with_pipeline()};
  made.diagnosis.judgement.status = VerdictStatus::input_bound;
  made.diagnosis.judgement.confidence = 0.8;
  PipelineJudgement judged;
  judged.level = InputLevel::bound;
  judged.input_share = 0.9;
  judged.culprit = IteratorId{2};
  judged.culprit_share = 0.95;
  judged.limit.limit = Limit::cores;
  judged.limit.count = 2;
  made.diagnosis.judgement.pipelines = {judged};
  Finding sequential;
  sequential.rule = "sequential-map";
  sequential.subject = "Iterator::Root::Zip[0]::Map";
  sequential.message = "Dataset.map runs one call at a time";
  sequential.evidence = {{"function time", 750.0, "ms"}, {"share of the wait", 0.95, "share"}};
  sequential.advice = {{"Run it in parallel", ".map(f, num_parallel_calls=tf.data.AUTOTUNE)"}};
  Finding note;
  note.rule = "shuffle-fill";
  note.severity = Severity::note;
  note.message = "the buffer is filled once";
  made.diagnosis.findings = {sequential, note};
  made.diagnosis.changes = {{0, 0, {}, {}}};
  made.diagnosis.not_evaluated = {{"low-parallelism", "no queue delay"}};
  return made;
}

inline std::string text_of(const Case& shown, const TextStyle& style = {}) {
  return render_text(shown.measurements, shown.diagnosis, style);
}

inline Json json_of(const Case& shown) {
  return Json::parse(render_json(shown.measurements, shown.diagnosis));
}

inline bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace doctor::report_test
