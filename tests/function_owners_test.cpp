// Whose function an op is in, found by several threads.

#include "measure/functions/function_owners.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "synthetic_trace.h"
#include "tree/iterator_forest.h"

namespace doctor::function_owners_test {
namespace {

constexpr std::uint64_t kRunsOfThread = 1'000;
constexpr std::uint64_t kThreads = 7;

enum class RunsOn { outer, inner, nobody, loose };

/// Threads of two parallel maps and of a map without functions of its own, and one without calls: each run is of the
/// function with the next number.
RunsOn thread_of(std::uint64_t thread) {
  return thread == 2 ? RunsOn::nobody : thread == 5 ? RunsOn::loose : thread % 2 == 0 ? RunsOn::outer : RunsOn::inner;
}

bool has_id(std::uint64_t function) {
  return function % 10 != 3;
}

SyntheticTrace functions_of_many_threads() {
  const std::string root = "Iterator::Root";
  const std::string outer = root + "::ParallelMapV2";
  const std::string inner = outer + "::ParallelMapV2";
  SyntheticTrace trace;
  trace.iterator("main", root, 1, 0, 10, 9e6);
  trace.iterator("main", outer, 2, 1, 11, 8e6);
  trace.iterator("main", root + "::ParallelMapV2[1]", 5, 1, 8.5e6, 10);
  std::uint64_t function = 0;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    const std::string name = "worker-" + std::to_string(thread);
    const double begin = 1000 * static_cast<double>(thread) + 100;
    if (thread_of(thread) == RunsOn::outer) trace.iterator(name, inner, 3, 2, begin, 5);
    if (thread_of(thread) == RunsOn::inner) trace.iterator(name, inner + "::Range", 4, 3, begin, 5);
    if (thread_of(thread) == RunsOn::nobody) trace.iterator(name, root + "::Shuffle", 6, 1, begin, 5);
    for (std::uint64_t run = 0; run < kRunsOfThread; ++run) {
      const double start = begin + 10 + 20 * static_cast<double>(run);
      SyntheticTrace::Event& event = trace.add(name, "InstantiatedCapturedFunction::RunAsync", start, 5);
      if (has_id(++function)) event.ids["id"] = function;
      trace.add("pool", "ExecutorState::Process", 30 * static_cast<double>(function), 20).ids["id"] = function;
      trace.add("pool", "f/MatMul:MatMul", 30 * static_cast<double>(function) + 1, 10);
    }
  }
  return trace;
}

/// How many ops each iterator owns, by long name; fails where one owns an op of a thread that is not its own.
std::map<std::string, int> ops_of_iterators(const Trace& trace, unsigned threads) {
  const IteratorForest forest = build_tree(trace);
  WorkOptions work;
  work.threads = threads;
  const FunctionOwners owners(trace, forest, op_kinds_of(trace.strings), work);
  std::map<std::string, int> ops;
  for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    for (std::size_t op = 0; op < trace.lanes[lane].ops.size(); ++op) {
      const std::uint64_t function = trace.lanes[lane].ops[op].function_id.value();
      const RunsOn expected = thread_of((function - 1) / kRunsOfThread);
      const IteratorId owner = owners.of_op(lane, op);
      REQUIRE((owner == kNoIterator) == (expected == RunsOn::nobody || !has_id(function)));
      if (owner == kNoIterator) continue;
      const std::string& name = forest[owner].long_name;
      if (expected != RunsOn::loose) REQUIRE((name == "Iterator::Root::ParallelMapV2") == (expected == RunsOn::outer));
      ++ops[name];
    }
  }
  return ops;
}

TEST_CASE("runs without an id or an owner leave no trace among those of other threads") {
  const Trace trace = functions_of_many_threads().to_trace();
  const std::map<std::string, int> ops = ops_of_iterators(trace, 1);
  REQUIRE(ops.size() == 3);
  CHECK(ops.at("Iterator::Root::ParallelMapV2") == 2700);
  CHECK(ops.at("Iterator::Root::ParallelMapV2::ParallelMapV2") == 1800);
  CHECK(ops.at("Iterator::Root::ParallelMapV2[1]") == 900);  // loose: the first that has none of its own
  for (const unsigned threads : {2u, 3u, 8u}) CHECK(ops_of_iterators(trace, threads) == ops);
}

// More runs than one part has, and a part begins amid the runs after a call that has calls in it, or after one that has
// none.
TEST_CASE("parts of a thread know which call came before them") {
  constexpr std::uint64_t kRuns = 140'000;
  constexpr std::uint64_t kRunsOfCall = 1'200;
  constexpr std::uint64_t kRunsOfOp = 10;
  const std::string outer = "Iterator::Root::ParallelMapV2";
  const std::string inner = outer + "::ParallelMapV2";
  SyntheticTrace recorded;
  recorded.iterator("main", "Iterator::Root", 1, 0, 10, 9e6);
  recorded.iterator("main", outer, 2, 1, 11, 8e6);
  const auto is_of_outer = [](std::uint64_t run) { return run / kRunsOfCall % 2 == 0; };
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const double start = 100 + 20 * static_cast<double>(run);
    if (run % kRunsOfCall == 0) {
      if (is_of_outer(run)) recorded.iterator("worker", inner, 3, 2, start, 5);
      recorded.iterator("worker", inner + "::Range", 4, 3, start + 1, 2);
    }
    recorded.add("worker", "InstantiatedCapturedFunction::RunAsync", start + 10, 5).ids["id"] = run + 1;
    if (run % kRunsOfOp != 0) continue;
    recorded.add("pool", "ExecutorState::Process", start, 18).ids["id"] = run + 1;
    recorded.add("pool", "f/MatMul:MatMul", start + 1, 10);
  }
  const Trace trace = recorded.to_trace();
  const IteratorForest forest = build_tree(trace);
  WorkOptions work;
  for (const unsigned threads : {1u, 3u}) {
    work.threads = threads;
    const FunctionOwners owners(trace, forest, op_kinds_of(trace.strings), work);
    std::uint64_t ops = 0;
    for (std::size_t lane = 0; lane < trace.lanes.size(); ++lane) {
      for (std::size_t op = 0; op < trace.lanes[lane].ops.size(); ++op, ++ops) {
        const std::uint64_t run = trace.lanes[lane].ops[op].function_id.value() - 1;
        REQUIRE(owners.of_op(lane, op) != kNoIterator);
        REQUIRE(forest[owners.of_op(lane, op)].long_name == (is_of_outer(run) ? outer : inner));
      }
    }
    CHECK(ops == kRuns / kRunsOfOp);
  }
}

TEST_CASE("the owner of each function id is found, and none for others, however ids are spread") {
  std::mt19937_64 random(1);
  for (const std::size_t count : {0u, 1u, 2u, 3u, 17u, 1'000u, 30'000u}) {
    for (int spread = 0; spread < 4; ++spread) {
      std::vector<std::uint64_t> ids;
      for (std::size_t index = 0; index < count; ++index) {
        const std::uint64_t choices[] = {random(), index, index == 0 ? ~0ull : index, random() << 60};
        ids.push_back(choices[spread]);
      }
      std::vector<FunctionTable::Entry> entries;
      for (const std::uint64_t id : ids) entries.push_back({PackedToken(id), static_cast<IteratorId>(id % 7)});
      WorkOptions work;
      work.threads = spread % 2 == 0 ? 1 : 3;
      const FunctionTable owners(entries, work);
      std::sort(ids.begin(), ids.end());
      std::vector<std::uint64_t> asked = {0, 1, ~0ull, ~0ull - 1, 1ull << 63};
      for (const std::uint64_t id : ids) asked.insert(asked.end(), {id, id - 1, id + 1});
      for (const std::uint64_t id : asked) {
        const bool is_known = std::binary_search(ids.begin(), ids.end(), id);
        REQUIRE(owners[id] == (is_known ? static_cast<IteratorId>(id % 7) : kNoIterator));
      }
      std::vector<IteratorId> found(asked.size());
      owners.find(asked, found);
      for (std::size_t index = 0; index < asked.size(); ++index) REQUIRE(found[index] == owners[asked[index]]);
    }
  }
}

}  // namespace
}  // namespace doctor::function_owners_test
