// What a host does in its steps: input, launches, compiling, output, by the names of its events.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "measure/steps/step_table.h"
#include "profile/profile.h"
#include "written_events.h"

namespace doctor::host_activity_test {
namespace {

const IdSet kNoFunctions;

TEST_CASE("ops of tf.data's functions are no work of the step") {
  WrittenEvents events;
  const EventLine& worker = events.line("/host:CPU", "tf_Compute");
  const EventLine& python = events.line("/host:CPU", "python");
  const EventLine& runner = events.line("/host:CPU", "tf_data_iterator_get_next");
  events.add(worker, "ExecutorState::Process", 0, 100, {{"id", "77"}});
  events.add(worker, "map/MatMul:MatMul", 10, 90);
  events.add(worker, "ExecutorState::Process", 200, 300, {{"id", "5"}});
  events.add(worker, "train/MatMul:MatMul", 210, 290);
  events.add(runner, "InstantiatedCapturedFunction::RunAsync", 5, 6, {{"id", "18446744073709551615"}});
  events.add(runner, "InstantiatedCapturedFunction::RunAsync", 0, 1, {{"id", "77"}});
  events.add(python, "IteratorGetNext:IteratorGetNext", 400, 500);
  events.add(python, "inside/Cast:Cast", 410, 420);
  events.add(python, "tf.function-graph_building", 600, 700);
  events.add(python, "train_function", 600, 800);
  events.add(python, "train 3", 600, 800, {{"step_num", "3"}, {"step_name", "train 3"}});
  events.add(python, "FunctionRun", 1000, 1100, {{"step_name", "0"}});
  events.add(python, "train/MatMul:MatMul", 900, 910, {{"correlation_id", "4"}});
  IdSet tf_data_functions;
  tf_data_functions.insert(77);
  HostActivityBuilder builder(tf_data_functions);
  events.feed(builder);
  const HostActivity activity = builder.finish();
  CHECK(activity.compute == std::vector<Interval>{{200, 300}});
  CHECK(activity.compile == std::vector<Interval>{{600, 700}});
  CHECK(activity.launch == std::vector<Interval>{{900, 910}});
  CHECK(activity.steps == std::vector<HostStep>{{{600, 800}, {}, {}}, {{600, 800}, 3, {}}, {{1000, 1100}, {}, {}}});
}

TEST_CASE("what tf.data and its pools write is no step, whatever it carries, and most of it need not be looked at") {
  WrittenEvents events;
  const EventLine& line = events.line("/host:CPU", "main");
  events.add(line, "Iterator::Root::Map", 0, 10, {{"step_num", "1"}, {"correlation_id", "2"}});
  events.add(line, "ThreadpoolListener::Record", 20, 30, {{"step_name", "1"}});
  events.add(line, "InstantiatedCapturedFunction::Run", 40, 50, {{"step_num", "3"}, {"id", "4"}});
  events.add(line, "my Iterator::", 60, 70, {{"step_num", "5"}});
  HostActivityBuilder builder(kNoFunctions);
  events.feed(builder);
  const auto is_marked = [&](std::string_view name) {
    return (builder.use_of(name).arguments & EventSink::kMarks) != 0;
  };
  CHECK(builder.use_of("Iterator::Root::Map").arguments == 0);
  CHECK(builder.use_of("Iterator::Root::Map").is_taken);
  for (const char* const name :
       {"ThreadpoolListener::Record", "ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion"}) {
    CHECK(builder.use_of(name).arguments == 0);
    CHECK_FALSE(builder.use_of(name).is_taken);
  }
  CHECK_FALSE(is_marked("InstantiatedCapturedFunction::Run"));
  for (const char* const name : {"train", "ExecutorState::Process", "FunctionRun", "ParallelMapProduce", "a:Cast"}) {
    CHECK(is_marked(name));
  }
  const HostActivity activity = builder.finish();
  CHECK(activity.steps == std::vector<HostStep>{{{60, 70}, 5, {}}});
  CHECK(activity.launch.empty());
}

TEST_CASE("a host with a device launches in runs of the executor, but for ops on the CPU") {
  WrittenEvents events;
  const EventLine& worker = events.line("/host:CPU", "tf_Compute");
  events.add(worker, "ExecutorState::Process", 0, 100, {{"id", "5"}});
  events.add(worker, "LaunchKernel", 10, 12, {{"correlation_id", "1"}});
  events.add(worker, "cond/Py:EagerPyFunc", 20, 50);
  events.add(worker, "Send:_Send", 60, 70);
  events.add(worker, "MemcpyH2D", 61, 69, {{"correlation_id", "2"}});
  events.add(worker, "f:StatefulPartitionedCall", 200, 300);
  events.add(worker, "ExecutorState::Process", 205, 295, {{"id", "6"}});
  events.add(worker, "LaunchKernel", 210, 212, {{"correlation_id", "3"}});
  events.add(worker, "f/Sort:Sort", 220, 240);
  events.add(worker, "alone/Sort:Sort", 400, 410);
  for (const bool has_device : {true, false}) {
    HostActivityBuilder builder(kNoFunctions);
    EventHeader header;
    if (has_device) header.devices.emplace_back("/device:GPU:0");
    builder.begin(header);
    events.feed(builder);
    const HostActivity activity = builder.finish();
    using Row = std::vector<Interval>;
    CHECK(activity.launch ==
          (has_device ? Row{{0, 20}, {50, 100}, {200, 220}, {240, 300}} : Row{{10, 12}, {61, 69}, {210, 212}}));
    CHECK(activity.compute ==
          (has_device ? Row{{20, 50}, {220, 240}, {400, 410}} : Row{{0, 100}, {200, 300}, {400, 410}}));
  }
}

TEST_CASE("what JAX prepares for its copies to a GPU is input of the step") {
  WrittenEvents events;
  const EventLine& runner = events.line("/host:CPU", "pjrt_async_work_runner");
  const EventLine& python = events.line("/host:CPU", "python");
  events.add(runner, "H2D Dispatch", 10, 60);
  events.add(runner, "Transpose::Execute", 20, 50);
  events.add(runner, "H2D Dispatch", 160, 210);
  for (int step = 0; step < 4; ++step) {
    events.add(python, "train", step * 150, (step + 1) * 150, {{"step_num", std::to_string(step)}});
  }
  for (const std::string device : {"/device:GPU:0", "/device:TPU:0"}) {
    CAPTURE(device);
    HostActivityBuilder builder(kNoFunctions);
    EventHeader header;
    header.devices = {device};
    builder.begin(header);
    events.feed(builder);
    HostMeasurement host;
    host.devices = {device};
    host.profile.emplace().host = builder.finish();
    for (int step = 0; step < 4; ++step) host.step_markers.push_back({step * 150, 150, step});
    const bool is_gpu = device == "/device:GPU:0";
    CHECK(host.profile->host.staging ==
          (is_gpu ? std::vector<Interval>{{10, 60}, {160, 210}} : std::vector<Interval>{}));
    const StepTable table = measure_steps(host);
    REQUIRE(table.steps.size() == 4);
    CHECK(table.steps[0][StepPart::input] == (is_gpu ? 50 : 0));
    CHECK(table.steps[0][StepPart::other] == (is_gpu ? 100 : 150));
  }
}

TEST_CASE("what traces functions, compiles and writes output, by the names of events") {
  WrittenEvents events;
  const EventLine& python = events.line("/host:CPU", "python");
  const EventLine& other = events.line("/host:CPU", "other");
  events.add(python, "train_step", 0, 100, {{"tf_function_call", "traced-nonXla"}, {"tracing_count", "3"}});
  events.add(python, "tf.function-graph_building", 10, 60);
  events.add(python, "inner", 20, 50, {{"tf_function_call", "traced-nonXla"}, {"tracing_count", "1"}});
  events.add(python, "tf.function-graph_building", 25, 45);
  events.add(python, "train_step", 200, 300, {{"tf_function_call", "notTraced-nonXla"}, {"tracing_count", "3"}});
  events.add(python, "GpuCompiler::RunBackend", 220, 280);
  events.add(other, "tf.function-graph_building", 30, 70);
  events.add(python, "EagerLocalExecute: SaveV2", 400, 450);
  events.add(python, "EagerLocalExecute: MatMul", 460, 470);
  events.add(other, "summary/WriteScalarSummary:WriteScalarSummary", 440, 480);
  HostActivityBuilder builder(kNoFunctions);
  events.feed(builder);
  const HostActivity activity = builder.finish();
  CHECK(activity.tracings == std::vector<FunctionTracing>{{{10, 60}, "train_step", 3}, {{30, 70}, "", std::nullopt}});
  CHECK(activity.xla == std::vector<Interval>{{220, 280}});
  CHECK(activity.compile == std::vector<Interval>{{10, 70}, {220, 280}});
  CHECK(activity.output == std::vector<Interval>{{400, 480}});
}

}  // namespace
}  // namespace doctor::host_activity_test
