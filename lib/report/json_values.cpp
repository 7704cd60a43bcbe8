#include "report/json_values.h"

#include <fmt/format.h>

#include "diagnose/culprit_function.h"
#include "diagnose/judgement_words.h"
#include "diagnose/throughput_words.h"
#include "diagnose/user_code.h"

namespace doctor {
namespace {

/// Ids are 64-bit tokens and JSON numbers are doubles to most readers, so ids are strings.
OrderedJson id_json(const std::optional<std::uint64_t>& id) {
  return id ? OrderedJson(fmt::format("{}", *id)) : OrderedJson(nullptr);
}

OrderedJson attributes_json(const std::vector<AttributeValue>& attributes) {
  OrderedJson object = OrderedJson::object();
  for (const AttributeValue& attribute : attributes) {
    object[attribute.name] = attribute.number ? OrderedJson(*attribute.number) : OrderedJson(attribute.text);
  }
  return object;
}

OrderedJson get_next_json(const PipelineMeasurement& pipeline) {
  return {
      {"count", pipeline.calls.size()},
      {"slow_count", pipeline.slow_count},
      {"threshold_us", 50},
      {"p50_us", to_microseconds(pipeline.median)},
      {"p95_us", to_microseconds(pipeline.p95)},
      {"max_us", to_microseconds(pipeline.max)},
      {"total_us", to_microseconds(pipeline.total)},
      {"warmup_count", pipeline.warmup_count},
  };
}

/// Where the total of get_next went: with critical_us of the iterators these parts add up to it.
OrderedJson elsewhere_json(const PipelineMeasurement& pipeline) {
  const auto both = [&](Picoseconds PhaseMeasurement::*part) {
    return to_microseconds(pipeline.warmup.*part + pipeline.steady.*part);
  };
  return {
      {"handoff_us", both(&PhaseMeasurement::handoff)},
      {"unseen_us", both(&PhaseMeasurement::unseen)},
      {"outside_us", both(&PhaseMeasurement::outside)},
  };
}

/// The parts whose product is the confidence in the pipeline's level and culprit.
OrderedJson confidence_json(const Confidence& confidence) {
  OrderedJson json = {
      {"total", confidence.total()},     {"side", confidence.side},       {"calls", confidence.calls},
      {"coverage", confidence.coverage}, {"culprit", confidence.culprit}, {"load", confidence.load},
      {"window", confidence.window},     {"tracing", confidence.tracing},
  };
  if (confidence.device < 1) json["device"] = confidence.device;
  return json;
}

OrderedJson long_name_json(const HostMeasurement& host, IteratorId iterator) {
  return iterator == kNoIterator ? OrderedJson(nullptr) : OrderedJson(host.iterators[index_of(iterator)].long_name);
}

/// What the calls do over time. Calls are counted from 1, as `show calls` does.
OrderedJson stalls_json(const PipelineView& view) {
  if (!view.pipeline.stalls) return nullptr;
  const Stalls& stalls = *view.pipeline.stalls;
  return {
      {"count", stalls.count},
      {"first_call", stalls.first + 1},
      {"last_call", stalls.last + 1},
      {"distance_calls", stalls.distance},
      {"p50_us", to_microseconds(stalls.typical)},
      {"p50_of_others_us", to_microseconds(stalls.usual)},
      {"waited_us", to_microseconds(stalls.waited)},
      {"share", stalls.share},
      {"recurring", stalls.are_recurring},
      {"long_name", long_name_json(view.host, stalls.culprit)},
  };
}

OrderedJson pace_change_json(const PipelineView& view) {
  if (!view.pipeline.pace_change) return nullptr;
  const PaceChange& change = *view.pipeline.pace_change;
  return {
      {"from_call", change.from + 1},
      {"p50_before_us", to_microseconds(change.before)},
      {"p50_after_us", to_microseconds(change.after)},
      {"share_before", change.share_before},
      {"share_after", change.share_after},
      {"long_name", long_name_json(view.host, change.culprit)},
  };
}

OrderedJson function_ops_json(const CulpritFunction& function, Picoseconds waited) {
  OrderedJson ops = OrderedJson::array();
  for (const FunctionOp& op : function.ops) {
    const double share = function.time > 0 ? static_cast<double>(op.self) / static_cast<double>(function.time) : 0;
    const bool is_of_wait = function.is_waited_for && waited > 0;
    const OrderedJson share_of_wait =
        is_of_wait ? OrderedJson(static_cast<double>(op.self) / static_cast<double>(waited)) : OrderedJson(nullptr);
    ops.push_back(
        {{"op", op.op}, {"self_us", to_microseconds(op.self)}, {"share", share}, {"share_of_wait", share_of_wait}});
  }
  return ops;
}

/// What ran while none of the function's ops did.
OrderedJson beside_json(const HostMeasurement& host, const PhaseMeasurement& phase) {
  OrderedJson ops = OrderedJson::array();
  for (const OpBeside& op : phase.beside) {
    ops.push_back(
        {{"op", op.op}, {"long_name", long_name_json(host, op.iterator)}, {"time_us", to_microseconds(op.time)}});
  }
  return ops;
}

}  // namespace

OrderedJson references_json(std::span<const Reference> references) {
  OrderedJson json = OrderedJson::array();
  for (const Reference& reference : references) json.push_back({{"title", reference.title}, {"url", reference.url}});
  return json;
}

OrderedJson source_json(const SourceLine* place) {
  if (place == nullptr) return nullptr;
  return {{"file", place->file}, {"line", place->line}, {"code", text_or_null(place->code)}};
}

OrderedJson iterator_json(const HostMeasurement& host, IteratorId id, Picoseconds critical) {
  const IteratorMeasurement& iterator = host.iterators[index_of(id)];
  return {
      {"long_name", iterator.long_name},
      {"short_name", iterator.short_name},
      {"dataset_name", iterator.dataset_name},
      {"name", describe(host, id)},
      {"user_name", text_or_null(user_name(host, id))},
      {"user_method", text_or_null(user_method(host, id))},
      {"source", source_json(source_of(host, id))},
      {"id", id_json(iterator.id)},
      {"parent_id", id_json(iterator.parent_id)},
      {"depth", iterator.depth},
      {"async", iterator.is_async},
      {"calls", iterator.calls},
      {"total_us", to_microseconds(iterator.total)},
      {"self_us", to_microseconds(iterator.self)},
      {"function_us", to_microseconds(iterator.function)},
      {"wait_us", to_microseconds(iterator.wait)},
      {"critical_us", to_microseconds(critical)},
      {"attributes", attributes_json(iterator.attributes)},
  };
}

OrderedJson culprit_json(const PipelineView& view) {
  if (!names_culprit(view.judgement)) return nullptr;
  const IteratorMeasurement& culprit = view.culprit();
  const PhaseMeasurement& phase = view.phase();
  const CulpritFunction function = function_of_culprit(view.host, view.pipeline, view.judgement);
  const bool has_function = function.is_waited_for || !function.ops.empty();
  const auto time_in_function = [&](Picoseconds time) {
    return has_function ? OrderedJson(to_microseconds(time)) : OrderedJson(nullptr);
  };
  const std::optional<double> utilization = cpu_utilization(view.pipeline, phase);
  const std::optional<std::int64_t> parallelism = culprit.number("parallelism");
  OrderedJson json = {
      {"long_name", culprit.long_name},
      {"short_name", culprit.short_name},
      {"dataset_name", culprit.dataset_name},
      {"user_name", text_or_null(user_name(view.host, view.judgement.culprit))},
      {"user_method", text_or_null(user_method(view.host, view.judgement.culprit))},
      {"source", source_json(source_of(view.host, view.judgement.culprit))},
      {"kind", culprit_kind(culprit)},
      {"share", view.judgement.culprit_share},
      {"chosen_by", to_word(view.judgement.chosen_by)},
      {"reason", text_or_null(view.judgement.culprit_reason)},
      {"busy_cores",
       utilization ? OrderedJson(*utilization * static_cast<double>(*view.pipeline.cpu_budget)) : nullptr},
      {"cpu_budget", or_null(view.pipeline.cpu_budget)},
      {"threads_seen", view.host.compute_threads},
      {"parallelism", or_null(parallelism)},
      {"function_us", time_in_function(function.time)},
      {"python_us", time_in_function(function.python)},
      {"function_is_waited_for", function.is_waited_for},
      {"queued_closures", or_null(phase.queued_closures)},
  };
  const bool is_waited_for = function.is_waited_for;
  json["function_idle_us"] = is_waited_for ? OrderedJson(to_microseconds(phase.function_idle)) : OrderedJson(nullptr);
  json["function_ops"] = function_ops_json(function, phase.waited);
  json["beside"] = is_waited_for ? beside_json(view.host, phase) : OrderedJson::array();
  return json;
}

void add_limit(const PipelineView& view, OrderedJson& json) {
  const JudgedLimit& limit = view.judgement.limit;
  json["limiting_resource"] = limit.limit == Limit::unknown ? OrderedJson(nullptr) : OrderedJson(to_word(limit.limit));
  json["limit"] = text_or_null(limit.words);
}

OrderedJson pipeline_json(const PipelineView& view) {
  const PipelineMeasurement& pipeline = view.pipeline;
  const bool has_root = pipeline.root != kNoIterator;
  const std::optional<double> share = input_share_of(view);
  OrderedJson iterators = OrderedJson::array();
  for (const IteratorId member : members_in_tree_order(view.host, pipeline)) {
    iterators.push_back(iterator_json(view.host, member, critical_time(pipeline, member)));
  }
  OrderedJson json = {
      {"id", pipeline_id(view.judgement, pipeline)},
      {"host", host_name(view.host)},
      {"kind", pipeline.is_device ? "device" : "host"},
      {"root", has_root ? OrderedJson(view.host.iterators[index_of(pipeline.root)].long_name) : OrderedJson(nullptr)},
      {"level", to_word(view.judgement.level)},
      {"phase", to_word(view.judgement.phase)},
      {"confidence", confidence_json(view.judgement.confidence)},
      {"feeds_another", pipeline.feeds_another},
      {"fed_by", feeding_pipelines(view)},
      {"input_share", or_null(share)},
      {"get_next", get_next_json(pipeline)},
      {"elsewhere", elsewhere_json(pipeline)},
  };
  if (pipeline.exposed) {
    json["get_next_share"] = pipeline.cadence.share;
    json["device_idle_share"] = view.judgement.input_share;
  }
  json["stalls"] = stalls_json(view);
  json["pace_change"] = pace_change_json(view);
  add_limit(view, json);
  json["culprit"] = culprit_json(view);
  json["iterators"] = std::move(iterators);
  return json;
}

OrderedJson gain_json(const std::optional<Gain>& gain) {
  if (!gain) return nullptr;
  const std::string_view condition = to_word(gain->then.condition);
  return {{"factor", gain->factor()},
          {"low", gain->low()},
          {"high", gain->high()},
          {"steps_per_s", gain->then.estimate},
          {"condition", condition.empty() ? OrderedJson(nullptr) : OrderedJson(condition)},
          {"then_limited_by", gain->then_limited_by}};
}

}  // namespace doctor
