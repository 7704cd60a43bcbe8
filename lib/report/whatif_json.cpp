#include "diagnose/throughput_words.h"
#include "report/selection.h"
#include "report/whatif_view.h"
#include "report/whatif_words.h"
#include "text/json_page.h"

namespace doctor {
namespace {

OrderedJson rates_json(const Prediction& prediction) {
  return {{"estimate", prediction.estimate}, {"low", prediction.low}, {"high", prediction.high}};
}

OrderedJson bottleneck_json(const WhatIfHost& host, const Bottleneck& bottleneck) {
  const IteratorId iterator = iterator_at(host, bottleneck);
  OrderedJson json = {{"resource", to_word(bottleneck.resource)}, {"iterator", nullptr}};
  if (iterator != kNoIterator) json["iterator"] = host.measured().iterators[index_of(iterator)].long_name;
  return json;
}

OrderedJson fixes_json(const WhatIfHost& host, const PredictedFixes& fixes) {
  const Prediction& prediction = fixes.prediction;
  OrderedJson json = {{"fix", spec_of(host, fixes, " + ")}, {"rule", text_or_null(fixes.rule)}};
  json["words"] = words_of(host, fixes.fixes);
  json["steps_per_s"] = rates_json(prediction);
  json["gain"] = host.gain_of(prediction.estimate);
  json["gain_low"] = host.gain_of(prediction.low);
  json["gain_high"] = host.gain_of(prediction.high);
  json["closes"] = or_null(host.closes(fixes));
  json["condition"] = text_or_null(std::string(to_word(prediction.condition)));
  json["then_limited_by"] = bottleneck_json(host, prediction.then_limited_by);
  json["then_words"] = limit_words(host, prediction.then_limited_by, fixes.fixes);
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
  OrderedJson json = {{"enough", plan.is_enough}, {"enough_cores", or_null(plan.enough_cores)}};
  json["steps"] = fixes_json(host, plan.steps);
  return json;
}

OrderedJson ideal_json(const WhatIfHost& host) {
  const std::optional<IdealGap> gap = host.gap();
  if (!gap) return nullptr;
  return {{"steps_per_s", gap->to},
          {"gap", gap->size()},
          {"traced", gap->is_traced},
          {"recordings", host.view.ideal->recordings},
          {"file", host.view.ideal->source}};
}

OrderedJson host_json(const WhatIfHost& host) {
  const HostPredictions& predicted = host.predicted;
  OrderedJson json = {{"id", text_or_null(id_of(host))}, {"host", host_name(host.measured())}};
  if (!host.has_model()) {
    for (const char* const key : {"steps_per_s", "fit", "cores"}) json[key] = nullptr;
    json["threads_seen"] = host.measured().compute_threads;
    for (const char* const key : {"limited_by", "without_input", "ideal"}) json[key] = nullptr;
    json["fixes"] = OrderedJson::array();
    json["together"] = OrderedJson::array();
    json["plan"] = nullptr;
    json["why_none"] = predicted.why_none;
    return json;
  }
  json["steps_per_s"] = {{"measured", predicted.measured}, {"model", predicted.now}};
  json["fit"] = predicted.fit;
  json["cores"] = host.knows_cores() ? OrderedJson(host.measured().cycles.cores) : OrderedJson(nullptr);
  json["threads_seen"] = host.measured().compute_threads;
  json["limited_by"] = bottleneck_json(host, predicted.limited_by);
  json["without_input"] = {{"steps_per_s", rates_json(predicted.without_input)},
                           {"gain", host.gain_of(predicted.without_input.estimate)}};
  json["ideal"] = ideal_json(host);
  json["fixes"] = fixes_json(host, predicted.fixes);
  json["together"] = fixes_json(host, predicted.together);
  json["plan"] = plan_json(host);
  json["why_none"] = nullptr;
  return json;
}

}  // namespace

std::string render_whatif_json(const WhatIfView& view) {
  OrderedJson pipelines = OrderedJson::array();
  OrderedJson asked = nullptr;
  for (const WhatIfHost& host : worst_hosts_first(view)) {
    pipelines.push_back(host_json(host));
    if (asked.is_null() && host.predicted.asked) asked = fixes_json(host, *host.predicted.asked);
  }
  OrderedJson page = {{"schema", "tfdata-doctor.whatif/1"}, {"tool", tool_json()}};
  page["pipelines"] = std::move(pipelines);
  page["asked"] = std::move(asked);
  return to_text(page);
}

}  // namespace doctor
