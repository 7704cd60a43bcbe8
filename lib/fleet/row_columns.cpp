#include "fleet/row_columns.h"

#include <fmt/format.h>

#include "diagnose/judgement_words.h"
#include "fleet/trace_row.h"

namespace doctor {
namespace {

/// "`error`, `warning` or `note`".
std::string list_of(const std::vector<std::string_view>& words) {
  std::string list;
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string_view separator = index == 0 ? "" : index + 1 == words.size() ? " or " : ", ";
    list += fmt::format("{}`{}`", separator, words[index]);
  }
  return list;
}

std::vector<RowColumn> with_words(std::vector<RowColumn> columns) {
  for (RowColumn& column : columns) {
    if (const std::size_t place = column.meaning.find("{}"); place != std::string::npos) {
      column.meaning.replace(place, 2, list_of(column.words));
    }
  }
  return columns;
}

std::optional<double> culprit_share(const PipelineView& worst) {
  return names_culprit(worst.judgement) ? std::optional(worst.judgement.culprit_share) : std::nullopt;
}

/// What is measured of the calls, if there are any.
template <Picoseconds PipelineMeasurement::*kMeasured>
std::optional<double> of_calls(const PipelineView& worst) {
  return worst.pipeline.calls.empty() ? std::nullopt : std::optional(to_microseconds(worst.pipeline.*kMeasured));
}

std::vector<RowColumn> op_columns() {
  using enum Presence;
  return {
      {"op", &RowOp::op, always, "", "type of op, as in the trace"},
      {"self_us", &RowOp::self_us, always, "us",
       "time in ops of this type within the waits; ops at the same time count once"},
      {"share", &RowOp::share, always, "0..1", "of the time that the function took within the waits"},
  };
}

std::vector<RowColumn> finding_columns() {
  using enum Presence;
  return with_words({
      {"rule", &RowFinding::rule, always, "", "`tfdata-doctor explain RULE` prints its page"},
      {"severity", &RowFinding::severity, always, "", "{}", {"error", "warning", "note"}},
      {"subject", &RowFinding::subject, always, "",
       "long name of the iterator at fault; empty for the whole trace or pipeline"},
  });
}

std::vector<RowColumn> all_columns() {
  using enum Presence;
  return with_words({
      {"schema", {}, always, "", "`tfdata-doctor.row/2`", {kRowSchema}},
      {"path", &RowFile::path, always, "", "the file, as it was given or found"},
      {"bytes", &RowFile::bytes, always, "bytes", "of the file as stored: compressed, if it is"},
      {"sha256", &RowFile::sha256, or_null, "", "of the stored bytes; null where they could not be read"},
      {"format",
       &TraceRow::format,
       or_null,
       "",
       "{}; null where it is none of them",
       {"xspace", "chrome_json", "tf1_timeline"}},
      {"host", &TraceRow::host, or_null, "", "machine that was recorded; null where the trace does not name it"},
      {"recorded_at", &TraceRow::recorded_ns, or_null, "",
       "when the recording began; null where the trace does not say"},
      {"events", &TraceRow::events, always, "", "events with a time, of any kind"},
      {"complete", &TraceRow::is_complete, always, "",
       "false where anything of the trace was damaged, cut off or not understood"},
      {"window_us", &TraceRow::window_us, always, "us",
       "from the first to the last event on threads of the host that a diagnosis rests on"},
      {"verdict",
       &TraceRow::verdict,
       or_null,
       "",
       "{}; null where there is none",
       {"input_bound", "healthy", "no_input_pipeline", "inconclusive"}},
      {"confidence", &TraceRow::confidence, or_null, "0..1", "in the verdict"},
      {"input_share", &TraceRow::input_share, or_null, "0..1",
       "of the time that the consumer of the worst pipeline waits for input"},
      {"input_lost_us", &TraceRow::input_lost_us, always, "us",
       "that the trace's consumers waited for input; where the trace shows devices, only while none computed"},
      {"signature", &TraceRow::signature, or_null, "",
       "of the structure of the worst pipeline, sixteen hexadecimal digits"},
      {"culprit", &TraceRow::culprit, or_null, "",
       "long name of the iterator that holds the worst pipeline up; null if nobody waits"},
      {"culprit_kind", &TraceRow::culprit_kind, or_null, "", "{}", {"source", "transformation"}},
      {"culprit_dataset", &TraceRow::culprit_dataset, or_null, "",
       "kind of dataset of the culprit, as in the trace: `ParallelMapV2`"},
      {"culprit_share", culprit_share, or_null, "0..1", "of the wait that the culprit holds"},
      {"limiting_resource",
       &TraceRow::limiting_resource,
       or_null,
       "",
       "of which more would make the job faster: {}",
       {"source", "thread", "calls", "pool", "cores", "python_lock", "outside"}},
      {"function_ops",
       &TraceRow::function_ops,
       always,
       "",
       "the three types of op that take most of the culprit's function",
       {},
       op_columns()},
      {"get_next_count", &TraceRow::get_next_count, always, "",
       "calls of GetNext by the consumer of the worst pipeline"},
      {"get_next_p50_us", &TraceRow::get_next_p50_us, or_null, "us", "median of its steady calls; null without calls"},
      {"get_next_p95_us", of_calls<&PipelineMeasurement::p95>, or_null, "us", "95th percentile of all its calls"},
      {"get_next_max_us", of_calls<&PipelineMeasurement::max>, or_null, "us", "longest of its calls"},
      {"findings",
       &TraceRow::findings,
       always,
       "",
       "what rules found, worst first; not what was suppressed",
       {},
       finding_columns()},
      {"tool_version", &TraceRow::tool_version, always, "", "of the tfdata-doctor that wrote the line"},
      {"error", &TraceRow::error, or_null, "", "why there is no diagnosis; null where there is one"},
      {"best_fix", &TraceRow::best_fix, later, "",
       "the rule whose advice is predicted to gain most, rather one whose gain depends on nothing that the trace does "
       "not show; null where nothing is predicted"},
      {"best_gain", &TraceRow::best_gain, later, "factor", "predicted steps in a time with that fix, for one now"},
      {"best_gain_low", &TraceRow::best_gain_low, later, "factor", "the lower end of what is predicted"},
      {"best_condition",
       &TraceRow::best_condition,
       later,
       "",
       "on which the gain depends, which the trace does not show: {}; null if on none",
       {"fits_in_memory", "python_releases_lock", "runs_on_batches", "does_not_need_map", "comes_from_files"}},
      {"culprit_source", &TraceRow::culprit_source, later, "",
       "the line of the program that made the culprit, `src/input.py:33`; null where the trace does not say"},
      {"sandbox",
       &TraceRow::sandbox,
       later,
       "",
       "how much of the sandbox was in force: {}; null in rows of earlier versions",
       {"full", "partial", "none"}},
      {"step_p50_us", &TraceRow::step_p50_us, later, "us",
       "median step of the worst pipeline: from one steady call of GetNext to the next; null with fewer than two, and "
       "in "
       "rows of earlier versions"},
  });
}

template <typename Record, typename Value>
constexpr RowType type_of(Value Record::*) {
  if (std::is_same_v<Value, std::string>) return RowType::text;
  if (std::is_same_v<Value, std::uint64_t>) return RowType::integer;
  if (std::is_same_v<Value, std::int64_t>) return RowType::timestamp;
  if (std::is_same_v<Value, bool>) return RowType::boolean;
  return std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>> ? RowType::real
                                                                                       : RowType::records;
}

constexpr RowType type_of(RowFigure) {
  return RowType::real;
}

constexpr RowType type_of(std::monostate) {
  return RowType::text;
}

}  // namespace

RowType RowColumn::type() const {
  return std::visit([](const auto place) { return type_of(place); }, member);
}

std::span<const RowColumn> trace_row_columns() {
  static const std::vector<RowColumn> columns = all_columns();
  return columns;
}

std::size_t row_column_count() {
  return trace_row_columns().size();
}

void measure_figures(const PipelineView& worst, TraceRow& row) {
  for (const RowColumn& column : trace_row_columns()) {
    const auto* const figure = std::get_if<RowFigure>(&column.member);
    if (figure != nullptr) row.figures[place_of(column)] = (*figure)(worst);
  }
}

}  // namespace doctor
