#include <fmt/format.h>

#include "base/try.h"
#include "diagnose/budgets.h"
#include "diagnose/judgement_words.h"
#include "diagnose/user_code.h"
#include "query/load_inputs.h"
#include "query/query_database.h"
#include "query/tables.h"
#include "report/page.h"
#include "report/selection.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

/// A host of the trace, whose rows begin with its number and name.
struct TraceHost {
  std::int64_t trace = 0;
  const HostMeasurement& host;
  std::string name;

  RowInserter& begin_row(RowInserter& rows) const { return rows.integer(trace).text(name); }
};

std::optional<std::int64_t> number_of(IteratorId id) {
  return id == kNoIterator ? std::nullopt : std::optional(static_cast<std::int64_t>(index_of(id)));
}

std::string text_of(const std::optional<std::uint64_t>& token) {
  return token ? std::to_string(*token) : std::string();
}

std::string_view role_of(const IteratorMeasurement& iterator) {
  if (iterator.is_source) return "source";
  return iterator.has(Trait::frame) ? "frame" : "transformation";
}

std::string attributes_json(const IteratorMeasurement& iterator) {
  OrderedJson attributes = OrderedJson::object();
  for (const AttributeValue& attribute : iterator.attributes) {
    attributes[attribute.name] = attribute.number ? OrderedJson(*attribute.number) : OrderedJson(attribute.text);
  }
  return attributes.dump(-1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace);
}

/// What the calls of the consumers were held by each iterator, indexed by IteratorId.
std::vector<Picoseconds> critical_times(const HostMeasurement& host) {
  std::vector<Picoseconds> critical(host.iterators.size(), 0);
  for (const PipelineMeasurement& pipeline : host.pipelines) {
    if (pipeline.feeds_another) continue;
    for (const PhaseMeasurement* phase : {&pipeline.warmup, &pipeline.steady}) {
      for (const auto& [id, time] : phase->critical.entries()) critical[index_of(id)] += time;
    }
  }
  return critical;
}

Result<void> load_iterators(QueryDatabase& database, const TraceHost& of) {
  RowInserter rows(database, "iterators");
  const std::vector<Picoseconds> critical = critical_times(of.host);
  for (std::size_t index = 0; index < of.host.iterators.size(); ++index) {
    const IteratorMeasurement& iterator = of.host.iterators[index];
    of.begin_row(rows).integer(static_cast<std::int64_t>(index));
    rows.optional_integer(number_of(iterator.parent)).optional_integer(number_of(iterator.root));
    rows.integer(iterator.depth).text(iterator.long_name).text(iterator.short_name).text(iterator.dataset_name);
    rows.text(role_of(iterator)).boolean(iterator.is_async);
    rows.optional_text(text_of(iterator.id)).optional_text(text_of(iterator.parent_id));
    rows.integer(static_cast<std::int64_t>(iterator.calls)).integer(static_cast<std::int64_t>(iterator.instances));
    rows.time(iterator.total).time(iterator.self).time(iterator.wait).time(iterator.function).time(critical[index]);
    rows.time(iterator.longest_call.duration()).text(attributes_json(iterator));
    const SourceLine* const line = of.host.iterators[static_cast<IteratorId>(index)].line();
    line != nullptr ? rows.text(line->file).integer(static_cast<std::int64_t>(line->line)) : rows.null().null();
    rows.end_row();
  }
  return rows.finish();
}

void load_segments(RowInserter& rows, const TraceHost& of, std::optional<std::int64_t> pipeline,
                   const CallDetail& call) {
  std::int64_t number = 0;
  for (const Segment& segment : call.segments) {
    const bool has_iterator = segment.iterator != kNoIterator;
    of.begin_row(rows).optional_integer(pipeline).integer(static_cast<std::int64_t>(call.number)).integer(++number);
    rows.integer(segment.span.start).time(segment.span.end - segment.span.start);
    rows.text(to_word(segment.kind)).optional_integer(number_of(segment.iterator));
    has_iterator ? rows.text(of.host.iterators[segment.iterator].long_name) : rows.null();
    rows.text(of.host.threads[index_of(segment.lane)]).end_row();
  }
}

Result<void> load_calls(QueryDatabase& database, const TraceHost& of) {
  RowInserter rows(database, "calls");
  RowInserter segments(database, "segments");
  for (const PipelineMeasurement& pipeline : of.host.pipelines) {
    const std::optional<std::int64_t> root = number_of(pipeline.root);
    for (const CallDetail& call : pipeline.call_details) {
      of.begin_row(rows).optional_integer(root).integer(static_cast<std::int64_t>(call.number));
      rows.integer(call.span.start).time(call.latency()).text(of.host.threads[index_of(call.lane)]);
      rows.boolean(call.number <= pipeline.warmup_count).boolean(call.latency() > kSlowCall).end_row();
      load_segments(segments, of, root, call);
    }
  }
  RETURN_IF_ERROR(rows.finish());
  return segments.finish();
}

Result<void> load_steps(QueryDatabase& database, const TraceHost& of) {
  using enum StepPart;
  RowInserter rows(database, "steps");
  std::int64_t number = 0;
  for (const StepMeasurement& step : of.host.steps.steps) {
    of.begin_row(rows).integer(step.number.value_or(++number));
    rows.integer(step.span.start).time(step.duration());
    for (const StepPart part : {compilation, output, input, kernel_launch, host_compute, device_to_device,
                                device_compute_16, device_compute_32, other}) {
      rows.time(step[part]);
    }
    rows.boolean(!step.is_boundary).time(step[copy_wait]).end_row();
  }
  return rows.finish();
}

Result<void> load_ops(QueryDatabase& database, const TraceHost& of) {
  RowInserter rows(database, "ops");
  if (!of.host.profile) return {};
  for (const OpStatistics& op : of.host.profile->ops.ops) {
    of.begin_row(rows).text(op.is_on_device ? "device" : "host").text(op.type).text(op.name);
    rows.integer(static_cast<std::int64_t>(op.occurrences)).time(op.total).time(op.self);
    rows.text(op.framework_op).text(op.source).real(op.flops).real(op.bytes).end_row();
  }
  return rows.finish();
}

std::string in_words(const Dimensions& dimensions) {
  return fmt::format("{},{},{}", dimensions[0], dimensions[1], dimensions[2]);
}

Result<void> load_kernels(QueryDatabase& database, const TraceHost& of) {
  RowInserter rows(database, "kernels");
  for (const KernelRow& kernel : of.host.device_profile.kernels) {
    of.begin_row(rows).text(kernel.kernel_name).text(kernel.op_name).integer(kernel.launch.registers_per_thread);
    rows.integer(static_cast<std::int64_t>(kernel.launch.shared_bytes()));
    rows.text(in_words(kernel.launch.block)).text(in_words(kernel.launch.grid));
    rows.optional_real(kernel.launch.occupancy_percent);
    rows.boolean(kernel.is_op_tensor_core_eligible).boolean(kernel.uses_tensor_cores);
    rows.integer(static_cast<std::int64_t>(kernel.occurrences)).time(kernel.total).time(kernel.min).time(kernel.max);
    rows.end_row();
  }
  return rows.finish();
}

/// A trace is of one host; files of it that could not be read have no times.
Result<void> load_clock(QueryDatabase& database, std::int64_t trace, const Measurements& measurements) {
  RowInserter clock(database, kTraceClocks, 3);
  const auto host = std::find_if(measurements.hosts.begin(), measurements.hosts.end(),
                                 [](const HostMeasurement& read) { return read.event_count > 0; });
  clock.integer(trace).integer(host == measurements.hosts.end() ? 0 : host->origin_ns).integer(0).end_row();
  return clock.finish();
}

Result<void> load_findings(QueryDatabase& database, std::int64_t trace, const Diagnosis& diagnosis) {
  RowInserter rows(database, "findings");
  for (const Finding& finding : findings_that_count(diagnosis.findings)) {
    rows.integer(trace).text(finding.rule).text(to_word(finding.severity)).text(finding.subject);
    rows.text(finding.message).time(finding.at_stake).end_row();
  }
  return rows.finish();
}

}  // namespace

TraceNeeds MeasurementRequest::needs() const {
  return {.profile = profile ? std::optional(ProfileParts()) : std::nullopt,
          .calls = calls ? std::optional(CallRequest()) : std::nullopt};
}

Result<void> load_measurements(QueryDatabase& database, std::int64_t trace, const Analysis& analysis,
                               const MeasurementRequest& request) {
  using Loader = Result<void> (*)(QueryDatabase&, const TraceHost&);
  std::vector<Loader> loaders;
  if (request.diagnosis) loaders.insert(loaders.end(), {load_iterators, load_kernels});
  if (request.calls) loaders.push_back(load_calls);
  if (request.profile) loaders.insert(loaders.end(), {load_steps, load_ops});
  RETURN_IF_ERROR(load_clock(database, trace, analysis.measurements));
  for (const HostMeasurement& host : analysis.measurements.hosts) {
    const TraceHost of = {trace, host, host.name()};
    for (const Loader load : loaders) {
      RETURN_IF_ERROR(load(database, of));
    }
  }
  return request.diagnosis ? load_findings(database, trace, analysis.diagnosis) : Result<void>();
}

}  // namespace doctor
