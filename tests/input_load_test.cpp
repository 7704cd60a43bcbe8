// What the input takes from the training, and which functions draw random numbers.

#include <doctest/doctest.h>

#include "measure/functions/function_types.h"
#include "measure/measure.h"
#include "measure/measure_passes.h"
#include "measure/measurements.h"
#include "synthetic_trace.h"
#include "tree/iterator_forest.h"

namespace doctor::input_load_test {
namespace {

constexpr double kStep = 1000;

/// Root > Prefetch > Map(f) > Range: f runs `op` for a half of each step on another thread, the model its own on
/// "pool".
SyntheticTrace busy_input(const std::string& op, int calls = 10, const std::string& op_of_model = "MatMul") {
  SyntheticTrace trace;
  for (int call = 0; call < calls; ++call) {
    const double start = kStep + call * kStep;
    const auto id = static_cast<std::uint64_t>(call) + 1;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, 10);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, 8).numbers["cpu_budget"] = 2;
    trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, start + 2, 6);
    trace.iterator("worker", "Iterator::Root::Prefetch::Map", 3, 2, start + 100, 520);
    trace.iterator("worker", "Iterator::Root::Prefetch::Map::Range", 4, 3, start + 100, 10);
    trace.add("worker", "InstantiatedCapturedFunction::Run", start + 110, 510).ids["id"] = id;
    trace.add("runner", "ExecutorState::Process", start + 110, 800).ids["id"] = id;
    trace.add("runner", "f/PartitionedCall:PartitionedCall", start + 111, 790);  // what it contains counts, not itself
    trace.add("runner", "f/" + op + ":" + op, start + 112, 500);
    trace.add("pool", "ExecutorState::Process", start + 20, 960).ids["id"] = 1000 + id;
    trace.add("pool", "model/" + op_of_model + ":" + op_of_model, start + 20, 950);
  }
  return trace;
}

HostMeasurement measured(const SyntheticTrace& written) {
  const Trace trace = written.to_trace();
  return measure(trace, build_tree(trace));
}

TEST_CASE("what the input keeps busy, apart from the model") {
  const HostMeasurement host = measured(busy_input("DecodeJpeg"));
  REQUIRE(host.pipelines.size() == 1);
  REQUIRE(host.pipelines[0].input_load.has_value());
  const InputLoad& load = *host.pipelines[0].input_load;
  CHECK(load.span.end - load.span.start == 9 * static_cast<Picoseconds>(kStep) * kPicosecondsPerMicrosecond);
  // The op, 10 us of Range, and what the root does beside the prefetch, which waits.
  CHECK(load.cores() == doctest::Approx(0.512).epsilon(0.01));
  CHECK(load.busy_threads == doctest::Approx(0.512 + 0.95).epsilon(0.01));
  CHECK(load.python_share() == 0);
}

TEST_CASE("an iterator's own work beside an op on its thread counts once") {
  SyntheticTrace inside = busy_input("DecodeJpeg");
  for (int call = 0; call < 10; ++call) {
    const double start = kStep + call * kStep;
    inside.iterator("runner", "Iterator::Root::Prefetch::Map::Range", 4, 3, start + 200, 10);  // within DecodeJpeg
  }
  const double without = measured(busy_input("DecodeJpeg")).pipelines.at(0).input_load.value().cores();
  CHECK(measured(inside).pipelines.at(0).input_load.value().cores() == doctest::Approx(without).epsilon(0.001));
}

TEST_CASE("Python of the input is told apart: it may sleep") {
  const HostMeasurement host = measured(busy_input("EagerPyFunc"));
  REQUIRE(host.pipelines[0].input_load.has_value());
  CHECK(host.pipelines[0].input_load->python_share() == doctest::Approx(0.5));
  CHECK(host.pipelines[0].input_load->cores() < 0.02);
}

TEST_CASE("a step that waits in Python keeps no core busy") {
  const auto second_step = [](const std::string& op_of_model) {
    return measured(busy_input("DecodeJpeg", 10, op_of_model)).cycles.consumers.at(0).steps.at(1);
  };
  CHECK(second_step("MatMul").busy == doctest::Approx(960));
  CHECK(second_step("PyFunc").busy == doctest::Approx(10));
}

/// GetNext on a thread of its own, as in a function with a loop, while the step before runs `op` for 600 us of the 800
/// that its executor takes.
SyntheticTrace loop_in_function(const std::string& op) {
  SyntheticTrace trace;
  for (int call = 0; call < 10; ++call) {
    const double start = kStep + call * kStep;
    const std::string thread = "tf_data_iterator_get_next/1";
    trace.add(thread, "IteratorGetNextOp::DoCompute", start, 900);
    trace.iterator(thread, "Iterator::Root", 1, 0, start + 1, 890).numbers["cpu_budget"] = 2;
    trace.iterator(thread, "Iterator::Root::Prefetch", 2, 1, start + 2, 880);
    trace.add("pool", "ExecutorState::Process", start + 50, 800).ids["id"] = static_cast<std::uint64_t>(call) + 1;
    trace.add("pool", "step/MatMul:MatMul", start + 50, 100);
    trace.add("pool", "step/" + op + ":" + op, start + 150, 600);
  }
  return trace;
}

TEST_CASE("a step that goes on during GetNext lasts as long as what it runs, also where it waits in Python") {
  for (const std::string op : {"MatMul", "PyFunc"}) {
    CAPTURE(op);
    const ConsumerCycles consumer = measured(loop_in_function(op)).cycles.consumers.at(0);
    CHECK(consumer.overlaps);
    CHECK(consumer.steps.at(3).beside == doctest::Approx(800));
  }
}

TEST_CASE("pipelines whose calls seldom overlap have one consumer, which takes elements of both") {
  for (const int overlapping : {1, 8}) {
    CAPTURE(overlapping);
    SyntheticTrace trace;
    for (int call = 0; call < 20; ++call) {
      const bool is_other = call % 2 == 1;
      const std::string root = is_other ? "Iterator::Root::Prefetch::Map" : "Iterator::Root::Prefetch";
      const std::string thread = is_other ? "other" : "main";
      const double start = kStep + call * kStep - (is_other && call < 2 * overlapping ? kStep - 50 : 0);
      trace.add(thread, "IteratorGetNextOp::DoCompute", start, 100);
      trace.iterator(thread, "Iterator::Root", is_other ? 3 : 1, 0, start + 1, 90).numbers["cpu_budget"] = 2;
      trace.iterator(thread, root, is_other ? 4 : 2, is_other ? 3 : 1, start + 2, 80);
    }
    CHECK(measured(trace).cycles.consumers.size() == (overlapping == 1 ? 1 : 2));
  }
}

TEST_CASE("what passes around GetNext beyond the usual is a wait for a core, or for Python's lock") {
  SyntheticTrace trace;
  for (int call = 0; call < 10; ++call) {
    const double start = kStep + call * kStep;
    const double before = call == 4 ? 300 : 40;
    const double after = call == 6 ? 200 : 30;
    trace.add("main", "TFE_Py_FastPathExecute_C", start - before, before + 100 + after);
    trace.add("main", "IteratorGetNextOp::DoCompute", start, 100);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, 90).numbers["cpu_budget"] = 2;
    trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, start + 2, 80);
  }
  const ConsumerCycles consumer = measured(trace).cycles.consumers.at(0);
  for (std::size_t step = 0; step + 1 < consumer.steps.size(); ++step) {
    CAPTURE(step);
    const double late = step == 3 ? 260 : step == 6 ? 170 : 0;
    CHECK(consumer.steps[step].late == doctest::Approx(late));
  }
}

TEST_CASE("of a long trace the first calls are measured") {
  const HostMeasurement host = measured(busy_input("DecodeJpeg", 500));
  REQUIRE(host.pipelines[0].input_load.has_value());
  const InputLoad& load = *host.pipelines[0].input_load;
  CHECK(load.span.end - load.span.start == 200 * static_cast<Picoseconds>(kStep) * kPicosecondsPerMicrosecond);
}

TEST_CASE("one call has no time between calls") {
  CHECK_FALSE(measured(busy_input("DecodeJpeg", 1)).pipelines[0].input_load.has_value());
}

TEST_CASE("random ops are those of the iterator's function") {
  for (const std::string op : {"StatelessRandomUniformV2", "AdjustHue", "CropAndResize", "RandomUniform"}) {
    CAPTURE(op);
    const HostMeasurement host = measured(busy_input(op));
    for (const IteratorMeasurement& iterator : host.iterators) {
      const std::vector<std::string> expected =
          iterator.short_name == "Map" ? std::vector{op} : std::vector<std::string>{};
      CHECK(iterator.random_ops == expected);
    }
  }
  for (const std::string op : {"DecodeJpeg", "ResizeBilinear", "MatMul"}) {
    CAPTURE(op);
    CHECK_FALSE(is_random_op(op));
  }
  // What the model draws is not the input's.
  SyntheticTrace written = busy_input("DecodeJpeg");
  for (SyntheticTrace::Event& event : written.events) {
    if (event.name == "model/MatMul:MatMul") event.name = "model/RandomUniform:RandomUniform";
  }
  for (const IteratorMeasurement& iterator : measured(written).iterators) CHECK(iterator.random_ops.empty());
}

}  // namespace
}  // namespace doctor::input_load_test
