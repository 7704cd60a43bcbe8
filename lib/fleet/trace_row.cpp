#include "fleet/trace_row.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "compare/run_summary.h"
#include "diagnose/culprit_function.h"
#include "diagnose/diagnose.h"
#include "diagnose/judgement_words.h"
#include "diagnose/user_code.h"
#include "report/selection.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

/// What is in the tree only because of the runtime: its inputs take its place.
bool is_passed_over(const IteratorMeasurement& iterator) {
  return iterator.has(Trait::frame) || iterator.is_injected();
}

std::string signature_of(std::string_view family, std::vector<std::string> inputs) {
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  std::string text = std::string(family) + '(';
  for (const std::string& input : inputs) text += input + ',';
  return fmt::format("{:016x}", fnv1a_64(text + ')'));
}

/// Names the structure of a pipeline, sixteen hexadecimal digits: alike for recordings of the same program. The
/// signature of an iterator is FNV-1a-64 of the text KIND(SIGNATURE,SIGNATURE…) with its inputs' signatures in
/// ascending order, each once; that of the pipeline is made in the same way, without a kind, of its roots.
///
/// What changes though the program does not is left out: versions of kinds ("ParallelMapV2"), whether a step is
/// parallel (a family of kinds is one, see family_of()), the runtime's frames and repeats, Prefetches that TF inserts
/// where the trace marks them, and how many like inputs there are (files of an interleave). A window in which an input
/// made no element shows a smaller tree, and so another signature. Empty if the trace shows no iterator.
std::string signature_of(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const std::vector<IteratorId> members = members_in_tree_order(host, pipeline);
  std::vector<bool> is_member(host.iterators.size(), false);
  for (const IteratorId member : members) is_member[index_of(member)] = true;
  std::vector<std::vector<std::string>> inputs(host.iterators.size());
  std::vector<std::string> roots;
  // From the inputs up: in tree order parents come before them.
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    const IteratorMeasurement& iterator = host.iterators[*member];
    const bool has_parent = iterator.parent != kNoIterator && is_member[index_of(iterator.parent)];
    std::vector<std::string>& above = has_parent ? inputs[index_of(iterator.parent)] : roots;
    std::vector<std::string> own = std::move(inputs[index_of(*member)]);
    if (is_passed_over(iterator)) {
      above.insert(above.end(), own.begin(), own.end());
    } else {
      above.push_back(signature_of(iterator.family(), std::move(own)));
    }
  }
  return roots.empty() ? std::string() : signature_of("", std::move(roots));
}

constexpr std::size_t kOpCount = 3;

/// Without the file, which has a column of its own, and without advice to a person.
std::string reason_of(const std::vector<Error>& unreadable) {
  std::string reason;
  for (const Error& error : unreadable) {
    reason += (reason.empty() ? "" : "; ") + to_string(Error{error.what, {}, error.offset, {}});
  }
  return reason;
}

/// What consumers waited for. While a device works on what was launched before, a wait costs nothing; of the warm-up
/// that is not known.
Picoseconds lost_time(const PipelineMeasurement& pipeline) {
  return pipeline.exposed ? pipeline.warmup.waited + pipeline.exposed->time : pipeline.total;
}

void describe_trace(const Measurements& measurements, TraceRow& row) {
  Picoseconds window = 0;
  Picoseconds lost = 0;
  for (const HostMeasurement& host : measurements.hosts) {
    for (const TraceFile& file : host.files) {
      if (row.format.empty()) row.format = file.format;
    }
    if (row.host.empty() && !host.hosts.empty()) row.host = host.hosts.front();
    const bool is_earlier = row.recorded_ns == 0 || host.recorded_ns < row.recorded_ns;
    if (host.recorded_ns != 0 && is_earlier) row.recorded_ns = host.recorded_ns;
    window = std::max(window, host.window);
    for (const PipelineMeasurement& pipeline : host.pipelines) lost += pipeline.feeds_another ? 0 : lost_time(pipeline);
  }
  row.events = event_count(measurements);
  row.is_complete = total_loss(measurements).complete();
  row.window_us = to_microseconds(window);
  row.input_lost_us = to_microseconds(lost);
}

std::vector<RowOp> top_ops(const PipelineView& view) {
  const CulpritFunction function = view.function();
  std::vector<RowOp> ops;
  for (const FunctionOp& op : function.ops) {
    if (ops.size() == kOpCount) break;
    const double share = function.time > 0 ? static_cast<double>(op.self) / static_cast<double>(function.time) : 0;
    ops.push_back({op.op, to_microseconds(op.self), share});
  }
  return ops;
}

void describe_culprit(const PipelineView& view, TraceRow& row) {
  if (!names_culprit(view.judgement)) return;
  const IteratorMeasurement& culprit = view.culprit();
  row.culprit = culprit.long_name;
  row.culprit_kind = culprit_kind(culprit);
  row.culprit_dataset = culprit.short_name;
  if (const SourceLine* const line = view.host.iterators[view.judgement.culprit].line(); line != nullptr) {
    row.culprit_source =
        line->repository_file.empty() ? to_text(*line) : fmt::format("{}:{}", line->repository_file, line->line);
  }
  if (view.judgement.limit.limit != Limit::unknown) row.limiting_resource = to_word(view.judgement.limit.limit);
  row.function_ops = top_ops(view);
}

void describe_pipeline(const PipelineView& view, TraceRow& row) {
  const PipelineMeasurement& pipeline = view.pipeline;
  row.input_share = input_share_of(view);
  row.signature = signature_of(view.host, pipeline);
  row.get_next_count = pipeline.calls.size();
  if (!pipeline.calls.empty()) {
    row.get_next_p50_us = to_microseconds(pipeline.median);
  }
  if (const DurationHistogram steps = steps_of(pipeline); steps.count() > 0) {
    row.step_p50_us = to_microseconds(steps.quantile(0.5));
  }
  measure_figures(view, row);
  describe_culprit(view, row);
}

void describe_best_fix(const Diagnosis& diagnosis, TraceRow& row) {
  const Gain* best = nullptr;
  for (const Change& change : diagnosis.changes) {
    const Finding& finding = diagnosis.findings[change.finding];
    const std::optional<Gain>& gain = finding.advice[change.advice].gain;
    if (finding.suppressed || !gain) continue;
    best = &*gain;
    row.best_fix = finding.rule;
    break;
  }
  if (best == nullptr) return;
  row.best_gain = best->factor();
  row.best_gain_low = best->low();
  row.best_condition = to_word(best->then.condition);
}

}  // namespace

TraceRow row_of(RowFile file, const Measurements& measurements, const Diagnosis& diagnosis,
                const std::vector<Error>& unreadable) {
  TraceRow row = failed_row(std::move(file), reason_of(unreadable));
  describe_trace(measurements, row);
  if (unreadable.size() >= measurements.hosts.size()) return row;
  row.error.clear();  // files of the trace that could be read have a diagnosis; `complete` says that some could not
  row.verdict = to_word(diagnosis.judgement.status);
  row.confidence = diagnosis.judgement.confidence;
  const std::vector<PipelineView> views = pipelines_of(measurements, diagnosis.judgement);
  if (!views.empty()) describe_pipeline(views.front(), row);
  for (const Finding& finding : diagnosis.findings) {
    if (finding.suppressed) continue;
    row.findings.push_back({finding.rule, std::string(to_word(finding.severity)), finding.subject});
  }
  describe_best_fix(diagnosis, row);
  return row;
}

TraceRow failed_row(RowFile file, std::string error) {
  TraceRow row;
  row.file = std::move(file);
  row.tool_version = DOCTOR_VERSION;
  row.sandbox = sandbox_word();
  row.is_complete = false;
  row.error = std::move(error);
  return row;
}

}  // namespace doctor
