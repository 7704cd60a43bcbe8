#include "diagnose/user_code.h"
#include "report/selection.h"
#include "report/whatif_view.h"
#include "report/whatif_words.h"
#include "text/document_keys.h"
#include "text/json_page.h"
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
  OrderedJson json = {{key::fix, spec_of(host, fixes, " + ")}, {key::rule, text_or_null(fixes.rule)}};
  json[key::words] = words_of(host, fixes.fixes);
  json[key::steps_per_s] = rates_json(prediction);
  json[key::gain] = host.gain_of(prediction.estimate);
  json[key::gain_low] = host.gain_of(prediction.low);
  json[key::gain_high] = host.gain_of(prediction.high);
  json[key::closes] = or_null(host.closes(fixes));
  json[key::condition] = text_or_null(std::string(to_word(prediction.condition)));
  json[key::then_limited_by] = bottleneck_json(host, prediction.then_limited_by);
  json[key::then_words] = limit_words(host, prediction.then_limited_by, fixes.fixes);
  return json;
}

OrderedJson fixes_json(const WhatIfHost& host, const std::vector<PredictedFixes>& list) {
  OrderedJson json = OrderedJson::array();
  for (const PredictedFixes& fixes : list) json.push_back(fixes_json(host, fixes));
  return json;
}

OrderedJson plan_json(const WhatIfHost& host) {
  if (!host.predicted.plan) return nullptr;
  const FixPlan& plan = *host.predicted.plan;
  OrderedJson json = {{key::enough, plan.is_enough}, {key::enough_cores, or_null(plan.enough_cores)}};
  json[key::steps] = fixes_json(host, plan.steps);
  return json;
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
  OrderedJson json = {{key::iterator, host.measured().iterators[curve.map].long_name},
                      {key::name, describe(host.measured(), curve.map)},
                      {key::at_once, curve.now}};
  json[key::points] = std::move(points);
  json[key::knee] = point_json(*curve.knee());
  return json;
}

OrderedJson host_json(const WhatIfHost& host) {
  const HostPredictions& predicted = host.predicted;
  OrderedJson json = {{key::id, text_or_null(id_of(host))}, {key::host, host_name(host.measured())}};
  if (!host.has_model()) {
    for (const char* const key : {key::steps_per_s, "fit", "cores"}) json[key] = nullptr;
    json[key::threads_seen] = host.measured().compute_threads;
    for (const char* const key : {key::limited_by, "without_input", "ideal"}) json[key] = nullptr;
    json[key::fixes] = OrderedJson::array();
    json[key::together] = OrderedJson::array();
    json[key::plan] = nullptr;
    json[key::curve] = nullptr;
    json[key::why_none] = describe(*predicted.why_none);
    return json;
  }
  json[key::steps_per_s] = {{key::measured, predicted.measured}, {key::model, predicted.now}};
  json[key::fit] = predicted.fit;
  json[key::cores] = host.knows_cores() ? OrderedJson(host.measured().cycles.cores) : OrderedJson(nullptr);
  json[key::threads_seen] = host.measured().compute_threads;
  json[key::limited_by] = bottleneck_json(host, predicted.limited_by);
  json[key::without_input] = {{key::steps_per_s, rates_json(predicted.without_input)},
                              {key::gain, host.gain_of(predicted.without_input.estimate)}};
  json[key::ideal] = ideal_json(host);
  json[key::fixes] = fixes_json(host, predicted.fixes);
  json[key::together] = fixes_json(host, predicted.together);
  json[key::plan] = plan_json(host);
  json[key::curve] = curve_json(host);
  json[key::why_none] = nullptr;
  return json;
}

}  // namespace

OrderedJson whatif_json(const WhatIfView& view) {
  OrderedJson pipelines = OrderedJson::array();
  OrderedJson asked = nullptr;
  for (const WhatIfHost& host : worst_hosts_first(view)) {
    pipelines.push_back(host_json(host));
    if (asked.is_null() && host.predicted.asked) asked = fixes_json(host, *host.predicted.asked);
  }
  OrderedJson page = {{key::schema, "tfdata-doctor.whatif/1"}, {key::tool, tool_json()}};
  page[key::pipelines] = std::move(pipelines);
  page[key::asked] = std::move(asked);
  return page;
}

}  // namespace doctor
