#include "compare/baseline.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/hash.h"
#include "diagnose/judgement_words.h"
#include "text/document_keys.h"

namespace doctor {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string dump(const OrderedJson& json) {
  return json.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

OrderedJson index_json(std::size_t index) {
  return index == kNoIndex ? OrderedJson(nullptr) : OrderedJson(index);
}

OrderedJson durations_json(const DurationStatistics& durations) {
  return {{key::count, durations.count},      {key::total_ps, durations.total}, {key::p25_ps, durations.p25},
          {key::median_ps, durations.median}, {key::p90_ps, durations.p90},     {key::p99_ps, durations.p99},
          {key::tail_ps, durations.tail}};
}

OrderedJson per_run_json(const CallsPerRun& calls) {
  return {{key::runs, calls.runs}, {key::low, calls.low}, {key::high, calls.high}, {key::total, calls.total}};
}

OrderedJson source_json(const SourceLine& source) {
  return {{key::file, source.file},
          {key::line, source.line},
          {key::code, source.code},
          {key::repository_file, source.repository_file}};
}

/// Only what is known.
OrderedJson facts_json(const RecordingFacts& facts) {
  OrderedJson json = OrderedJson::object();
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = text;
  };
  add(key::host, facts.host);
  add(key::cpu, facts.cpu);
  if (facts.cores > 0) json[key::cores] = facts.cores;
  add(key::tensorflow, facts.tensorflow);
  add(key::process, facts.process);
  if (facts.recorded_ns != 0) json[key::recorded_ns] = facts.recorded_ns;
  const OtherLoad& load = facts.other_load;
  if (load.before) json[key::other_load_before] = *load.before;
  if (load.during) json[key::other_load_during] = *load.during;
  if (load.after) json[key::other_load_after] = *load.after;
  return json;
}

/// What a document says: what every version has had, which identifies a run, or all.
enum class Extent { identity, all };

OrderedJson iterator_json(const IteratorSummary& iterator, Extent extent) {
  OrderedJson settings = OrderedJson::object();
  for (const SettingSummary& setting : iterator.settings) settings[setting.name] = {setting.low, setting.high};
  OrderedJson ops = OrderedJson::array();
  for (const OpSummary& op : iterator.function_ops) {
    OrderedJson row = {{key::op, op.op}};
    row.update(durations_json(op.durations));
    if (extent == Extent::all && op.per_run.runs > 0) row[key::per_run] = per_run_json(op.per_run);
    ops.push_back(std::move(row));
  }
  OrderedJson json = {{key::long_name, iterator.long_name},
                      {key::kind, iterator.kind},
                      {key::words, iterator.words},
                      {key::parent, index_json(iterator.parent)},
                      {key::autotuned, iterator.is_autotuned},
                      {key::settings, std::move(settings)},
                      {key::calls, iterator.calls},
                      {key::self, durations_json(iterator.self)},
                      {key::function_ops, std::move(ops)}};
  // Where there are none, as in the baselines of earlier versions, the identifier of a run stays what it was.
  if (!iterator.user_name.empty()) json[key::user_name] = iterator.user_name;
  if (iterator.source) json[key::source] = source_json(*iterator.source);
  if (extent == Extent::all && iterator.is_parallelised_by_tf) json[key::parallelised_by_tf] = true;
  if (extent == Extent::all && iterator.element_bytes) json[key::element_bytes] = *iterator.element_bytes;
  return json;
}

OrderedJson pipeline_json(const PipelineSummary& pipeline) {
  return {{key::root, index_json(pipeline.root)},
          {key::device, pipeline.is_device},
          {key::feeds_another, pipeline.feeds_another},
          {key::input_share, pipeline.input_share},
          {key::get_next, durations_json(pipeline.get_next)},
          {key::step, durations_json(pipeline.step)}};
}

/// All that was measured.
OrderedJson measured_json(const RunSummary& summary, Extent extent) {
  OrderedJson iterators = OrderedJson::array();
  for (const IteratorSummary& iterator : summary.iterators) iterators.push_back(iterator_json(iterator, extent));
  OrderedJson pipelines = OrderedJson::array();
  for (const PipelineSummary& pipeline : summary.pipelines) pipelines.push_back(pipeline_json(pipeline));
  OrderedJson findings = OrderedJson::array();
  for (const FindingSummary& finding : summary.findings) {
    findings.push_back({{key::rule, finding.rule},
                        {key::severity, to_word(finding.severity)},
                        {key::subject, finding.subject},
                        {key::depends_on_load, finding.depends_on_load}});
  }
  OrderedJson json = {{key::status, to_word(summary.status)},
                      {key::confidence, summary.confidence},
                      {key::complete, summary.is_complete}};
  // Written only where it is true, so that whole recordings keep the identifiers that they had before there was a word
  // for it.
  if (summary.is_torn) json[key::torn] = true;
  json[key::iterators] = std::move(iterators);
  json[key::pipelines] = std::move(pipelines);
  json[key::findings] = std::move(findings);
  return json;
}

}  // namespace

std::string identifier_of(const RunSummary& summary) {
  return fmt::format("{:016x}", fnv1a_64(dump(measured_json(summary, Extent::identity))));
}

std::string to_json(const StoredRun& run) {
  OrderedJson json = {{key::id, run.id},
                      {key::label, run.label},
                      {key::source, run.summary.source},
                      {key::tool_version, run.summary.tool_version}};
  if (run.summary.recording != RecordingFacts()) json[key::recording] = facts_json(run.summary.recording);
  json.update(measured_json(run.summary, Extent::all));
  return dump(json);
}

std::string to_baseline_json(const std::vector<StoredRun>& runs) {
  std::string json = fmt::format("{{\"schema\":\"{}\",\"runs\":[\n", kBaselineSchema);
  for (const StoredRun& run : runs) json += to_json(run) + (&run == &runs.back() ? "\n" : ",\n");
  return json + "]}\n";
}

}  // namespace doctor
