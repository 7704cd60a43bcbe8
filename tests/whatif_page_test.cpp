// `whatif`: its pages of predictions written by hand, and the command on recorded traces.

#include "report/whatif_page.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "command_line/option_table.h"
#include "measured_pipeline.h"
#include "run_tool.h"

namespace doctor::whatif_page_test {
namespace {

using Json = nlohmann::json;

const std::string kTraces = source_dir() + "/testdata/traces/";
const std::string kSlow = kTraces + "seed_example1.xplane.pb";
const std::string kTogether = kTraces + "guide_sequential_map.xplane.pb";

/// A host with a model that makes 10 steps a second, and what is predicted of it.
struct Predicted {
  Measurements measurements;
  Diagnosis diagnosis;
  std::vector<HostPredictions> hosts;
  WhatIfRequest request;

  explicit Predicted(const std::vector<std::string>& chain = {"Root", "BatchV2", "Map", "TFRecord"}) {
    MeasuredPipeline pipeline(chain);
    pipeline.host().hosts = {"host-1"};
    pipeline.host().cycles.cores = pipeline.host().cycles.pool_threads = 2;
    measurements = pipeline.measurements();
    diagnosis.judgement.pipelines.emplace_back();
    HostPredictions& host = hosts.emplace_back();
    host.pipeline = 0;
    host.measured = 9;
    host.now = 10;
    host.fit = 1;
    host.is_reliable = true;
    host.limited_by = {Resource::thread, 2};
    host.without_input = {40, 36, 44, Condition::none, {}, {}, 0};
  }

  HostPredictions& host() { return hosts.front(); }
  HostMeasurement& measured() { return measurements.hosts.front(); }
  WhatIfView view() const { return {measurements, diagnosis, hosts, request}; }
  std::string text(const TextStyle& style = {}) const { return render_whatif_text(view(), style); }
};

Fix fix_of(FixKind kind, std::uint32_t iterator) {
  return {kind, static_cast<IteratorId>(iterator), {}, {}};
}

const Fix kParallelMap = fix_of(FixKind::parallel_map, 2);
const Fix kCache = fix_of(FixKind::cache, 2);
const Fix kPrefetch = {FixKind::prefetch, kNoIterator, {}, {}};

PredictedFixes brings(std::vector<Fix> fixes, double rate, Bottleneck limit = {},
                      Condition condition = Condition::none) {
  return {std::move(fixes), {}, {rate, rate * 0.9, rate * 1.1, condition, {}, limit, 0}};
}

/// Whether the page has the text on one line.
bool has(const std::string& page, const std::string& part) {
  return page.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("rate, ceiling, fixes by number, what they depend on and what gains nothing") {
  Predicted predicted;
  predicted.host().fixes = {brings({kCache}, 40, {}, Condition::fits_in_memory),
                            brings({kParallelMap}, 20, {Resource::cores, 2}), brings({kPrefetch}, 10.1)};
  predicted.host().together = {brings({kParallelMap, kPrefetch}, 25, {Resource::pool, 2})};
  CHECK(predicted.text() ==
        R"(9 steps/s now (traced; 10 without the cost of tracing), limited by Dataset.map: one thread
40 steps/s (36 to 44) if every element were ready: x4.00

     fix                                   gain                  steps/s            then limited by                     --fix
  1  .cache() after Dataset.map            x4.00 (3.60 to 4.40)  40 (36 to 44)      your model                          cache:Map
  2  .map(f, num_parallel_calls=AUTOTUNE)  x2.00 (1.80 to 2.20)  20 (18 to 22)      Dataset.map: both cores             parallel_map:Map
  3  2 + prefetch together                 x2.50 (2.25 to 2.75)  25 (22.5 to 27.5)  Dataset.map: the pool of 2 threads  parallel_map:Map --fix prefetch
if 1: what is cached fits in memory; from the second epoch on
no gain: prefetch

assumed: the same machine, the same data, the steady state; nine times out of ten a rate is in its range. See docs/whatif.md
)");
}

TEST_CASE("-q says the rate alone, -v shows what gains nothing, too") {
  Predicted predicted;
  predicted.host().fixes = {brings({kParallelMap}, 20), brings({kPrefetch}, 10.1)};
  TextStyle style;
  style.detail = Detail::verdict;
  CHECK(predicted.text(style) ==
        "9 steps/s now (traced; 10 without the cost of tracing), limited by Dataset.map: one thread\n");
  style.detail = Detail::full;
  CHECK(has(predicted.text(style), "  2  .prefetch(AUTOTUNE) at the end"));
  CHECK_FALSE(has(predicted.text(style), "no gain"));
}

TEST_CASE("how many rows a screen has, and a limit of the gain") {
  Predicted predicted;
  for (std::int64_t calls = 1; calls <= 10; ++calls) {
    predicted.host().fixes.push_back(brings({{FixKind::parallel_map, IteratorId{2}, calls, {}}}, 20));
  }
  CHECK(has(predicted.text(), "  8  .map(f, num_parallel_calls=8)"));
  CHECK_FALSE(has(predicted.text(), "num_parallel_calls=9"));
  CHECK(has(predicted.text(), "and 2 more: -v shows all\n"));
  WhatIfView view = predicted.view();
  view.min_gain = 2.5;
  CHECK(has(render_whatif_text(view, {}), "no fix gains x2.5 or more: parallel_map:Map,p=1 parallel_map:Map,p=2"));
}

TEST_CASE("what the model does not reproduce, and what recording distorted, is said") {
  Predicted predicted;
  CHECK_FALSE(has(predicted.text(), "caution"));
  predicted.host().is_reliable = false;
  predicted.host().fit = 1.5;
  CHECK(has(predicted.text(),
            "caution: the model does not reproduce the measured rate (model 13.5, measured 9 steps/s)"));
  CHECK(has(render_whatif_markdown(predicted.view()), "orders of magnitude"));
  predicted.host().tells_gains = false;
  CHECK(has(predicted.text(), "so what a fix gains is not told; --fix KIND gives its order of magnitude"));
  CHECK_FALSE(has(predicted.text(), "no fix gains"));
  CHECK_FALSE(has(render_whatif_markdown(predicted.view()), "no fix gains"));
  predicted.host().tells_gains = true;
  CHECK_FALSE(has(predicted.text(), "recording the trace"));
  predicted.host().is_distorted = true;
  CHECK(has(predicted.text(), "caution: recording the trace itself took a large part of each step"));
}

TEST_CASE("the limit is named with its resource") {
  Predicted predicted({"Root", "ParallelMap", "ParallelInterleave", "TFRecord"});
  predicted.measured().iterators[1].attributes.push_back({"parallelism", 3, {}});
  const auto limit = [&](Bottleneck bottleneck) {
    predicted.host().limited_by = bottleneck;
    const std::string line = predicted.text({.detail = Detail::verdict});
    return line.substr(line.find("limited by ") + 11);
  };
  CHECK(limit({}) == "your model\n");
  CHECK(limit({Resource::calls, 1}) == "Dataset.map with num_parallel_calls: its 3 parallel calls\n");
  CHECK(limit({Resource::pool, 1}) == "Dataset.map with num_parallel_calls: the pool of 2 threads\n");
  CHECK(limit({Resource::python, 1}) == "Dataset.map with num_parallel_calls: Python's lock\n");
  CHECK(limit({Resource::cores, 1}) == "Dataset.map with num_parallel_calls: both cores\n");
  CHECK(limit({Resource::thread, 3}) == "tf.data.TFRecordDataset: the threads of the interleave\n");
  // A prefetch that only the fix puts at the end, and time outside of all iterators.
  CHECK(limit({Resource::thread, kNoStage - 1}) == "one thread\n");
  CHECK(limit({Resource::thread, kNoStage}) == "one thread\n");
}

TEST_CASE("each fix is a line of Python, with the iterator where that is not clear") {
  Predicted predicted({"Root", "BatchV2", "Map", "Filter", "Map", "FlatMap", "Shuffle", "TFRecord"});
  const auto words = [&](const Fix& fix) {
    predicted.host().fixes = {brings({fix}, 20)};
    const std::string page = predicted.text();
    const std::size_t begin = page.find("  1  ") + 5;
    return page.substr(begin, page.find("  x2.00") - begin);
  };
  const IteratorId map{2};
  CHECK(words({FixKind::parallel_map, map, {}, {}}) == ".map(f, num_parallel_calls=AUTOTUNE) for your 2nd .map()");
  CHECK(words({FixKind::prefetch_below, map, {}, {}}) == ".prefetch(AUTOTUNE) before your 2nd .map()");
  CHECK(words({FixKind::vectorize, map, {}, {}}) == ".batch(n) before your 2nd .map()");
  CHECK(words({FixKind::cache, map, {}, {}}) == ".cache() after your 2nd .map()");
  CHECK(words({FixKind::unordered, map, {}, {}}) == "deterministic=False of your 2nd .map()");
  CHECK(words({FixKind::filter_first, IteratorId{3}, {}, {}}) == ".filter(f) before the map below it");
  CHECK(words({FixKind::parallel_interleave, IteratorId{5}, 4, 8}) ==
        ".interleave(f, cycle_length=8, num_parallel_calls=4) instead of Dataset.flat_map");
  CHECK(words({FixKind::parallel_batch, IteratorId{1}, 4, {}}) == ".batch(n, num_parallel_calls=4)");
  CHECK(words({FixKind::threadpool, kNoIterator, 4, {}}) == "private_threadpool_size=4");
  CHECK(words({FixKind::free, map, {}, {}}) == "at most: no work in your 2nd .map()");
  CHECK(words({FixKind::none, kNoIterator, {}, {}}) == "no change");
}

TEST_CASE("a plan says what is enough, or what is missing") {
  Predicted predicted;
  FixPlan& plan = predicted.host().plan.emplace();
  predicted.host().fixes = {brings({kCache}, 40)};
  const auto has_line = [&](const std::string& line) { return has("\n" + predicted.text(), "\n" + line + "\n"); };
  plan.is_enough = true;
  CHECK(has_line("plan: your model waits less than 5 % of the time for its input: nothing to do"));
  CHECK_FALSE(has(predicted.text(), "cache"));
  plan.steps = {brings({kParallelMap}, 20), brings({kParallelMap, kPrefetch}, 25, {Resource::calls, 2})};
  CHECK(has(predicted.text(), "\n  1  .map(f, num_parallel_calls=AUTOTUNE)"));
  CHECK(has(predicted.text(), "\n  2  .prefetch(AUTOTUNE) at the end"));
  CHECK(has_line("with all of them your model waits less than 5 % of the time for its input"));
  plan.is_enough = false;
  plan.enough_cores = 16;
  CHECK(
      has_line("that is not enough: with 16 cores as well, your model waits less than 5 % of the time for its input"));
  plan.enough_cores.reset();
  CHECK(
      has_line("that is not enough, whatever the number of cores; here the limit is Dataset.map: its number of "
               "parallel calls"));
  plan.steps.clear();
  CHECK(has_line("plan: no fix gains enough, whatever the number of cores; here the limit is Dataset.map: one thread"));
}

TEST_CASE("what is asked for stands alone") {
  Predicted predicted;
  predicted.request.fixes = {"parallel_map", "prefetch"};
  predicted.host().fixes = {brings({kCache}, 40)};
  CHECK(has(predicted.text(), "the pipelines of this host cannot be changed so"));
  CHECK(render_whatif_csv(predicted.view()).find('\n') == render_whatif_csv(predicted.view()).size() - 1);
  predicted.host().asked = brings({kParallelMap, kPrefetch}, 25);
  for (const std::string& page :
       {predicted.text(), render_whatif_csv(predicted.view()), render_whatif_markdown(predicted.view())}) {
    CHECK(has(page, "prefetch"));
    CHECK_FALSE(has(page, "cache"));
  }
  CHECK(has(predicted.text(), ".map(f, num_parallel_calls=AUTOTUNE) + .prefetch(AUTOTUNE) at the end"));
  const Json page(whatif_json(predicted.view()));
  CHECK(page["asked"]["fix"] == "parallel_map:Map + prefetch");
  CHECK(page["pipelines"][0]["fixes"][0]["fix"] == "cache:Map");
}

TEST_CASE("\"now\" is on the machine that is asked about") {
  Predicted predicted;
  predicted.request.cores = 8;
  CHECK(has(predicted.text(), "10 steps/s now, which means with 8 cores (9 as traced), limited by"));
  CHECK(has(predicted.text(), "assumed: otherwise the same machine"));
  predicted.host().limited_by = {Resource::pool, 2};
  CHECK(has(predicted.text(), "the pool of 8 threads"));
  // The user set its size.
  predicted.measured().cycles.pool_threads = 4;
  CHECK(has(predicted.text(), "the pool of 4 threads"));
  predicted.request.consumer_factor = 0.5;
  CHECK(has(predicted.text(), "with 8 cores and a model 0.5 times as fast (9"));
  predicted.request.cores.reset();
  CHECK(has(predicted.text(), "with a model 0.5 times as fast (9"));
}

TEST_CASE("cores that the trace does not say are a caution, and no number of the machine") {
  Predicted predicted;
  predicted.host().limited_by = {Resource::cores, 2};
  CHECK(has(predicted.text(), "both cores"));
  predicted.measured().compute_threads = 2;
  predicted.measured().cycles.knows_cores = false;
  CHECK(has(predicted.text(), "limited by Dataset.map: the cores"));
  CHECK(has(predicted.text(),
            "caution: the trace does not say how many cores tf.data may use (at least 2 threads seen)"));
  CHECK(Json(whatif_json(predicted.view()))["pipelines"][0]["cores"].is_null());
  CHECK(Json(whatif_json(predicted.view()))["pipelines"][0]["threads_seen"] == 2);
  predicted.request.cores = 8;
  CHECK_FALSE(has(predicted.text(), "caution: the trace does not say how many cores"));
}

TEST_CASE("JSON and CSV hold each fix") {
  Predicted predicted;
  predicted.host().fixes = {brings({kCache}, 40, {Resource::thread, 2}, Condition::fits_in_memory)};
  predicted.host().fixes.front().rule = "uncached-repeat";
  predicted.host().together = {brings({kParallelMap, kPrefetch}, 25)};
  const Json page(whatif_json(predicted.view()));
  CHECK(page["schema"] == "tfdata-doctor.whatif/1");
  CHECK(page["asked"].is_null());
  const Json& pipeline = page["pipelines"][0];
  CHECK(pipeline["id"] == "0:0");
  CHECK(pipeline["host"] == "host-1");
  CHECK(pipeline["steps_per_s"] == Json({{"measured", 9.0}, {"model", 10.0}}));
  CHECK(pipeline["limited_by"] == Json({{"resource", "thread"}, {"iterator", "Iterator::Root::BatchV2::Map"}}));
  CHECK(pipeline["without_input"]["gain"] == 4.0);
  CHECK(pipeline["ideal"].is_null());
  CHECK(pipeline["plan"].is_null());
  CHECK(pipeline["why_none"].is_null());
  CHECK(pipeline["fixes"] ==
        Json::array({{{"fix", "cache:Map"},
                      {"rule", "uncached-repeat"},
                      {"words", ".cache() after Dataset.map"},
                      {"then_words", "Dataset.map: one thread"},
                      {"steps_per_s", {{"estimate", 40.0}, {"low", 36.0}, {"high", 44.0}}},
                      {"gain", 4.0},
                      {"gain_low", 3.6},
                      {"gain_high", 4.4},
                      {"closes", nullptr},
                      {"condition", "fits_in_memory"},
                      {"then_limited_by", {{"resource", "thread"}, {"iterator", "Iterator::Root::BatchV2::Map"}}}}}));
  CHECK(pipeline["together"][0]["fix"] == "parallel_map:Map + prefetch");
  CHECK(pipeline["together"][0]["then_limited_by"] == Json({{"resource", "consumer"}, {"iterator", nullptr}}));
  CHECK(render_whatif_csv(predicted.view()) ==
        "pipeline,fix,rule,estimate,low,high,gain,gain_low,gain_high,condition,then_limited_by_resource,"
        "then_limited_by_iterator\n"
        "0:0,cache:Map,uncached-repeat,40,36,44,4,3.6,4.4,fits_in_memory,thread,Iterator::Root::BatchV2::Map\n"
        "0:0,parallel_map:Map + prefetch,,25,22.5,27.5,2.5,2.25,2.75,,consumer,\n");
  predicted.host().pipeline.reset();
  CHECK(Json(whatif_json(predicted.view()))["pipelines"][0]["id"].is_null());
}

TEST_CASE("a ceiling that was measured: which part of the gap to it each fix closes") {
  Predicted predicted;
  predicted.host().fixes = {brings({kCache}, 60), brings({kParallelMap}, 16), brings({kPrefetch}, 8)};
  WhatIfView view = predicted.view();
  IdealRun ideal{"logs/ideal.xplane.pb", 1, {30, 35}};
  view.ideal = &ideal;
  const std::string page = render_whatif_text(view, {.detail = Detail::full});
  CHECK(has(page, "x4.00\nmeasured ceiling 35 steps/s (logs/ideal.xplane.pb); the gap is 25 steps/s\n"));
  CHECK(has(page, "x6.00 (5.40 to 6.60)  100 %              60 (54 to 66)"));
  CHECK(has(page, "x1.60 (1.44 to 1.76)  24 %               16 (14.4 to 17.6)"));
  CHECK(has(page, "x0.80 (0.72 to 0.88)  0 %"));
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
  CHECK(has(render_whatif_markdown(view), "| 24 % |"));
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
  predicted.host().why_none = "the trace shows no call of a consumer";
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
  predicted.hosts[0].why_none = "the trace shows no call of a consumer";
  predicted.hosts[0].pipeline.reset();
  predicted.diagnosis.judgement.pipelines.resize(2);
  predicted.diagnosis.judgement.pipelines[0].host = 2;
  predicted.diagnosis.judgement.pipelines[1].host = 1;
  predicted.hosts[1].pipeline = 1;
  const std::string page = predicted.text();
  CHECK(page.starts_with("pipeline 2:0 on worst\n9 steps/s now"));
  CHECK(has(page, "\n\npipeline 1:0 on fine\n9 steps/s now"));
  CHECK(has(page, "\n\nbroken\nnothing can be predicted: the trace shows no call of a consumer\n"));
  CHECK(page.find("worst") < page.find("fine"));
  CHECK(page.find("fine") < page.find("broken"));
  const Json last = Json(whatif_json(predicted.view()))["pipelines"][2];
  CHECK(last["why_none"] == "the trace shows no call of a consumer");
  CHECK(last["steps_per_s"].is_null());
  CHECK(last["fixes"] == Json::array());
  // Of several pipelines together, so of none in the judgement.
  predicted.hosts[1].pipeline.reset();
  CHECK(predicted.text().find("fine") < predicted.text().find("broken"));
}

TEST_CASE("names of a trace cannot act on a terminal, a shell or a spreadsheet") {
  Predicted predicted({"Root", "Map", "TFRecord"});
  predicted.measured().iterators[1].long_name = "Iterator::Root::Map\x1b[31m$(reboot)";
  predicted.host().limited_by = {Resource::thread, 1};
  predicted.host().fixes = {brings({fix_of(FixKind::cache, 1)}, 40, {Resource::thread, 1})};
  for (const std::string& page : {predicted.text(), to_text(whatif_json(predicted.view())),
                                  render_whatif_csv(predicted.view()), render_whatif_markdown(predicted.view())}) {
    CHECK(page.find('\x1b') == std::string::npos);
    CHECK(has(page, "reboot"));
  }
  predicted.measured().iterators[1].long_name = "Iterator::Root::Map$(reboot)";
  CHECK(has(predicted.text(), "  'cache:Map$(reboot)'\n"));
}

TEST_CASE("whatever the page advises can be pasted, and comes to the same") {
  const Json page = Json::parse(run_tool({"whatif", "--format", "json", kTogether}).output);
  const Json& pipeline = page["pipelines"][0];
  REQUIRE(pipeline["fixes"].size() >= 3);
  REQUIRE_FALSE(pipeline["together"].empty());
  for (const std::string list : {"fixes", "together"}) {
    for (const Json& fix : pipeline[list]) {
      std::vector<std::string> arguments = {"whatif", "--format", "json", kTogether};
      std::string specs = fix["fix"].get<std::string>() + " + ";
      while (!specs.empty()) {
        arguments.insert(arguments.end(), {"--fix", specs.substr(0, specs.find(" + "))});
        specs.erase(0, specs.find(" + ") + 3);
      }
      const Json asked = Json::parse(run_tool(arguments).output)["asked"];
      CAPTURE(asked["fix"].get<std::string>());
      CHECK(asked == fix);
    }
  }
}

TEST_CASE("more cores and a faster consumer are predicted with all that changes") {
  const auto predict = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"whatif", "--format", "json", "--fix", "parallel_map", kSlow});
    return Json::parse(run_tool(arguments).output);
  };
  const Json now = predict({});
  const Json larger = predict({"--cores", "8"});
  // The pool has as many threads as the machine has cores.
  CHECK(now["asked"]["gain"] < 1.5);
  CHECK(larger["asked"]["gain"] > 4);
  CHECK(larger["pipelines"][0]["steps_per_s"]["model"] == now["pipelines"][0]["steps_per_s"]["model"]);
  CHECK(predict({"--cores", "1"})["asked"]["gain"] < now["asked"]["gain"]);
  const auto ceiling = [](const Json& page) {
    return page["pipelines"][0]["without_input"]["steps_per_s"]["estimate"].get<double>();
  };
  CHECK(ceiling(predict({"--consumer", "2"})) == doctest::Approx(2 * ceiling(now)).epsilon(0.1));
}

TEST_CASE("--ideal reads the ceiling from a recording or a folder of several") {
  const std::string ideal = kTraces + "guide_cache.xplane.pb";
  const auto pipeline_of = [](const std::string& ceiling) {
    const Ended ended = run_tool({"whatif", "--format", "json", "--ideal", ceiling, kTogether});
    CHECK(ended.code == 0);
    return Json::parse(ended.output)["pipelines"][0];
  };
  const Json pipeline = pipeline_of(ideal);
  const Json itself = Json::parse(run_tool({"whatif", "--format", "json", ideal}).output)["pipelines"][0];
  CHECK(pipeline["ideal"]["steps_per_s"] == itself["steps_per_s"]["model"]);
  CHECK(pipeline["ideal"]["file"] == ideal);
  const double now = pipeline["steps_per_s"]["model"].get<double>();
  const double size = pipeline["ideal"]["gap"].get<double>();
  for (const std::string list : {"fixes", "together"}) {
    for (const Json& fix : pipeline[list]) {
      const double closes = (fix["steps_per_s"]["estimate"].get<double>() - now) / size;
      CHECK(fix["closes"].get<double>() == doctest::Approx(std::clamp(closes, 0.0, 1.0)));
    }
  }
  const TemporaryDirectory folder;
  folder.write("a.xplane.pb", read_whole_file(ideal));
  folder.write("b.xplane.pb", read_whole_file(ideal));
  CHECK(pipeline_of(folder.path())["ideal"]["recordings"] == 2);
  CHECK(pipeline_of(folder.path())["ideal"]["gap"] == pipeline["ideal"]["gap"]);
  // Files of one run are hosts: all wait for the slowest.
  folder.write("logs/plugins/profile/run/fast.xplane.pb", read_whole_file(ideal));
  folder.write("logs/plugins/profile/run/slow.xplane.pb", read_whole_file(kTogether));
  const Json hosts = pipeline_of(folder / "logs")["ideal"];
  CHECK(hosts["recordings"] == 1);
  CHECK(hosts["steps_per_s"] == pipeline_of(kTogether)["ideal"]["steps_per_s"]);
  CHECK(has(run_tool({"whatif", "--ideal", kTogether, ideal}).output, "the ideal run is slower than this trace: "));
}

TEST_CASE("the exit status says whether anything could be predicted") {
  const Ended predicted = run_tool({"whatif", kSlow});
  CHECK(predicted.code == 0);
  CHECK(predicted.errors.empty());
  CHECK(has(predicted.output, "parallel_map:Map"));
  const Ended nothing = run_tool({"whatif", kTraces + "no_get_next_tf2.4.xplane.pb"});
  CHECK(nothing.code == 3);
  CHECK(nothing.output == "nothing can be predicted: the trace shows no call of a consumer\n");
  CHECK(run_tool({"whatif", kTraces + "session_timeline_tf2.21.json", "--format", "csv"}).code == 3);
  const TemporaryDirectory folder;
  CHECK(run_tool({"whatif", kSlow, "-o", folder / "page.txt"}).code == 0);
  CHECK(read_whole_file(folder / "page.txt") == predicted.output);
}

TEST_CASE("wrong usage of whatif ends with 2 and says what is right") {
  const auto error_of = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "whatif");
    const Ended ended = run_tool(arguments);
    CHECK(ended.code == 2);
    CHECK(ended.output.empty());
    return ended.errors;
  };
  CHECK(has(error_of({}), "no trace given"));
  CHECK(has(error_of({"--fix", "parallel_mpa", kSlow}), "did you mean 'parallel_map'?"));
  CHECK(has(error_of({"--fix", "cache:Foo", kSlow}), "no iterator of this trace ends in 'Foo'; known: "));
  CHECK(has(error_of({"--fix", "prefetch,q=2", kSlow}), "settings are p=N, p=auto and cycle=N"));
  CHECK(has(error_of({"--consumer", "0", kSlow}), "--consumer: '0' is not a number from 0.001 to 1000"));
  CHECK(has(error_of({"--consumer", "inf", kSlow}), "'inf' is not a number"));
  CHECK(has(error_of({"--min-gain", "0.99", kSlow}), "--min-gain: '0.99' is not a number from 1 to 1000"));
  CHECK(has(error_of({"--cores", "0", kSlow}), "--cores: '0' is not a whole number from 1 to 4096"));
  CHECK(has(error_of({"--format", "sarif", kSlow}), "--format"));
  CHECK(has(error_of({"--ideal", kTraces + "absent", kSlow}), "absent: no such file or directory"));
  CHECK(
      has(error_of({"--ideal", kTraces + "no_get_next_tf2.4.xplane.pb", kSlow}),
          "no_get_next_tf2.4.xplane.pb: the ideal run shows no steps of a consumer, so it measures no ceiling; record "
          "it with 'scripts/record --ideal'"));
  CHECK(has(error_of({"--ideal", kSlow, "--cores", "4", kSlow}), "--ideal: is a ceiling of the machine as it is"));
  const TemporaryDirectory folder;
  const std::string ideal = folder.write("ideal.xplane.pb", read_whole_file(kSlow));
  CHECK(has(error_of({"--ideal", ideal, kSlow, "-o", ideal}), ideal));
}

TEST_CASE("the help of whatif has all kinds of fixes, and the gain that rules ask for") {
  const std::string_view help = find_option(Command::whatif, "fix")->help;
  for (const std::string_view kind : fix_kinds()) CHECK_MESSAGE(help.find(kind) != std::string_view::npos, kind);
  CHECK(std::stod(std::string(find_option(Command::whatif, "min-gain")->default_text)) == kLeastGain);
}

}  // namespace doctor::whatif_page_test
