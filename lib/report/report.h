#pragma once

#include "diagnose/answer.h"
#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "report/selection.h"
#include "text/json_page.h"
#include "text/text_page.h"
#include "trace/annotations.h"
#include "trace/trace_needs.h"

namespace doctor {

// Renderers: plain values in, a page out. None can fail; the same values give the same bytes.

/// The report as a person reads it: verdict, culprit, change to make, evidence, cautions, what was lost.
std::string render_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// The report as `tfdata-doctor.report/2`. Strings of the trace are escaped to ASCII; bytes that are
/// not UTF-8 become U+FFFD.
std::string render_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// The same as values, for what is drawn from them.
OrderedJson report_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// The numbers of the report as metrics in Prometheus' text format, to be scraped or stored. Times are seconds, shares
/// 0 to 1; what the trace does not show is left out.
std::string render_prometheus(const Measurements& measurements, const Diagnosis& diagnosis);

/// Rows about budgets: those that are exceeded or could not be evaluated, with Detail::full all.
void add_budgets(const Measurements& measurements, const Diagnosis& diagnosis, Detail detail, TextPage& page);

/// One row about suppressed findings, with Detail::full one for each; none if there are none.
void add_suppressed(const Diagnosis& diagnosis, Detail detail, TextPage& page);

/// "max_input_share in pipeline 0:1 is exceeded: 98.7%, at most 10%". Holds foreign text.
std::string describe_budget(const Measurements& measurements, const Judgement& judgement, const BudgetResult& result);

/// Why a budget was not evaluated, as a clause; empty where it was. Holds foreign text.
std::string why_not_evaluated(const BudgetResult& result, const Measurements& measurements);

/// Rows about what to change: the action and its rule, code, and what it brings. At most `most` fixes; the others are
/// counted.
void add_fixes(const Answer& answer, const Diagnosis& diagnosis, std::size_t most, Detail detail, TextPage& page);

/// An advice in rows: what to do, its code, and what it brings or why that is not known.
void add_advice(const Advice& advice, TextPage& page);

/// What the device that ran most kernels did: those of a host do the same work.
void add_devices(const Measurements& measurements, TextPage& page);

/// The hosts beside each other, slowest first: on a screen in one row, else one each.
void add_hosts(const HostComparison& comparison, const std::vector<PipelineView>& pipelines, Detail detail,
               TextPage& page);

/// A row that says which host the report is about, where the user chose one of several.
void add_left_out(const Measurements& measurements, TextPage& page);

/// The pipelines after the first one, which the report is about, and why it is.
void add_other_pipelines(const std::vector<PipelineView>& pipelines, const HostComparison& comparison,
                         bool has_many_hosts, TextPage& page);

// Clauses about one pipeline for pages that a person reads. They hold foreign text: escape them for the sink.

/// "30 calls, the first 1 set aside as warm-up, median 94 us, max 2.57 ms".
std::string describe_calls(const PipelineMeasurement& pipeline);

/// "Root > ForeverRepeat > BatchV2 > [Map] > FlatMap > TFRecord": from the root by way of the judged iterator, which is
/// in brackets with its parallelism, to the input that it waited for most. Long ways lose their middle.
std::string describe_place(const PipelineView& view);

/// "src/input.py:33: dataset = dataset.map(parse)".
std::string describe_line(const SourceLine& line);

/// "753.7 ms of 758.4 ms in your function: MatMul 557.4 ms, ParseExample 3.7 ms; no op of it ran for 190.2 ms: its
/// calls waited for a thread, meanwhile DecodeJpeg of Dataset.map below it ran, for 117.1 ms"; empty if no function was
/// seen.
std::string describe_function(const PipelineView& view);

/// "device pipeline 0:3 gets its elements from host pipeline 0:1"; empty if it is fed by none.
std::string describe_feeding(const PipelineView& view);

/// "1.20 s waited in all (12% of the window)".
std::string describe_cost(const PipelineView& view);

/// "1.7 of 2 busy during the waits (estimate): the cores are the limit, parallelism may gain little"; empty if the
/// budget is unknown.
std::string describe_cores(const PipelineView& view);

// `convert --annotate`: the diagnosis as tracks beside the recorded events.

/// What annotations_of() needs of the traces.
TraceNeeds annotation_needs();

/// The tracks of each host with calls of a consumer: when the job waits and runs, its steps, the calls of each
/// pipeline, stalls, findings, and for each stage when a call waits for it. Bounded; what was left out is in the names
/// of tracks.
std::vector<AnnotationGroup> annotations_of(const Measurements& measurements, const Diagnosis& diagnosis);

/// The JSON Schema of a document that the tool writes: a file of docs/schemas.
struct DocumentSchema {
  std::string_view name;  ///< "report" of "tfdata-doctor.report/2"
  std::string_view text;
};

/// All of them, sorted by name. Of several versions of a document the newest comes last.
std::span<const DocumentSchema> document_schemas();

}  // namespace doctor
