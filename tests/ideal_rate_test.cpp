// `whatif` beside a ceiling that was measured, and over several hosts.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measured_pipeline.h"
#include "predicted_page.h"
#include "report/whatif_page.h"
#include "run_tool.h"
#include "unwrapped.h"

namespace doctor::whatif_page_test {
namespace {

TEST_CASE("a ceiling that was measured: which part of the gap to it each fix closes") {
  Predicted predicted;
  predicted.host().fixes = {brings({kCache}, 60), brings({kParallelMap}, 16), brings({kPrefetch}, 8)};
  WhatIfView view = predicted.view();
  IdealRun ideal{"logs/ideal.xplane.pb", 1, {30, 35}};
  view.ideal = &ideal;
  const std::string page = render_whatif_text(view, {.detail = Detail::full});
  CHECK(has(page, "4.00x\nmeasured ceiling 35 steps/s (logs/ideal.xplane.pb); the gap is 25 steps/s\n"));
  CHECK(has(page, "6.00x (5.40x to 6.60x)  100%               60 (54 to 66)"));
  CHECK(has(page, "1.60x (1.44x to 1.76x)  24%                16 (14.4 to 17.6)"));
  CHECK(has(page, "0.80x (0.72x to 0.88x)  0%"));
  const Json pipeline = Json(whatif_json(view))["pipelines"][0];
  CHECK(pipeline["ideal"] == Json({{"steps_per_s", 35.0},
                                   {"gap", 25.0},
                                   {"traced", false},
                                   {"recordings", 1},
                                   {"file", "logs/ideal.xplane.pb"}}));
  CHECK(pipeline["fixes"][0]["closes"] == 1.0);
  CHECK(pipeline["fixes"][1]["closes"].get<double>() == doctest::Approx(0.24));
  CHECK(pipeline["fixes"][2]["closes"] == 0.0);
  CHECK(has(render_whatif_csv(view), ",then_limited_by_iterator,closes\n0:0,cache:Map,"));
  CHECK(has(render_whatif_csv(view), ",consumer,,0.24\n"));
  CHECK(has(render_whatif_markdown(view), "| closes of the gap |"));
  CHECK(has(render_whatif_markdown(view), "| 24% |"));
  CHECK_FALSE(has(render_whatif_csv(predicted.view()), "closes"));
  CHECK_FALSE(has(render_whatif_markdown(predicted.view()), "closes"));
}

TEST_CASE("the gap is between rates of the same kind, and may not be there") {
  Predicted predicted;
  predicted.host().fixes = {brings({kParallelMap}, 20)};
  WhatIfView view = predicted.view();
  IdealRun ideal{"ideal", 3, {27, {}}};
  view.ideal = &ideal;
  // One model does not reproduce its trace: from 9 to 27 as traced, and twice as fast as traced.
  const std::string traced =
      "measured ceiling 27 steps/s (ideal, median of 3 recordings, with the cost of tracing); the gap is 18 steps/s";
  CHECK(has(render_whatif_text(view, {}), traced));
  CHECK(Json(whatif_json(view))["pipelines"][0]["fixes"][0]["closes"] == 0.5);
  ideal.rate.untraced = 30;
  CHECK(
      has(render_whatif_text(view, {}), "measured ceiling 30 steps/s (ideal, median of 3 recordings); the gap is 20"));
  predicted.host().is_reliable = false;
  CHECK(has(render_whatif_text(view, {}), traced));
  for (const double rate : {9.1, 8.0}) {
    ideal.rate = {rate, {}};
    const std::string page = render_whatif_text(view, {});
    CHECK(has(page, "there is hardly a gap to close") == (rate > 9));
    CHECK(has(page,
              "the ideal run is slower than this trace: 8 steps/s (ideal, median of 3 recordings, with the cost "
              "of tracing), here 9.") == (rate < 9));
    CHECK_FALSE(has(page, "closes"));
    CHECK_FALSE(has(render_whatif_markdown(view), "closes"));
    CHECK(Json(whatif_json(view))["pipelines"][0]["fixes"][0]["closes"].is_null());
  }
  predicted.host().why_none = NoGainBecause::no_consumer;
  CHECK(Json(whatif_json(view))["pipelines"][0]["ideal"].is_null());
}

TEST_CASE("the rate of several ideal recordings is their median") {
  Measurements measurements;
  CHECK_FALSE(ideal_rate(measurements));
  measurements.hosts.emplace_back();
  CHECK_FALSE(ideal_rate(measurements));
  const std::vector<IdealRate> rates = {{10, 11.0}, {30, 33.0}, {20, 21.0}, {40, {}}};
  const IdealRun all = ideal_run("ideal", rates);
  CHECK(all.recordings == 4);
  CHECK(all.rate.traced == 25);
  CHECK_FALSE(all.rate.untraced);
  CHECK(ideal_run("ideal", std::span(rates).first(3)).rate.untraced == 21.0);
}

TEST_CASE("the worst host comes first, those without a model last and with the reason") {
  Predicted predicted;
  predicted.measurements.hosts.resize(3, predicted.measured());
  predicted.measurements.hosts[0].hosts = {"broken"};
  predicted.measurements.hosts[1].hosts = {"fine"};
  predicted.measurements.hosts[2].hosts = {"worst"};
  predicted.hosts.resize(3, predicted.host());
  for (std::size_t host = 0; host < 3; ++host) predicted.hosts[host].host = host;
  predicted.hosts[0].why_none = NoGainBecause::no_consumer;
  predicted.hosts[0].pipeline.reset();
  predicted.diagnosis.judgement.pipelines.resize(2);
  predicted.diagnosis.judgement.pipelines[0].host = 2;
  predicted.diagnosis.judgement.pipelines[1].host = 1;
  predicted.hosts[1].pipeline = 1;
  const std::string page = predicted.text();
  CHECK(page.starts_with("pipeline 2:0 on worst\n9 steps/s now"));
  CHECK(has(page, "\n\npipeline 1:0 on fine\n9 steps/s now"));
  CHECK(has(page, "\n\nbroken\nnothing can be predicted: nothing in the trace takes elements from a pipeline\n"));
  CHECK(page.find("worst") < page.find("fine"));
  CHECK(page.find("fine") < page.find("broken"));
  const Json last = Json(whatif_json(predicted.view()))["pipelines"][2];
  CHECK(last["why_none"] == "nothing in the trace takes elements from a pipeline");
  CHECK(last["steps_per_s"].is_null());
  CHECK(last["fixes"] == Json::array());
  // Of several pipelines together, so of none in the judgement.
  predicted.hosts[1].pipeline.reset();
  CHECK(predicted.text().find("fine") < predicted.text().find("broken"));
}

}  // namespace
}  // namespace doctor::whatif_page_test
