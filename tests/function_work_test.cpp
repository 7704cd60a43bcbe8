// What functions do: beside the calls of asynchronous iterators, and while calls wait for them.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "measure/measure.h"
#include "measure/measure_passes.h"
#include "measure/measurements.h"
#include "shown_page.h"
#include "synthetic_trace.h"
#include "tree/iterator_forest.h"

namespace doctor::function_work_test {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

const std::string kOuter = "Iterator::Root::Prefetch::ParallelMapV2";
const std::string kInner = kOuter + "::ParallelMapV2";

HostMeasurement measured(const SyntheticTrace& written, unsigned threads = 1) {
  const Trace trace = written.to_trace();
  WorkOptions work;
  work.threads = threads;
  return measure(trace, build_tree(trace), work);
}

const IteratorMeasurement& iterator_of(const HostMeasurement& host, const std::string& long_name) {
  const auto found = std::find_if(host.iterators.begin(), host.iterators.end(),
                                  [&](const IteratorMeasurement& one) { return one.long_name == long_name; });
  REQUIRE(found != host.iterators.end());
  return *found;
}

void add_op(SyntheticTrace& trace, const std::string& thread, std::uint64_t function, const std::string& op,
            double start_us, double duration_us) {
  trace.add(thread, "ExecutorState::Process", start_us - 1, duration_us + 2).ids["id"] = function;
  trace.add(thread, "f/" + op + ":" + op, start_us, duration_us);
}

/// A runner fetches an input and dispatches a function, as parallel maps do. XProf's JSON has no Produce events.
void dispatch(SyntheticTrace& trace, const std::string& input, std::uint64_t id, std::uint64_t function,
              double start_us, bool has_produce) {
  const std::string runner = "runner-" + std::to_string(id);
  if (has_produce) trace.add(runner, "ParallelMapProduce", start_us, 8).ids["element_id"] = function;
  trace.iterator(runner, input, id, id - 1, start_us + 1, 3);
  trace.add(runner, "InstantiatedCapturedFunction::RunAsync", start_us + 5, 2).ids["id"] = function;
}

/// Root > Prefetch > ParallelMap > ParallelMap > Map > Range: `calls` GetNext calls of 900 us every 1000 us. In each
/// the outer map's function waits for a thread for 600 us, in which those of the inner one run on two threads for 500
/// us, and then runs for 200 us. Ops of a training step run beside.
SyntheticTrace two_maps(int calls, bool has_produce) {
  SyntheticTrace trace;
  for (int call = 0; call < calls; ++call) {
    const double start = 1000 + 1000 * call;
    const auto function = 10 * static_cast<std::uint64_t>(call) + 1;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, 900);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, 898);
    trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, start + 2, 896);
    trace.iterator("worker", kOuter, 3, 2, start + 3, 890);
    dispatch(trace, kInner, 4, function, start + 4, has_produce);
    dispatch(trace, kInner + "::Map", 5, function + 1, start + 4, has_produce);
    dispatch(trace, kInner + "::Map", 5, function + 2, start + 14, has_produce);
    trace.iterator("runner-5", kInner + "::Map", 5, 4, start + 30, 60);
    trace.iterator("runner-5", kInner + "::Map::Range", 6, 5, start + 31, 2);
    trace.add("runner-5", "InstantiatedCapturedFunction::Run", start + 40, 40).ids["id"] = function + 3;
    trace.add("runner-5", "h/Cast:Cast", start + 41, 30);
    add_op(trace, "pool-1", function + 1, "DecodeJpeg", start + 100, 500);
    trace.add("pool-1", "f/Cast:Cast", start + 200, 100);  // inside of DecodeJpeg
    add_op(trace, "pool-2", function + 2, "DecodeJpeg", start + 100, 500);
    add_op(trace, "pool-1", function, "ReverseV2", start + 610, 200);
    add_op(trace, "pool-2", function, "While", start + 610, 250);  // only waits for other ops
    add_op(trace, "pool-3", 5'000'000, "MatMul", start + 100, 30);
  }
  return trace;
}

TEST_CASE(
    "an asynchronous iterator has what its functions do on other threads, a synchronous one has it in its calls") {
  for (const bool has_produce : {true, false}) {
    CAPTURE(has_produce);
    const HostMeasurement host = measured(two_maps(4, has_produce));
    CHECK(iterator_of(host, kOuter).function == 4 * 200 * kUs);
    CHECK(iterator_of(host, kInner).function == 4 * (500 + 500) * kUs);
    CHECK(iterator_of(host, kInner + "::Map").function == 0);
    CHECK(iterator_of(host, kInner + "::Map").self >= 4 * 40 * kUs);
    CHECK(iterator_of(host, "Iterator::Root::Prefetch").function == 0);
    REQUIRE(host.pipelines.size() == 1);
    CHECK(host.iterators[host.pipelines[0].busiest].long_name == kInner);
  }
}

TEST_CASE("neither threads nor the order of events change what functions do") {
  SyntheticTrace trace = two_maps(40, true);
  const auto answer = [](const HostMeasurement& host) {
    std::string text;
    for (const IteratorMeasurement& one : host.iterators) text += fmt::format("{} ", one.function);
    const PhaseMeasurement& steady = host.pipelines.at(0).steady;
    text += fmt::format("{}", steady.function_idle);
    for (const OpBeside& op : steady.beside) text += fmt::format(" {} {}", op.op, op.time);
    return text;
  };
  const std::string expected = answer(measured(trace));
  CHECK(answer(measured(trace, 3)) == expected);
  std::mt19937_64 random(1);
  for (std::size_t index = trace.events.size(); index > 1; --index) {
    std::swap(trace.events[index - 1], trace.events[random() % index]);
  }
  std::vector<Picoseconds> functions;
  for (const IteratorMeasurement& one : measured(trace).iterators) functions.push_back(one.function);
  std::sort(functions.begin(), functions.end());
  CHECK(functions == std::vector<Picoseconds>{0, 0, 0, 0, 40 * 200 * kUs, 40 * 1000 * kUs});
}

TEST_CASE("the time of a function is that in its ops and that without, and what ran then is told") {
  const HostMeasurement host = measured(two_maps(10, true));
  const PhaseMeasurement& steady = host.pipelines.at(0).steady;
  REQUIRE(host.iterators[steady.culprit].long_name == kOuter);
  const Picoseconds in_function = steady.in_function[steady.culprit];
  CHECK(in_function - steady.function_idle == 10 * 200 * kUs);
  REQUIRE(steady.beside.size() == 3);
  CHECK(steady.beside[0].op == "DecodeJpeg");
  CHECK(host.iterators[steady.beside[0].iterator].long_name == kInner);
  CHECK(steady.beside[0].time == 10 * 500 * kUs);  // on two threads at once
  const auto job = std::find_if(steady.beside.begin(), steady.beside.end(),
                                [](const OpBeside& op) { return op.iterator == kNoIterator; });
  REQUIRE(job != steady.beside.end());
  CHECK(job->op == "MatMul");
  CHECK(job->time == 10 * 30 * kUs);
}

TEST_CASE("an op that lasts over many calls is met in each of them") {
  SyntheticTrace trace = two_maps(10, true);
  add_op(trace, "pool-9", 7'000'000, "AllReduce", 900, 20'000);
  for (int op = 0; op < 50; ++op) add_op(trace, "pool-8", 7'000'001, "Mean", 1100 + 200 * op, 1);
  std::stable_sort(trace.events.begin(), trace.events.end(),
                   [](const auto& a, const auto& b) { return a.start_us < b.start_us; });
  const HostMeasurement host = measured(trace);
  const PhaseMeasurement& steady = host.pipelines.at(0).steady;
  REQUIRE_FALSE(steady.beside.empty());
  CHECK(steady.beside[0].op == "AllReduce");
  CHECK(steady.beside[0].time == steady.function_idle);
}

TEST_CASE("the input page has the work of functions, and its shares are parts") {
  Measurements measurements;
  measurements.hosts.push_back(measured(two_maps(10, true)));
  const DataTable table = page_rows(kInputPage, measurements);
  const auto column = [&](std::string_view key) {
    return static_cast<std::size_t>(
        std::find_if(table.columns.begin(), table.columns.end(), [&](const Column& one) { return one.key == key; }) -
        table.columns.begin());
  };
  REQUIRE_FALSE(table.rows.empty());
  CHECK(std::get<std::string>(table.rows[0][column("input_op")]) == kInner);
  CHECK(std::get<std::int64_t>(table.rows[0][column("function_us")]) == 10 * 1000 * kUs);
  CHECK(std::get<std::string>(table.rows[0][column("category")]) == "preprocessing");
  double work = 0;
  for (const std::vector<Cell>& row : table.rows) {
    const double share = std::get<double>(row[column("work_share")]);
    work += share;
    CHECK(share >= 0);
    CHECK(share <= 1);
    CHECK(std::get<double>(row[column("total_share")]) <= 1);
  }
  CHECK(work == doctest::Approx(1));
}

}  // namespace

}  // namespace doctor::function_work_test
