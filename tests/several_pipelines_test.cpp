// Several pipelines of one host: made anew for each epoch, replicas, and host pipelines that feed devices.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "built_paths.h"
#include "diagnose/diagnose.h"
#include "io/byte_source.h"
#include "measure/measure.h"
#include "measure/waits/critical_path.h"
#include "report/report.h"
#include "shown_page.h"
#include "synthetic_trace.h"
#include "trace/format.h"
#include "tree/iterator_forest.h"
#include "tree/tree_passes.h"
#include "unwrapped.h"

namespace doctor::several_pipelines_test {
namespace {

using Json = nlohmann::ordered_json;

/// Calls of a pipeline Root > Prefetch > Map, whose ids begin at `first_id`, one every 10 ms.
void add_epoch(SyntheticTrace& trace, std::uint64_t first_id, double start_us, int calls, double wait_us,
               const std::string& source = "Map") {
  for (int call = 0; call < calls; ++call) {
    const double start = start_us + call * 10'000;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, wait_us);
    trace.iterator("main", "Iterator::Root", first_id, 0, start + 1, wait_us - 2);
    trace.iterator("main", "Iterator::Root::Prefetch", first_id + 1, first_id, start + 2, wait_us - 4);
    trace.iterator("worker", "Iterator::Root::Prefetch::" + source, first_id + 2, first_id + 1, start + 3, wait_us - 6);
  }
}

/// Makes a pipeline Root > Prefetch > Map of these ids and asks it for elements, one every 10 ms; returns when it is
/// done.
double add_life(SyntheticTrace& trace, std::array<std::uint64_t, 3> ids, double start_us, int calls,
                const std::string& source = "Map") {
  trace.add("main", "MakeIterator::RootDataset", start_us, 500);
  trace.add("main", "MakeIterator::" + source + "Dataset", start_us + 10, 300);
  const double first = start_us + 1'000;
  for (int call = 0; call < calls; ++call) {
    const double start = first + call * 10'000;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, 4'000);
    trace.iterator("main", "Iterator::Root", ids[0], 0, start + 1, 3'998);
    trace.iterator("main", "Iterator::Root::Prefetch", ids[1], ids[0], start + 2, 3'996);
    trace.iterator("worker", "Iterator::Root::Prefetch::" + source, ids[2], ids[1], start + 3, 3'994);
  }
  return first + calls * 10'000;
}

HostMeasurement measured(const SyntheticTrace& written) {
  const Trace trace = written.to_trace();
  return measure(trace, build_tree(trace));
}

struct Written {
  Json page;
  std::string text;
  std::string tree;
};

Written report_on(HostMeasurement host) {
  Measurements measurements;
  measurements.hosts.push_back(std::move(host));
  const Diagnosis diagnosis = diagnose(measurements, {}, {});
  return {Json::parse(render_json(measurements, diagnosis)),
          render_text(measurements, diagnosis, {.detail = Detail::full}),
          page_text(kTreePage, measurements, diagnosis)};
}

}  // namespace

TEST_CASE("a pipeline that is made anew for each epoch is one pipeline") {
  SyntheticTrace trace;
  // Epochs of 10 calls of 4 ms in 10 ms; between them 5 s of something else.
  for (int epoch = 0; epoch < 3; ++epoch) {
    add_epoch(trace, 100 + 10 * static_cast<std::uint64_t>(epoch), epoch * 5'000'000.0, 10, 4'000);
  }
  const HostMeasurement host = measured(trace);
  REQUIRE(host.pipelines.size() == 1);
  const PipelineMeasurement& pipeline = host.pipelines[0];
  CHECK(pipeline.calls.size() == 30);
  CHECK(pipeline.iteration_starts == std::vector<std::size_t>{10, 20});
  CHECK(pipeline.cadence.share == doctest::Approx(0.4));
  CHECK(host.unattributed == 0);
  REQUIRE(host.iterators.size() == 3);
  CHECK(host.iterators[0].instances == 3);
  CHECK(host.iterators[pipeline.steady.culprit].short_name == "Map");
  CHECK(pipeline.steady.critical[pipeline.steady.culprit] >= 30 * 3'990 * kPicosecondsPerMicrosecond);
}

TEST_CASE("pipelines that differ or run at the same time stay apart") {
  SyntheticTrace other;
  add_epoch(other, 100, 0, 10, 4'000);
  add_epoch(other, 200, 5'000'000, 10, 4'000, "ParallelMapV2");
  CHECK(measured(other).pipelines.size() == 2);
  SyntheticTrace replicas;
  add_epoch(replicas, 100, 0, 10, 2'000);
  add_epoch(replicas, 200, 5'000, 10, 2'000);
  CHECK(measured(replicas).pipelines.size() == 2);
  // Two that are made before either is asked, as for the two networks of a GAN.
  SyntheticTrace in_turn;
  add_life(in_turn, {1, 11, 21}, 0, 10);
  add_life(in_turn, {2, 12, 22}, 5'500, 10);
  CHECK(measured(in_turn).pipelines.size() == 2);
  // Replicas of which the window shows a call each seem to run one after the other.
  SyntheticTrace cut;
  add_epoch(cut, 100, 0, 1, 2'000);
  add_epoch(cut, 200, 5'000, 1, 2'000);
  CHECK(measured(cut).pipelines.size() == 2);
}

TEST_CASE("pipelines that different lines made stay apart") {
  const auto pipelines = [](const std::string& first_name, const std::string& second_name) {
    SyntheticTrace trace;
    add_epoch(trace, 100, 0, 10, 4'000);
    const std::size_t count = trace.events.size();
    add_epoch(trace, 200, 5'000'000, 10, 4'000);
    for (std::size_t index = 0; index < trace.events.size(); ++index) {
      SyntheticTrace::Event& event = trace.events[index];
      if (event.name.starts_with("Iterator::")) event.texts["name"] = index < count ? first_name : second_name;
    }
    return measured(trace).pipelines.size();
  };
  CHECK(pipelines("at_input_py_L3_map", "at_input_py_L3_map") == 1);
  CHECK(pipelines("at_input_py_L3_map", "at_input_py_L9_map") == 2);
  CHECK(pipelines("fused(at_a_py_L3_map,at_a_py_L4_batch)", "fused(at_a_py_L8_map,at_a_py_L9_batch)") == 2);
  CHECK(pipelines("train", "train") == 1);
}

TEST_CASE("which pipelines are iterated anew") {
  const auto found = [](const std::vector<PipelineLife>& lives) {
    std::string text;
    for (const Iteration& iteration : find_recreated_pipelines(lives)) {
      text += fmt::format("{}#{} ", iteration.pipeline, iteration.number);
    }
    return text;
  };
  // A life with two calls of its root or more, whose making the window does not show.
  const auto life = [](Picoseconds from, Picoseconds to, Picoseconds all_to = 0) {
    PipelineLife result;
    result.root_calls = 2;
    result.roots = {from, to};
    result.all = {from, std::max(to, all_to)};
    result.names = {"Iterator::Root", "Iterator::Root::Map"};
    return result;
  };
  const auto made = [&](Picoseconds at, Picoseconds from, Picoseconds to, std::string_view dataset = {}) {
    PipelineLife result = life(from, to, to + 1000);  // its threads go on for long
    result.root_calls = 1;
    result.making = PipelineMaking{{at, at + 1}, {}, 7};
    result.dataset = dataset;
    return result;
  };
  CHECK(found({}).empty());
  CHECK(found({life(0, 10), life(20, 30), life(40, 50)}) == "0#0 0#1 0#2 ");
  // Two replicas, both made anew.
  CHECK(found({life(0, 10), life(1, 11), life(20, 30), life(21, 31)}) == "0#0 1#0 0#1 1#1 ");
  CHECK(found({life(0, 10), life(10, 30)}) == "0#0 1#0 ");
  // The background work counts as well.
  CHECK(found({life(0, 10, 25), life(20, 30)}) == "0#0 1#0 ");
  CHECK(found({life(0, 10, 12), life(20, 30)}) == "0#0 0#1 ");
  PipelineLife other = life(20, 30);
  other.names.emplace_back("Iterator::Root::Map::Range");
  CHECK(found({life(0, 10), other}) == "0#0 1#0 ");

  // With makings one call is enough, and the last elements of the life before may still be in the making.
  CHECK(found({made(0, 2, 2), made(3, 5, 5), made(6, 8, 8)}) == "0#0 0#1 0#2 ");
  // Replicas are made first and asked then, in every epoch.
  CHECK(found({made(0, 5, 15), made(2, 6, 16), made(20, 25, 35), made(22, 26, 36)}) == "0#0 1#0 0#1 1#1 ");
  // The first epoch was made before the window.
  CHECK(found({life(0, 10), made(12, 14, 20), made(22, 24, 30)}) == "0#0 0#1 0#2 ");
  PipelineLife different = made(3, 5, 5);
  different.making->structure = 8;
  CHECK(found({made(0, 2, 2), different}) == "0#0 1#0 ");
  // A cut life shows fewer iterators; other inputs of one transformation are another pipeline.
  PipelineLife cut = made(3, 5, 5);
  cut.names = {"Iterator::Root"};
  CHECK(found({made(0, 2, 2), cut}) == "0#0 0#1 ");
  PipelineLife input = made(3, 5, 5);
  input.names = {"Iterator::Root", "Iterator::Root::Shuffle"};
  CHECK(found({made(0, 2, 2), input}) == "0#0 1#0 ");
  // Training and validation alike: the nodes of their datasets come again.
  CHECK(found({made(0, 2, 5, "Map:1"), made(6, 8, 9, "Map:4"), made(10, 12, 15, "Map:1"), made(16, 18, 19, "Map:4")}) ==
        "0#0 1#0 0#1 1#1 ");
  CHECK(found({made(0, 2, 5, "Map:1"), made(6, 8, 9, "Map:4")}) == "0#0 1#0 ");
  // A dataset that is built anew for each epoch has new nodes each time.
  CHECK(found({made(0, 2, 5, "Map:1"), made(6, 8, 9, "Map:4"), made(10, 12, 15, "Map:7")}) == "0#0 0#1 0#2 ");
}

TEST_CASE("ids that come again in later epochs are other iterators") {
  SyntheticTrace trace;
  double now = add_life(trace, {1, 11, 21}, 0, 3);
  now = add_life(trace, {2, 12, 22}, now, 3);
  now = add_life(trace, {1, 12, 23}, now, 3);  // the root's id with another input
  now = add_life(trace, {1, 12, 23}, now, 3);  // all ids
  add_life(trace, {3, 11, 21}, now, 3);        // below another root
  const Trace read = trace.to_trace();
  CHECK(read.makings.size() == 5);
  CHECK(read.instances.size() == 15);
  for (const IteratorInstance& instance : read.instances) {
    CHECK(instance.event_count == 3);
    CHECK((instance.making != kNoMaking) == !instance.parent_id.has_value());
  }
  const HostMeasurement host = measure(read, build_tree(read));
  REQUIRE(host.pipelines.size() == 1);
  CHECK(host.pipelines[0].calls.size() == 15);
  CHECK(host.pipelines[0].iteration_starts == std::vector<std::size_t>{3, 6, 9, 12});
  CHECK(host.iterators.size() == 3);
}

TEST_CASE("what the threads of a pipeline make is no other pipeline") {
  for (const char* const thread : {"tf_data_iterator_resource/1", "tf_data_private_threadpool/2", "tf_data_prefetch/3",
                                   "tf_data_parallel_map/4", "tf_data_map_and_batch/5"}) {
    SyntheticTrace trace;
    add_life(trace, {1, 11, 21}, 0, 3);
    trace.add(thread, "MakeIterator::TensorSliceDataset", 2'000, 100);
    CHECK(trace.to_trace().makings.size() == 1);
  }
}

TEST_CASE("ids of one pipeline that come again in another") {
  SyntheticTrace trace;
  double now = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    now = add_life(trace, {1, 11, 21}, now, 3);
    now = add_life(trace, {1, 12, 21}, now, 2, "Shuffle");
  }
  const HostMeasurement host = measured(trace);
  REQUIRE(host.pipelines.size() == 2);
  CHECK(host.pipelines[0].calls.size() == 9);
  CHECK(host.pipelines[0].iteration_starts == std::vector<std::size_t>{3, 6});
  CHECK(host.pipelines[1].calls.size() == 6);
  CHECK(host.pipelines[1].fed_by.empty());
  for (const IteratorMeasurement& iterator : host.iterators) {
    if (iterator.short_name == "Shuffle") CHECK(iterator.calls == 6);
    if (iterator.short_name == "Map") CHECK(iterator.calls == 9);
  }
}

TEST_CASE("a pipeline that is made while another goes on is no new life of that") {
  SyntheticTrace trace;
  add_life(trace, {1, 11, 21}, 0, 20);
  add_life(trace, {2, 12, 22}, 55'000, 2, "Shuffle");
  add_life(trace, {2, 12, 22}, 135'000, 2, "Shuffle");
  const HostMeasurement host = measured(trace);
  REQUIRE(host.pipelines.size() == 2);
  CHECK(host.pipelines[0].calls.size() == 20);
  CHECK(host.pipelines[0].iteration_starts.empty());
  CHECK(host.pipelines[1].iteration_starts == std::vector<std::size_t>{2});
}

TEST_CASE("a pipeline that is made anew for every step") {
  SyntheticTrace trace;
  double now = 0;
  // 0.5 ms to make, 4 ms to the element, then 5.5 ms of something else; the ids come again in turn.
  for (std::uint64_t step = 0; step < 6; ++step) {
    // It takes 2 ms until the threads of the last one have ended; tensors are let go of in no time.
    if (step > 0) trace.add("main", "TFE_DeleteTensorHandle", now - 5'000, 2'000);
    if (step > 0) trace.add("main", "TFE_DeleteTensorHandle", now - 2'000, 20);
    now = add_life(trace, {1 + step % 2, 11, 21}, now, 1);
  }
  const HostMeasurement host = measured(trace);
  REQUIRE(host.pipelines.size() == 1);
  const PipelineMeasurement& pipeline = host.pipelines[0];
  CHECK(pipeline.calls.size() == 6);
  REQUIRE(pipeline.remade.has_value());
  CHECK(pipeline.remade->times == 6);
  CHECK(pipeline.remade->making == 6 * 500 * kPicosecondsPerMicrosecond);
  CHECK(pipeline.remade->first_calls == 6 * 4'000 * kPicosecondsPerMicrosecond);
  CHECK(pipeline.remade->releasing == 5 * 2'000 * kPicosecondsPerMicrosecond);
  CHECK(pipeline.remade->share() == doctest::Approx(37.0 / 60).epsilon(0.01));
  // What passes until the next is made belongs to the step.
  CHECK(pipeline.iteration_starts.empty());
  // Of 11 ms, for six steps: GetNext, and for five that have a next one what ends one pipeline and makes the other.
  CHECK(pipeline.cadence.share == doctest::Approx((6 * 4.0 + 5 * 2.5) / 66).epsilon(0.01));
  CHECK(pipeline.total == 6 * 4'000 * kPicosecondsPerMicrosecond);
  // So much of each gap of the consumer goes with its iterator.
  REQUIRE(host.cycles.consumers.size() == 1);
  REQUIRE(host.cycles.consumers[0].steps.size() == 6);
  for (std::size_t step = 0; step < 5; ++step) {
    CHECK(host.cycles.consumers[0].steps[step].remaking == doctest::Approx(500 + 2'000));
  }
  SyntheticTrace epochs;
  now = 0;
  for (std::uint64_t epoch = 0; epoch < 6; ++epoch) now = add_life(epochs, {1 + epoch % 2, 11, 21}, now, 3);
  CHECK_FALSE(measured(epochs).pipelines[0].remade.has_value());
}

TEST_CASE("a pipeline that was made three times was made anew for every step, one made twice may be two epochs") {
  for (const std::uint64_t times : {2u, 3u}) {
    CAPTURE(times);
    SyntheticTrace trace;
    double now = 0;
    for (std::uint64_t life = 0; life < times; ++life) now = add_life(trace, {1 + life % 2, 11, 21}, now, 1);
    const HostMeasurement host = measured(trace);
    REQUIRE(host.pipelines.size() == 1);
    CHECK(host.pipelines[0].remade.has_value() == (times == 3));
    CHECK(host.pipelines[0].iteration_starts.size() == (times == 3 ? 0 : 1));
  }
}

TEST_CASE("no call waits for background work of another epoch") {
  SyntheticTrace trace;
  const double second = add_life(trace, {1, 11, 21}, 0, 3);
  add_life(trace, {2, 11, 22}, second, 3);
  // The first epoch's thread still makes an element that nobody will take; the second epoch's wait is for its own.
  trace.iterator("old worker", "Iterator::Root::Prefetch::Map", 21, 11, second - 4'000, 100'000);
  const Trace read = trace.to_trace();
  const IteratorForest forest = build_tree(read);
  REQUIRE(forest.root_calls.size() == 6);
  const CriticalPath path(read, forest, op_kinds_of(read.strings));
  CriticalPath::Walker walker(path);
  for (const RootCall& call : forest.root_calls) {
    for (const Segment& segment : walker.attribute(call)) {
      CHECK(read.strings[read.lanes[segment.lane].name] != "old worker");
    }
  }
}

TEST_CASE("a loop over a dataset inside of an op has consumer's calls") {
  SyntheticTrace trace;
  // Dataset.reduce(): the op asks for elements itself.
  trace.add("main", "ReduceDatasetOp::DoCompute", 0, 50'000);
  for (int call = 0; call < 4; ++call) {
    trace.iterator("main", "ReduceIterator::Root", 1, 0, 1'000 + call * 10'000, 4'000);
    trace.iterator("main", "ReduceIterator::Root::Map", 2, 1, 1'001 + call * 10'000, 3'990);
  }
  const HostMeasurement reduce = measured(trace);
  REQUIRE(reduce.pipelines.size() == 1);
  CHECK(reduce.pipelines[0].calls.size() == 4);
  CHECK(reduce.pipelines[0].cadence.share == doctest::Approx(0.4));

  // `for x in dataset` in a tf.function: the body of the loop is the function of a Scan.
  SyntheticTrace loop;
  loop.add("main", "ReduceDatasetOp::DoCompute", 0, 50'000);
  for (int call = 0; call < 4; ++call) {
    const double start = 1'000 + call * 10'000;
    loop.iterator("main", "ReduceIterator::Root", 1, 0, start, 9'000);
    loop.iterator("main", "ReduceIterator::Root::Prefetch", 2, 1, start + 1, 8'990);
    loop.iterator("worker", "ReduceIterator::Root::Prefetch::Scan", 3, 2, start + 2, 8'980);
    loop.iterator("worker", "ReduceIterator::Root::Prefetch::Scan::Map", 4, 3, start + 3, 2'000);
  }
  const HostMeasurement host = measured(loop);
  REQUIRE(host.pipelines.size() == 1);
  CHECK(host.iterators[host.pipelines[0].root].short_name == "Map");
  CHECK(host.pipelines[0].calls.size() == 4);
  CHECK(host.pipelines[0].cadence.share == doctest::Approx(0.2));
}

TEST_CASE("a device pipeline names the host pipeline that feeds it") {
  const auto source = open_source(source_dir() + "/testdata/traces/two_replicas_tf2.4.trace.json.gz");
  REQUIRE(source);
  const Result<Trace> trace = read_trace(**source);
  REQUIRE(trace);
  const HostMeasurement host = measure(*trace, build_tree(*trace));
  REQUIRE(host.pipelines.size() == 2);
  REQUIRE(host.pipelines[0].fed_by.size() == 1);
  const IteratorId root = host.pipelines[0].fed_by[0];
  CHECK(host.pipelines[1].fed_by == std::vector<IteratorId>{root});
  CHECK(host.iterators[root].parent == kNoIterator);
  const std::string id = fmt::format("0:{}", index_of(root));
  const Written report = report_on(host);
  CHECK(report.page["pipelines"][0]["kind"] == "device");
  CHECK(report.page["pipelines"][0]["fed_by"] == Json::array({id}));
  const std::string own = report.page["pipelines"][0]["id"];
  CHECK(own != id);
  CHECK(unwrapped(report.text)
            .find(fmt::format(" Input device pipeline {} gets its elements from host pipeline {} ", own, id)) !=
        std::string::npos);
  CHECK(report.tree.find(fmt::format("pipeline {} (device, fed by {}) on", own, id)) != std::string::npos);
}

TEST_CASE("pipelines are ranked by what they cost") {
  SyntheticTrace trace;
  add_epoch(trace, 100, 0, 10, 4'000);
  add_epoch(trace, 200, 100'000, 10, 3'000, "ParallelMapV2");
  const Written report = report_on(measured(trace));
  CHECK(report.page["pipelines"][0]["fed_by"] == Json::array());
  CHECK(unwrapped(report.text)
            .find(" First pipeline 0:0: 40.0 ms waited in all (21% of the window), input-bound "
                  "Others pipeline 0:3: 30.0 ms waited in all (16% of the window), 30% of the time in") !=
        std::string::npos);
  SyntheticTrace alone;
  add_epoch(alone, 100, 0, 10, 4'000);
  CHECK(report_on(measured(alone)).text.find("  First ") == std::string::npos);
}

}  // namespace doctor::several_pipelines_test
