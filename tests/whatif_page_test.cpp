// `whatif`: its pages of predictions written by hand, and the command on recorded traces.

#include "report/whatif_page.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "measured_pipeline.h"
#include "predicted_page.h"
#include "run_tool.h"

namespace doctor::whatif_page_test {
namespace {

TEST_CASE("rate, ceiling, fixes by number, what they depend on and what gains nothing") {
  Predicted predicted;
  predicted.host().fixes = {brings({kCache}, 40, {}, Condition::fits_in_memory),
                            brings({kParallelMap}, 20, {Resource::cores, 2}), brings({kPrefetch}, 10.1)};
  predicted.host().together = {brings({kParallelMap, kPrefetch}, 25, {Resource::pool, 2})};
  CHECK(predicted.text() ==
        R"(9 steps/s now (traced; 10 without the cost of tracing), limited by Dataset.map: one thread
40 steps/s (36 to 44) if data were always ready: 4.00x

     fix                                   gain                    steps/s            then limited by                     --fix
  1  .cache() after Dataset.map            4.00x (3.60x to 4.40x)  40 (36 to 44)      your model                          cache:Map
  2  .map(f, num_parallel_calls=AUTOTUNE)  2.00x (1.80x to 2.20x)  20 (18 to 22)      Dataset.map: both cores             parallel_map:Map
  3  2 + prefetch together                 2.50x (2.25x to 2.75x)  25 (22.5 to 27.5)  Dataset.map: the pool of 2 threads  parallel_map:Map --fix prefetch
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
  CHECK(has(render_whatif_text(view, {}), "no fix gains 2.5x or more: parallel_map:Map,p=1 parallel_map:Map,p=2"));
}

TEST_CASE("what the model does not reproduce, and what recording distorted, is said") {
  Predicted predicted;
  CHECK_FALSE(has(predicted.text(), "caution"));
  predicted.host().is_reliable = false;
  predicted.host().fit = 1.5;
  CHECK(has(predicted.text(),
            "caution: the model does not run quite as fast as the trace (model 13.5, measured 9 steps/s)"));
  CHECK(has(render_whatif_markdown(predicted.view()), "the ranges are wider for it"));
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
  CHECK(limit({Resource::calls, 1}) == "Dataset.map: its 3 parallel calls\n");
  CHECK(limit({Resource::pool, 1}) == "Dataset.map: the pool of 2 threads\n");
  CHECK(limit({Resource::python, 1}) == "Dataset.map: Python's lock\n");
  CHECK(limit({Resource::cores, 1}) == "Dataset.map: both cores\n");
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
    return page.substr(begin, page.find("  2.00x") - begin);
  };
  const IteratorId map{2};
  CHECK(words({FixKind::parallel_map, map, {}, {}}) == ".map(f, num_parallel_calls=AUTOTUNE) for your 2nd map");
  CHECK(words({FixKind::prefetch_below, map, {}, {}}) == ".prefetch(AUTOTUNE) before your 2nd map");
  CHECK(words({FixKind::vectorize, map, {}, {}}) == ".batch(n) before your 2nd map");
  CHECK(words({FixKind::cache, map, {}, {}}) == ".cache() after your 2nd map");
  CHECK(words({FixKind::unordered, map, {}, {}}) == "deterministic=False of your 2nd map");
  CHECK(words({FixKind::filter_first, IteratorId{3}, {}, {}}) == ".filter(f) before the map below it");
  CHECK(words({FixKind::parallel_interleave, IteratorId{5}, 4, 8}) ==
        ".interleave(f, cycle_length=8, num_parallel_calls=4) instead of Dataset.flat_map");
  CHECK(words({FixKind::parallel_batch, IteratorId{1}, 4, {}}) == ".batch(n, num_parallel_calls=4)");
  CHECK(words({FixKind::threadpool, kNoIterator, 4, {}}) == "private_threadpool_size=4");
  CHECK(words({FixKind::free, map, {}, {}}) == "at most: no work in your 2nd map");
  CHECK(words({FixKind::none, kNoIterator, {}, {}}) == "no change");
}

TEST_CASE("a plan says what is enough, or what is missing") {
  Predicted predicted;
  FixPlan& plan = predicted.host().plan.emplace();
  predicted.host().fixes = {brings({kCache}, 40)};
  const auto has_line = [&](const std::string& line) { return has("\n" + predicted.text(), "\n" + line + "\n"); };
  plan.is_enough = true;
  CHECK(has_line("plan: your model waits less than 5% of the time for its input: nothing to do"));
  CHECK_FALSE(has(predicted.text(), "cache"));
  plan.steps = {brings({kParallelMap}, 20), brings({kParallelMap, kPrefetch}, 25, {Resource::calls, 2})};
  CHECK(has(predicted.text(), "\n  1  .map(f, num_parallel_calls=AUTOTUNE)"));
  CHECK(has(predicted.text(), "\n  2  .prefetch(AUTOTUNE) at the end"));
  CHECK(has_line("with all of them your model waits less than 5% of the time for its input"));
  plan.is_enough = false;
  plan.enough_cores = 16;
  CHECK(has_line("that is not enough: with 16 cores as well, your model waits less than 5% of the time for its input"));
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

}  // namespace
}  // namespace doctor::whatif_page_test
