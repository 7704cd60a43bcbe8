#include "compare/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/duration_histogram.h"
#include "diagnose/element_buffers.h"
#include "diagnose/user_code.h"
#include "trace/torn.h"

namespace doctor {
namespace {

/// Attributes that hold a choice. All others are measurements, or differ from run to run.
constexpr std::array<std::string_view, 7> kSettings = {
    "batch_size", "block_length", "buffer_limit", "buffer_size", "cycle_length", "max_batch_results", "parallelism"};

std::vector<SettingSummary> settings_of(const IteratorMeasurement& iterator) {
  std::vector<SettingSummary> settings;
  for (const AttributeValue& attribute : iterator.attributes) {
    if (attribute.range.is_known()) settings.push_back({attribute.name, attribute.range.low, attribute.range.high});
  }
  return settings;
}

/// Writes the iterators of one host after those that are there already.
class HostSummary {
 public:
  HostSummary(const HostMeasurement& host, RunSummary& run)
      : host_(host), run_(run), index_of_iterator_(host.iterators.size(), kNoIndex) {}

  void add() {
    std::vector<IteratorId> roots;
    for (std::size_t index = 0; index < host_.iterators.size(); ++index) {
      if (host_.iterators[index].parent == kNoIterator) roots.push_back(static_cast<IteratorId>(index));
    }
    add_iterators(roots, kNoIndex);
    for (const PipelineMeasurement& pipeline : host_.pipelines) add_pipeline(pipeline);
  }

 private:
  /// In order of name: the order in which they appear in a trace is chance.
  void add_iterators(std::vector<IteratorId> iterators, std::size_t parent) {
    std::stable_sort(iterators.begin(), iterators.end(), [&](IteratorId a, IteratorId b) {
      return host_.iterators[a].long_name < host_.iterators[b].long_name;
    });
    for (const IteratorId id : iterators) {
      std::size_t& index = index_of_iterator_[index_of(id)];
      if (index != kNoIndex) continue;  // parent ids in a circle
      index = run_.iterators.size();
      run_.iterators.push_back(summarize(id, parent));
      add_iterators(host_.iterators[id].children, index_of_iterator_[index_of(id)]);
    }
  }

  IteratorSummary summarize(IteratorId id, std::size_t parent) const {
    const IteratorMeasurement& iterator = host_.iterators[id];
    IteratorSummary summary;
    summary.long_name = iterator.long_name;
    summary.kind = iterator.kind_name();
    summary.words = describe(iterator);
    summary.user_name = host_.iterators[id].user_call.name();
    if (const SourceLine* const line = host_.iterators[id].line(); line != nullptr) summary.source = *line;
    summary.parent = parent;
    summary.is_autotuned = iterator.text("autotune") == "true";
    summary.is_parallelised_by_tf = iterator.user_call.is_parallelised_by_tf;
    summary.settings = settings_of(iterator);
    summary.calls = iterator.calls;
    summary.element_bytes = bytes_by_shapes(host_, id);
    if (!host_.call_times) return summary;
    summary.self = host_.call_times->self[index_of(id)];
    for (const FunctionOpTimes& op : host_.call_times->function_ops) {
      if (op.iterator == id) summary.function_ops.push_back({op.op, op.durations, op.per_run});
    }
    return summary;
  }

  void add_pipeline(const PipelineMeasurement& pipeline) {
    PipelineSummary summary;
    if (pipeline.root != kNoIterator) summary.root = index_of_iterator_[index_of(pipeline.root)];
    summary.is_device = pipeline.is_device;
    summary.feeds_another = pipeline.feeds_another;
    summary.input_share = pipeline.input_share();
    DurationHistogram get_next;
    for (std::size_t index = pipeline.warmup_count; index < pipeline.calls.size(); ++index) {
      get_next.add(pipeline.calls[index].end - pipeline.calls[index].start);
    }
    summary.get_next = statistics_of(get_next);
    summary.step = statistics_of(steps_of(pipeline));
    run_.pipelines.push_back(summary);
  }

  const HostMeasurement& host_;
  RunSummary& run_;
  std::vector<std::size_t> index_of_iterator_;  ///< indexed by IteratorId: index into run_.iterators
};

/// Hosts in order of name, for the order of files is arbitrary; those that cannot be distinguished stay as they were
/// given.
std::vector<const HostMeasurement*> sorted_hosts(const Measurements& measurements) {
  std::vector<const HostMeasurement*> hosts;
  for (const HostMeasurement& host : measurements.hosts) hosts.push_back(&host);
  std::stable_sort(hosts.begin(), hosts.end(),
                   [](const HostMeasurement* a, const HostMeasurement* b) { return a->name() < b->name(); });
  return hosts;
}

/// What the traces themselves say.
RecordingFacts facts_of(const std::vector<const HostMeasurement*>& hosts) {
  RecordingFacts facts;
  for (const HostMeasurement* const host : hosts) {
    for (const std::string& name : host->hosts) facts.host += (facts.host.empty() ? "" : ", ") + name;
    const bool is_earlier = facts.recorded_ns == 0 || host->recorded_ns < facts.recorded_ns;
    if (host->recorded_ns != 0 && is_earlier) facts.recorded_ns = host->recorded_ns;
    if (facts.process.empty() && host->caller_thread != 0) facts.process = fmt::format("{:x}", host->caller_thread);
    for (const PipelineMeasurement& pipeline : host->pipelines) {
      if (pipeline.cpu_budget > 0)
        facts.cores = std::max(facts.cores, static_cast<std::uint64_t>(*pipeline.cpu_budget));
    }
  }
  return facts;
}

}  // namespace

TraceNeeds summary_needs() {
  return {.ranges_of = kSettings, .element_types = true, .call_times = true};
}

DurationHistogram steps_of(const PipelineMeasurement& pipeline) {
  DurationHistogram steps;
  const std::vector<std::size_t>& anew = pipeline.iteration_starts;
  auto next = anew.begin();
  for (std::size_t index = pipeline.warmup_count + 1; index < pipeline.calls.size(); ++index) {
    next = std::find_if(next, anew.end(), [&](std::size_t start) { return start >= index; });
    if (next != anew.end() && *next == index) continue;
    steps.add(pipeline.calls[index].start - pipeline.calls[index - 1].start);
  }
  return steps;
}

void add_recording_facts(const RecordingFacts& facts, RunSummary& run) {
  RecordingFacts& known = run.recording;
  if (known.host.empty()) known.host = facts.host;
  if (known.cores == 0) known.cores = facts.cores;
  // A process may call its pipeline from several threads: what it wrote itself is surer.
  if (!facts.process.empty()) known.process = facts.process;
  known.cpu = facts.cpu;
  known.tensorflow = facts.tensorflow;
  known.other_load = facts.other_load;
}

RunSummary summarize_run(std::string source, const Measurements& measurements, const Diagnosis& diagnosis) {
  RunSummary run;
  run.source = std::move(source);
  run.tool_version = DOCTOR_VERSION;
  run.status = diagnosis.judgement.status;
  run.confidence = diagnosis.judgement.confidence;
  const std::vector<const HostMeasurement*> hosts = sorted_hosts(measurements);
  run.recording = facts_of(hosts);
  for (const HostMeasurement* const host : hosts) {
    run.is_complete = run.is_complete && host->loss.complete();
    run.is_torn = run.is_torn || is_torn(host->loss);
    HostSummary(*host, run).add();
  }
  std::stable_sort(run.pipelines.begin(), run.pipelines.end(),
                   [](const PipelineSummary& a, const PipelineSummary& b) { return a.root < b.root; });
  for (const Finding& finding : diagnosis.findings) {
    if (!finding.suppressed) {
      run.findings.push_back({finding.rule, finding.severity, finding.subject, finding.depends_on_load});
    }
  }
  const auto key = [](const FindingSummary& finding) { return std::tie(finding.rule, finding.subject); };
  std::sort(run.findings.begin(), run.findings.end(),
            [&](const FindingSummary& a, const FindingSummary& b) { return key(a) < key(b); });
  return run;
}

}  // namespace doctor
