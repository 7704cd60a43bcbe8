// A prefetch whose buffer AUTOTUNE lets grow: small at the begin of an iteration, twofold when it ran empty.

#include <doctest/doctest.h>

#include "model/pipeline_model.h"
#include "timed_pipeline.h"

namespace doctor::growing_prefetch_test {
namespace {

/// Every tenth element takes 80 ms, the others 1 ms; the consumer takes 10 ms, so that ten elements ahead hide all of
/// it.
TimedPipeline bursts() {
  constexpr int kOfABurst = 10;
  TimedPipeline pipeline(1, 10);
  HostMeasurement& host = pipeline.host();
  int element = 0;
  for (CycleItem& item : host.cycles.items) {
    if (item.kind == CycleItem::Kind::work && ++element % kOfABurst == 0) item.cpu = 80'000;
  }
  host.iterators[1].attributes = {{"autotune", {}, "true"}, {"buffer_limit", 16, ""}};
  return pipeline;
}

/// The consumer waits in its first call while the first element is made.
void begin_in_window(HostMeasurement& host) {
  host.cycles.consumers.front().steps.front().call = {0, kPicosecondsPerMillisecond};
}

TEST_CASE("in a pipeline that goes on the buffer is as large as it was seen last") {
  CHECK(bursts().model().now.steps_per_s > 95);
}

TEST_CASE("in an iteration that begins in the window the buffer grows") {
  TimedPipeline pipeline = bursts();
  begin_in_window(pipeline.host());
  const PipelineModel model = pipeline.model();
  CHECK(model.now.steps_per_s < 85);
  CHECK(model.now.steps_per_s > 60);
  Edit deep;
  deep.buffer[1] = 16;
  CHECK(replay_after(model, deep).steps_per_s > 95);
}

TEST_CASE("a buffer of a fixed size does not grow") {
  TimedPipeline pipeline = bursts();
  begin_in_window(pipeline.host());
  pipeline.host().iterators[1].attributes[0].text = "false";
  CHECK(pipeline.model().now.steps_per_s > 95);
}

TEST_CASE("each iteration begins with a small buffer") {
  TimedPipeline pipeline = bursts();
  HostMeasurement& host = pipeline.host();
  ConsumerCycles& consumer = host.cycles.consumers.front();
  for (std::size_t step = 0; step < consumer.steps.size(); ++step) {
    const auto time = static_cast<Picoseconds>(step) * kPicosecondsPerSecond;
    consumer.steps[step].call = {time, time + 1};
    host.cycles.stages[1].cycles[step].start = time;
  }
  const double of_one = pipeline.model().now.steps_per_s;
  consumer.steps[10].begins_iteration = true;
  const PipelineModel model = pipeline.model();
  CHECK(model.now.steps_per_s < 0.9 * of_one);
  Edit once;
  once.iterates_once = true;
  CHECK(replay_after(model, once).steps_per_s > 0.95 * of_one);
}

}  // namespace
}  // namespace doctor::growing_prefetch_test
