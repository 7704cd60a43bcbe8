// How far a parallel interleave gets ahead: elements that it keeps ready, and datasets that it begins before their
// turn.

#include "model/interleaving.h"

#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/prediction.h"
#include "timed_pipeline.h"

namespace doctor::interleaving_test {
namespace {

constexpr IteratorId kInterleave{2};

/// An interleave that takes 10 ms for an element, in which it needs no core, and had `datasets` datasets in 20
/// elements.
class Interleaved {
 public:
  explicit Interleaved(std::uint64_t datasets) : pipeline_(10, 0.1) {
    HostMeasurement& host = pipeline_.host();
    for (CycleItem& item : host.cycles.items) std::swap(item.cpu, item.wait);
    host.iterators[2].short_name = "Interleave";
    host.iterators[2].attributes = {{"block_length", 1, ""}, {"cycle_length", 2, ""}};
    add_input("FiniteTake", 20);
    if (datasets > 0) add_input("Range", datasets);
  }

  HostMeasurement& host() { return pipeline_.host(); }

  /// Every tenth element waits for its dataset to be opened.
  Interleaved& opens_in(float milliseconds) {
    std::size_t number = 0;
    for (CycleItem& item : host().cycles.items) {
      if (item.kind == CycleItem::Kind::work) item.wait = number++ % 10 == 0 ? 1000 * milliseconds : 500;
    }
    return *this;
  }

  /// In the function of a map, which waits on a thread of a pool of so many.
  Interleaved& by_functions(std::int64_t pool_threads) {
    host().cycles.pool_threads = pool_threads;
    for (CycleItem& item : host().cycles.items) {
      if (item.wait > 1000) item.kind = CycleItem::Kind::function;
    }
    return *this;
  }

  /// Steps a second with as many threads as datasets at once.
  double rate_with(std::int64_t cycle_length) {
    const PipelineModel model = pipeline_.model();
    Edit edit;
    edit.cuts[2] = {Cut::Kind::interleave, cycle_length, cycle_length};
    return replay_after(model, edit).steps_per_s;
  }

 private:
  void add_input(const char* name, std::uint64_t calls) {
    HostMeasurement& host = pipeline_.host();
    IteratorMeasurement input;
    input.short_name = name;
    input.parent = kInterleave;
    input.calls = calls;
    host.iterators[2].children.push_back(static_cast<IteratorId>(host.iterators.size()));
    host.iterators.push_back(input);
    host.cycles.stages.emplace_back().parent = 2;
  }

  TimedPipeline pipeline_;
};

TEST_CASE("an interleave has so many elements ready of each dataset, and begins so many datasets before their turn") {
  Interleaved pipeline(5);
  const MadeAhead ahead = made_ahead(pipeline.host(), kInterleave, 4);
  CHECK(ahead.of_dataset == 3);
  CHECK(ahead.datasets == 8);
  CHECK(ahead.share == doctest::Approx(0.6));  // two and a half datasets in each of two places, the half of one cut off
  pipeline.host().iterators[2].attributes[0].number = 2;
  CHECK(made_ahead(pipeline.host(), kInterleave, 4).of_dataset == 5);
  CHECK(made_ahead(pipeline.host(), kInterleave, 4).share == 1);
  CHECK(made_ahead(Interleaved(0).host(), kInterleave, 4).share == 0);
}

TEST_CASE("short datasets are made faster than one of them after another in each place of the cycle") {
  const double of_long_ones = Interleaved(0).rate_with(2);
  CHECK(of_long_ones > 190);
  CHECK(of_long_ones < 205);
  const double of_short_ones = Interleaved(5).rate_with(2);
  CHECK(of_short_ones > 450);
  CHECK(of_short_ones < 510);
}

TEST_CASE("datasets are opened before their turn, and the first elements share that wait") {
  const double opened = Interleaved(2).opens_in(60).rate_with(2);  // 60 ms for ten elements, and 4 more ahead
  CHECK(opened > 400);
  CHECK(opened < 900);
}

TEST_CASE("functions that open datasets before their turn wait for threads of the pool") {
  const double opened = Interleaved(2).opens_in(60).rate_with(2);
  CHECK(Interleaved(2).opens_in(60).by_functions(2).rate_with(2) < 0.5 * opened);
  CHECK(Interleaved(2).opens_in(60).by_functions(16).rate_with(2) == doctest::Approx(opened).epsilon(0.05));
}

TEST_CASE("no more datasets are begun before their turn than an interleave has threads for") {
  Interleaved pipeline(19);
  pipeline.host().iterators[2].attributes[0].number = 3;  // room for more elements than threads
  const double all_beside = pipeline.rate_with(2);
  CHECK(all_beside > 400);
  CHECK(all_beside < 610);
}

TEST_CASE("a parallel interleave is told how many datasets are open where the program seems not to say it") {
  Interleaved pipeline(5);
  HostMeasurement& host = pipeline.host();
  const auto cycle_of = [&](std::int64_t cores, std::int64_t cycle_length) {
    host.cycles.cores = cores;
    host.iterators[2].attributes[1].number = cycle_length;
    return cycle_to_set(host, kInterleave);
  };
  CHECK(cycle_of(4, 8) == std::nullopt);  // the program's own
  CHECK(cycle_of(2, 2) == 4);
  CHECK(cycle_of(16, 16) == 16);
  CHECK(cycle_of(2, 1) == 4);
}

TEST_CASE("of a parallel interleave that is not told it, TF opens a third as many datasets as there are cores") {
  Interleaved pipeline(5);
  pipeline.host().cycles.cores = 4;
  pipeline.host().iterators[2].attributes[1].number = 4;
  const PipelineModel model = model_of(pipeline.host());
  Edit edit;
  apply({FixKind::parallel_interleave, kInterleave, {}, {}}, model, edit);
  CHECK(edit.cuts.at(2) == Cut{Cut::Kind::interleave, 2, 2});
}

TEST_CASE("of an interleave that is made anew AUTOTUNE may let one call run at a time") {
  Interleaved pipeline(0);
  const auto low_of = [&](std::optional<std::int64_t> calls) {
    const Fix fix{FixKind::parallel_interleave, kInterleave, calls, 4};
    const PipelineModel model = model_of(pipeline.host());
    return predict(model, std::span(&fix, 1)).low;
  };
  CHECK(low_of({}) > 200);
  std::vector<ConsumerStep>& steps = pipeline.host().cycles.consumers.front().steps;
  steps[10].begins_iteration = true;
  const PipelineModel model = model_of(pipeline.host());
  Edit one_call;
  one_call.cuts[2] = {Cut::Kind::interleave, 1, 4};
  CHECK(low_of({}) == doctest::Approx(0.91 * replay_after(model, one_call).steps_per_s));
  CHECK(low_of({}) < 100);
  CHECK(low_of(4) > 200);
}

}  // namespace
}  // namespace doctor::interleaving_test
