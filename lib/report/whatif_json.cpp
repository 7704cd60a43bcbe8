#include "report/json_values.h"
#include "report/whatif_page.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

OrderedJson rates_json(const Prediction& prediction) {
  return {{key::estimate, prediction.estimate}, {key::low, prediction.low}, {key::high, prediction.high}};
}

OrderedJson bottleneck_json(const WhatIfHost& host, const Bottleneck& bottleneck) {
  const IteratorId iterator = iterator_at(host, bottleneck);
  OrderedJson json = {{key::resource, to_word(bottleneck.resource)}, {key::iterator, nullptr}};
  if (iterator != kNoIterator) json[key::iterator] = host.measured().iterators[iterator].long_name;
  return json;
}

OrderedJson fixes_json(const WhatIfHost& host, const PredictedFixes& fixes) {
  const Prediction& prediction = fixes.prediction;
  return {{key::fix, spec_of(host, fixes, " + ")},
          {key::rule, text_or_null(fixes.rule)},
          {key::words, words_of(host, fixes.fixes)},
          {key::steps_per_s, rates_json(prediction)},
          {key::gain, host.gain_of(prediction.estimate)},
          {key::gain_low, host.gain_of(prediction.low)},
          {key::gain_high, host.gain_of(prediction.high)},
          {key::closes, or_null(host.closes(fixes))},
          {key::condition, text_or_null(std::string(to_word(prediction.condition)))},
          {key::then_limited_by, bottleneck_json(host, prediction.then_limited_by)},
          {key::then_words, limit_words(host, prediction.then_limited_by, fixes.fixes)}};
}

OrderedJson fixes_json(const WhatIfHost& host, const std::vector<PredictedFixes>& list) {
  return array_of(list, [&](const PredictedFixes& fixes) { return fixes_json(host, fixes); });
}

OrderedJson plan_json(const WhatIfHost& host) {
  if (!host.predicted.plan) return nullptr;
  const FixPlan& plan = *host.predicted.plan;
  return {{key::enough, plan.is_enough},
          {key::enough_cores, or_null(plan.enough_cores)},
          {key::steps, fixes_json(host, plan.steps)}};
}

OrderedJson ideal_json(const WhatIfHost& host) {
  const std::optional<IdealGap> gap = host.gap();
  if (!gap) return nullptr;
  return {{key::steps_per_s, gap->to},
          {key::gap, gap->size()},
          {key::traced, gap->is_traced},
          {key::recordings, host.view.ideal->recordings},
          {key::file, host.view.ideal->source}};
}

/// Null where more elements at once bring nothing.
OrderedJson curve_json(const WhatIfHost& host) {
  const ParallelismCurve& curve = host.predicted.curve;
  if (curve.points.empty()) return nullptr;
  OrderedJson points = OrderedJson::array();
  const auto point_json = [&](const PredictedFixes& point) -> OrderedJson {
    const Bottleneck& limit = point.prediction.then_limited_by;
    return {{key::at_once, *point.fixes.front().parallelism},
            {key::steps_per_s, rates_json(point.prediction)},
            {key::then_words, limit_words(host, limit, point.fixes)}};
  };
  for (const PredictedFixes& point : curve.points) points.push_back(point_json(point));
  return {{key::iterator, host.measured().iterators[curve.map].long_name},
          {key::name, describe(host.measured(), curve.map)},
          {key::at_once, curve.now},
          {key::points, std::move(points)},
          {key::knee, point_json(*curve.knee())}};
}

/// Without a model most of it is not known.
OrderedJson host_json(const WhatIfHost& host) {
  const HostPredictions& predicted = host.predicted;
  const bool has_model = host.has_model();
  const auto known = [&](const OrderedJson& value) { return has_model ? value : OrderedJson(nullptr); };
  const auto list = [&](const std::vector<PredictedFixes>& fixes) {
    return has_model ? fixes_json(host, fixes) : OrderedJson::array();
  };
  return {{key::id, text_or_null(id_of(host))},
          {key::host, host.measured().name()},
          {key::steps_per_s, known({{key::measured, predicted.measured}, {key::model, predicted.now}})},
          {key::fit, known(predicted.fit)},
          {key::cores, known_or_null(has_model && host.knows_cores(), host.measured().cycles.cores)},
          {key::threads_seen, host.measured().compute_threads},
          {key::limited_by, has_model ? bottleneck_json(host, predicted.limited_by) : nullptr},
          {key::without_input, known({{key::steps_per_s, rates_json(predicted.without_input)},
                                      {key::gain, host.gain_of(predicted.without_input.estimate)}})},
          {key::ideal, ideal_json(host)},
          {key::fixes, list(predicted.fixes)},
          {key::together, list(predicted.together)},
          {key::plan, has_model ? plan_json(host) : nullptr},
          {key::curve, has_model ? curve_json(host) : nullptr},
          {key::why_none, has_model ? OrderedJson(nullptr) : OrderedJson(describe(*predicted.why_none))}};
}

}  // namespace

OrderedJson whatif_json(const WhatIfView& view) {
  OrderedJson pipelines = OrderedJson::array();
  OrderedJson asked = nullptr;
  for (const WhatIfHost& host : worst_hosts_first(view)) {
    pipelines.push_back(host_json(host));
    if (asked.is_null() && host.predicted.asked) asked = fixes_json(host, *host.predicted.asked);
  }
  OrderedJson page = begun_page("tfdata-doctor.whatif/1");
  page[key::pipelines] = std::move(pipelines);
  page[key::asked] = std::move(asked);
  return page;
}

std::vector<WhatIfHost> worst_hosts_first(const WhatIfView& view) {
  std::vector<const HostPredictions*> order;
  for (const HostPredictions& host : view.hosts) order.push_back(&host);
  std::ranges::stable_sort(order, [](const HostPredictions* a, const HostPredictions* b) {
    if (a->why_none.has_value() != b->why_none.has_value()) return !a->why_none;
    return a->pipeline.value_or(SIZE_MAX) < b->pipeline.value_or(SIZE_MAX);
  });
  std::vector<WhatIfHost> hosts;
  for (const HostPredictions* host : order) hosts.push_back({view, *host});
  return hosts;
}

std::string id_of(const WhatIfHost& host) {
  if (!host.predicted.pipeline) return {};
  const PipelineJudgement& judged = host.view.diagnosis.judgement.pipelines[*host.predicted.pipeline];
  return pipeline_id(judged, host.measured().pipelines[judged.pipeline].root);
}

IteratorId iterator_at(const WhatIfHost& host, const Bottleneck& bottleneck) {
  return bottleneck.stage < host.measured().iterators.size() ? static_cast<IteratorId>(bottleneck.stage) : kNoIterator;
}

std::string spec_of(const WhatIfHost& host, const PredictedFixes& fixes, std::string_view between) {
  return joined(fixes.fixes, between, [&](const Fix& fix) { return to_string(fix, host.measured()); });
}

}  // namespace doctor
