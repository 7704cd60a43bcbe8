#include "report/json_values.h"

#include "diagnose/culprit_function.h"
#include "diagnose/judgement_words.h"
#include "diagnose/loaders.h"
#include "diagnose/pipelines.h"
#include "words/doubt_words.h"
#include "words/throughput_words.h"

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
      {key::count, pipeline.calls.size()},
      {key::slow_count, pipeline.slow_count},
      {key::threshold_us, 50},
      {key::p50_us, to_microseconds(pipeline.median)},
      {key::p95_us, to_microseconds(pipeline.p95)},
      {key::max_us, to_microseconds(pipeline.max)},
      {key::total_us, to_microseconds(pipeline.total)},
      {key::warmup_count, pipeline.warmup_count},
  };
}

/// Where the total of get_next went: with critical_us of the iterators these parts add up to it.
OrderedJson elsewhere_json(const PipelineMeasurement& pipeline) {
  const auto both = [&](Picoseconds PhaseMeasurement::*part) {
    return to_microseconds(pipeline.warmup.*part + pipeline.steady.*part);
  };
  return {
      {key::handoff_us, both(&PhaseMeasurement::handoff)},
      {key::unseen_us, both(&PhaseMeasurement::unseen)},
      {key::outside_us, both(&PhaseMeasurement::outside)},
  };
}

/// The parts whose product is the confidence in the pipeline's level and culprit.
OrderedJson confidence_json(const Confidence& confidence) {
  OrderedJson json = {
      {key::total, confidence.total()},     {key::side, confidence.side},       {key::calls, confidence.calls},
      {key::coverage, confidence.coverage}, {key::culprit, confidence.culprit}, {key::load, confidence.load},
      {key::window, confidence.window},     {key::tracing, confidence.tracing},
  };
  if (confidence.machine < 1) json[key::machine] = confidence.machine;
  if (confidence.run < 1) json[key::run] = confidence.run;
  if (confidence.device < 1) json[key::device] = confidence.device;
  return json;
}

/// What the calls do over time. Calls are counted from 1, as `show calls` does.
OrderedJson stalls_json(const PipelineView& view) {
  if (!view.pipeline.stalls) return nullptr;
  const Stalls& stalls = *view.pipeline.stalls;
  return {
      {key::count, stalls.count},
      {key::first_call, stalls.first + 1},
      {key::last_call, stalls.last + 1},
      {key::distance_calls, stalls.distance},
      {key::p50_us, to_microseconds(stalls.typical)},
      {key::p50_of_others_us, to_microseconds(stalls.usual)},
      {key::waited_us, to_microseconds(stalls.waited)},
      {key::share, stalls.share},
      {key::recurring, stalls.are_recurring},
      {key::long_name, long_name_json(view.host, stalls.culprit)},
  };
}

OrderedJson pace_change_json(const PipelineView& view) {
  if (!view.pipeline.pace_change) return nullptr;
  const PaceChange& change = *view.pipeline.pace_change;
  return {
      {key::from_call, change.from + 1},
      {key::p50_before_us, to_microseconds(change.before)},
      {key::p50_after_us, to_microseconds(change.after)},
      {key::share_before, change.share_before},
      {key::share_after, change.share_after},
      {key::long_name, long_name_json(view.host, change.culprit)},
  };
}

OrderedJson function_ops_json(const CulpritFunction& function, Picoseconds waited) {
  const bool is_of_wait = function.is_waited_for && waited > 0;
  return array_of(function.ops, [&](const FunctionOp& op) -> OrderedJson {
    return {{key::op, op.op},
            {key::self_us, to_microseconds(op.self)},
            {key::share, share_of_time(op.self, function.time)},
            {key::share_of_wait, known_or_null(is_of_wait, share_of_time(op.self, waited))}};
  });
}

/// What ran while none of the function's ops did.
OrderedJson beside_json(const HostMeasurement& host, const PhaseMeasurement& phase) {
  return array_of(phase.beside, [&](const OpBeside& op) -> OrderedJson {
    return {{key::op, op.op},
            {key::long_name, long_name_json(host, op.iterator)},
            {key::time_us, to_microseconds(op.time)}};
  });
}

}  // namespace

OrderedJson long_name_json(const HostMeasurement& host, IteratorId iterator) {
  return iterator == kNoIterator ? OrderedJson(nullptr) : OrderedJson(host.iterators[iterator].long_name);
}

OrderedJson references_json(std::span<const Reference> references) {
  return array_of(references, [&](const Reference& reference) -> OrderedJson {
    return {{key::title, reference.title}, {key::url, reference.url}};
  });
}

OrderedJson source_json(const SourceLine* place) {
  if (place == nullptr) return nullptr;
  return {{key::file, place->file}, {key::line, place->line}, {key::code, text_or_null(place->code)}};
}

OrderedJson iterator_json(const HostMeasurement& host, IteratorId id, Picoseconds critical) {
  const IteratorMeasurement& iterator = host.iterators[id];
  return {
      {key::long_name, iterator.long_name},
      {key::short_name, iterator.short_name},
      {key::dataset_name, iterator.dataset_name},
      {key::name, describe(host, id)},
      {key::user_name, text_or_null(host.iterators[id].user_call.name())},
      {key::user_method, text_or_null(host.iterators[id].user_call.method())},
      {key::source, source_json(host.iterators[id].line())},
      {key::id, id_json(iterator.id)},
      {key::parent_id, id_json(iterator.parent_id)},
      {key::depth, iterator.depth},
      {key::async, iterator.is_async},
      {key::calls, iterator.calls},
      {key::total_us, to_microseconds(iterator.total)},
      {key::self_us, to_microseconds(iterator.self)},
      {key::function_us, to_microseconds(iterator.function)},
      {key::wait_us, to_microseconds(iterator.wait)},
      {key::critical_us, to_microseconds(critical)},
      {key::attributes, attributes_json(iterator.attributes)},
  };
}

OrderedJson culprit_json(const PipelineView& view) {
  if (!names_culprit(view.judgement)) return nullptr;
  const IteratorMeasurement& culprit = view.culprit();
  const PhaseMeasurement& phase = view.phase();
  const CulpritFunction function = view.function();
  const bool has_function = function.is_waited_for || !function.ops.empty();
  const auto time_in_function = [&](Picoseconds time) { return known_or_null(has_function, to_microseconds(time)); };
  const std::optional<double> utilization = cpu_utilization(view.pipeline, phase);
  const std::optional<std::int64_t> parallelism = culprit.number("parallelism");
  OrderedJson json = {
      {key::long_name, culprit.long_name},
      {key::short_name, culprit.short_name},
      {key::dataset_name, culprit.dataset_name},
      {key::user_name, text_or_null(view.host.iterators[view.judgement.culprit].user_call.name())},
      {key::user_method, text_or_null(view.host.iterators[view.judgement.culprit].user_call.method())},
      {key::source, source_json(view.host.iterators[view.judgement.culprit].line())},
      {key::kind, culprit_kind(culprit)},
      {key::share, view.judgement.culprit_share},
      {key::chosen_by, to_word(view.judgement.chosen_by)},
      {key::reason, text_or_null(describe_evidence(view.host, view.judgement))},
      {"busy_cores",
       utilization ? OrderedJson(*utilization * static_cast<double>(*view.pipeline.cpu_budget)) : nullptr},
      {key::cpu_budget, or_null(view.pipeline.cpu_budget)},
      {key::threads_seen, view.host.compute_threads},
      {key::parallelism, or_null(parallelism)},
      {key::function_us, time_in_function(function.time)},
      {key::python_us, time_in_function(function.python)},
      {key::function_is_waited_for, function.is_waited_for},
      {key::queued_closures, or_null(phase.queued_closures)},
  };
  const bool is_waited_for = function.is_waited_for;
  json[key::function_idle_us] = known_or_null(is_waited_for, to_microseconds(phase.function_idle));
  json[key::function_ops] = function_ops_json(function, phase.waited);
  json[key::beside] = is_waited_for ? beside_json(view.host, phase) : OrderedJson::array();
  return json;
}

void add_limit(const PipelineView& view, OrderedJson& json) {
  const JudgedLimit& limit = view.judgement.limit;
  json[key::limiting_resource] = known_or_null(limit.limit != Limit::unknown, to_word(limit.limit));
  json[key::limit] = text_or_null(describe_limit(view.host, limit));
}

OrderedJson stage_json(const LoaderStage& stage, bool is_slowest) {
  return {{key::stage, stage.name},
          {key::consumer, known_or_null(stage.consumer != LoaderStage::kNone, stage.consumer)},
          {key::calls, stage.calls},
          {key::in_next_us, to_microseconds(stage.in_next)},
          {key::in_makers_us, to_microseconds(stage.in_makers)},
          {key::waits_us, to_microseconds(stage.waited + stage.for_lock)},
          {key::function, text_or_null(stage.function)},
          {key::function_us, to_microseconds(stage.in_functions)},
          {key::slowest, is_slowest}};
}

std::string_view to_word(MadeBy made_by) {
  using enum MadeBy;
  return word_of(made_by, {{unknown, "unknown"}, {loop, "loop"}, {threads, "threads"}, {processes, "processes"}});
}

/// Of a pipeline whose calls are those of another loader than tf.data.
OrderedJson loader_json(const PipelineView& view) {
  const BatchMaking* const making = batch_making_of(view.host, view.pipeline);
  OrderedJson json = {{key::library, view.pipeline.next_of},
                      {key::made_by, to_word(making == nullptr ? MadeBy::unknown : making->made_by)},
                      {key::cause, describe_loader(view.host, view.pipeline)}};
  OrderedJson stages = OrderedJson::array();
  for (std::size_t index = 0; making != nullptr && index < making->stages.size(); ++index) {
    const LoaderStage& stage = making->stages[index];
    stages.push_back(stage_json(stage, &stage == making->slowest_stage()));
  }
  json[key::stages] = std::move(stages);
  return json;
}

OrderedJson pipeline_json(const PipelineView& view) {
  const PipelineMeasurement& pipeline = view.pipeline;
  const std::optional<double> share = input_share_of(view);
  OrderedJson json = {
      {key::id, pipeline_id(view)},
      {key::host, view.host.name()},
      {key::kind, pipeline.is_device ? "device" : "host"},
      {key::root, long_name_json(view.host, pipeline.root)},
      {key::level, to_word(view.judgement.level)},
      {key::phase, to_word(view.judgement.phase)},
      {key::confidence, confidence_json(view.judgement.confidence)},
      {key::feeds_another, pipeline.feeds_another},
      {key::fed_by, feeding_pipelines(view)},
      {key::input_share, or_null(share)},
      {key::get_next, get_next_json(pipeline)},
      {key::elsewhere, elsewhere_json(pipeline)},
  };
  if (pipeline.exposed) {
    json[key::get_next_share] = pipeline.cadence.share;
    json[key::device_idle_share] = view.judgement.input_share;
  }
  if (!pipeline.next_of.empty()) json[key::loader] = loader_json(view);
  json[key::stalls] = stalls_json(view);
  json[key::pace_change] = pace_change_json(view);
  add_limit(view, json);
  json[key::culprit] = culprit_json(view);
  json[key::iterators] = array_of(members_in_tree_order(view.host, pipeline), [&](const IteratorId member) {
    return iterator_json(view.host, member, critical_time(pipeline, member));
  });
  return json;
}

OrderedJson gain_json(const std::optional<Gain>& gain, const HostMeasurement* host) {
  if (!gain) return nullptr;
  const std::string_view condition = to_word(gain->then.condition);
  OrderedJson json = {{key::words, describe_gain(*gain)},
                      {key::factor, gain->factor()},
                      {key::low, gain->low()},
                      {key::high, gain->high()},
                      {key::steps_per_s, gain->then.estimate},
                      {key::condition, known_or_null(!condition.empty(), condition)}};
  if (host != nullptr) json[key::then_limited_by] = describe_bottleneck(*host, gain->then.then_limited_by);
  return json;
}

}  // namespace doctor
