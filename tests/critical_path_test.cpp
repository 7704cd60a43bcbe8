#include "measure/waits/critical_path.h"

#include <doctest/doctest.h>

#include "synthetic_trace.h"
#include "tree/iterator_forest.h"

namespace doctor::critical_path_test {
namespace {

/// "Map:self 30, Map:function 50": the segments of all root calls, in us, those of one iterator and kind added up.
std::string held(const SyntheticTrace& written) {
  const Trace trace = written.to_trace();
  const IteratorForest forest = build_tree(trace);
  const CriticalPath path(trace, forest, op_kinds_of(trace.strings));
  constexpr std::string_view kKinds[] = {"self", "function", "handoff", "unseen", "outside"};
  std::map<std::string, Picoseconds> sums;
  CriticalPath::Walker walker(path);
  for (const RootCall& call : forest.root_calls) {
    if (call.root != kNoIterator && path.has_device_hop(call.root) != (forest.roots.size() > 1)) continue;
    Picoseconds done = call.span.start;
    for (const Segment& segment : walker.attribute(call)) {
      CHECK(segment.span.start == done);
      done = segment.span.end;
      const std::string name = segment.iterator == kNoIterator ? "-" : forest[segment.iterator].short_name;
      sums[name + ":" + std::string(kKinds[static_cast<std::size_t>(segment.kind)])] +=
          segment.span.end - segment.span.start;
    }
    CHECK(done == call.span.end);
  }
  std::string text;
  for (const auto& [name, sum] : sums) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, sum / kPicosecondsPerMicrosecond);
  }
  return text;
}

}  // namespace

TEST_CASE("a synchronous chain: own work, function and source") {
  SyntheticTrace trace;
  trace.add("main", "IteratorGetNextOp::DoCompute", 0, 100);
  trace.iterator("main", "Iterator::Root", 1, 0, 5, 90);
  trace.iterator("main", "Iterator::Root::Map", 2, 1, 10, 80);
  trace.iterator("main", "Iterator::Root::Map::TFRecord", 3, 2, 12, 20);
  trace.add("main", "InstantiatedCapturedFunction::Run", 40, 45).ids["id"] = 7;
  CHECK(held(trace) == "-:outside 10, Map:function 45, Map:self 15, Root:self 10, TFRecord:self 20");
}

TEST_CASE("a wait for a prefetch is followed into the background thread") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, 0, 100);
  trace.iterator("worker", "Iterator::Root::Prefetch::Map", 3, 2, -50, 130);
  trace.add("worker", "InstantiatedCapturedFunction::Run", -40, 110).ids["id"] = 7;
  trace.iterator("worker", "Iterator::Root::Prefetch::Map", 3, 2, 200, 10);
  // 80 to 100: the element is handed over, the next call of the input comes later.
  for (auto& event : trace.events) event.start_us += 100;
  CHECK(held(trace) == "Map:function 70, Map:self 10, Prefetch:handoff 20");
}

TEST_CASE("what the window does not show is unseen, not free") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, 0, 100);
  trace.iterator("worker", "Iterator::Root::Prefetch::Map", 3, 2, 60, 20);
  CHECK(held(trace) == "Map:self 20, Prefetch:unseen 80");
}

TEST_CASE("a parallel map waits for its input until the last run, then for the function") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::ParallelMapV2", 2, 1, 0, 100);
  trace.add("main", "ParallelMapConsume", 1, 0).ids["element_id"] = 42;
  trace.add("runner", "ParallelMapProduce", 0, 40).ids["element_id"] = 42;
  trace.iterator("runner", "Iterator::Root::ParallelMapV2::TFRecord", 3, 2, 1, 29);
  trace.add("runner", "InstantiatedCapturedFunction::RunAsync", 31, 5).ids["id"] = 9;
  // The input of the next element is read while the function of this one runs: nobody waits for that.
  trace.add("runner", "ParallelMapProduce", 45, 50).ids["element_id"] = 43;
  trace.iterator("runner", "Iterator::Root::ParallelMapV2::TFRecord", 3, 2, 46, 40);
  CHECK(held(trace) == "ParallelMapV2:function 71, TFRecord:self 29");
}

TEST_CASE("the call that made the element wins over others that run at the time") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::ParallelInterleaveV4", 2, 1, 0, 100);
  trace.add("main", "ParallelInterleaveConsume", 1, 0).ids["element_id"] = 2;
  trace.add("worker-1", "ParallelInterleaveProduce", 0, 100).ids["element_id"] = 1;
  trace.iterator("worker-1", "Iterator::Root::ParallelInterleaveV4[0]::TFRecord", 3, 2, 0, 100);
  trace.add("worker-2", "ParallelInterleaveProduce", 10, 90).ids["element_id"] = 2;
  trace.iterator("worker-2", "Iterator::Root::ParallelInterleaveV4[1]::TextLine", 4, 2, 10, 90);
  CHECK(held(trace) == "TFRecord:self 10, TextLine:self 90");
  // Without the element's id the earlier one is taken.
  for (auto& event : trace.events) event.ids.erase("element_id");
  CHECK(held(trace) == "TFRecord:self 100");
}

TEST_CASE("a nearer descendant wins over a farther one") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, 0, 100);
  trace.iterator("worker", "Iterator::Root::Prefetch::BatchV2", 3, 2, 20, 80);
  trace.iterator("reader", "Iterator::Root::Prefetch::BatchV2::TFRecord", 4, 3, 0, 50);
  // Until 20 only the reader runs; from there on the batch is what the prefetch waits for.
  CHECK(held(trace) == "BatchV2:self 80, TFRecord:self 20");
}

TEST_CASE("farther descendants count where nearer ones leave time open, at the ends or between") {
  for (const bool fills_the_middle : {false, true}) {
    SyntheticTrace trace;
    trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
    trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, 0, 100);
    const std::vector<std::pair<double, double>> near = fills_the_middle
                                                            ? std::vector<std::pair<double, double>>{{30, 40}}
                                                            : std::vector<std::pair<double, double>>{{0, 30}, {60, 40}};
    for (const auto& [start, length] : near) {
      trace.iterator("worker", "Iterator::Root::Prefetch::BatchV2", 3, 2, start, length);
    }
    for (int read = 0; read < 10; ++read) {
      trace.iterator("reader", "Iterator::Root::Prefetch::BatchV2::TFRecord", 4, 3, read * 10, 10);
    }
    CHECK(held(trace) ==
          (fills_the_middle ? "BatchV2:self 40, TFRecord:self 60" : "BatchV2:self 70, TFRecord:self 30"));
  }
}

TEST_CASE("of equally near descendants the one that began first wins, whichever the tree lists first") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::ParallelInterleaveV4", 2, 1, 0, 100);
  trace.iterator("worker-1", "Iterator::Root::ParallelInterleaveV4[0]::TFRecord", 3, 2, -100, 10);
  trace.iterator("worker-1", "Iterator::Root::ParallelInterleaveV4[0]::TFRecord", 3, 2, -5, 200);
  trace.iterator("worker-2", "Iterator::Root::ParallelInterleaveV4[1]::TextLine", 4, 2, -10, 70);
  for (auto& event : trace.events) event.start_us += 200;
  CHECK(held(trace) == "TFRecord:self 40, TextLine:self 60");
}

TEST_CASE("the function that is waited for is found behind an element whose input ended before") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 100, 100);
  trace.iterator("main", "Iterator::Root::ParallelMapV2", 2, 1, 100, 100);
  trace.add("main", "ParallelMapConsume", 101, 0).ids["element_id"] = 42;
  // The later element of the id shows no run of its function, the earlier one does.
  trace.add("runner", "ParallelMapProduce", 0, 40).ids["element_id"] = 42;
  trace.iterator("runner", "Iterator::Root::ParallelMapV2::TFRecord", 3, 2, 1, 10);
  trace.add("runner", "InstantiatedCapturedFunction::RunAsync", 20, 5).ids["id"] = 9;
  trace.add("runner", "ParallelMapProduce", 50, 20).ids["element_id"] = 42;
  trace.iterator("runner", "Iterator::Root::ParallelMapV2::TFRecord", 3, 2, 51, 10);
  // Something else is read during the wait.
  trace.iterator("runner", "Iterator::Root::ParallelMapV2::TFRecord", 3, 2, 120, 50);
  CHECK(held(trace) == "ParallelMapV2:function 100");
}

TEST_CASE("a farther call that made the element wins over a nearer one") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::ParallelInterleaveV4", 2, 1, 0, 100);
  trace.add("main", "ParallelInterleaveConsume", 1, 0).ids["element_id"] = 7;
  trace.iterator("worker-1", "Iterator::Root::ParallelInterleaveV4::FlatMap", 3, 2, 0, 100);
  // Two iterators of one name: the tree puts both where the first stands, the ids say who calls whom.
  trace.iterator("worker-2", "Iterator::Root::ParallelInterleaveV4::FlatMap::TFRecord", 4, 3, -100, 10);
  trace.add("worker-2", "ParallelInterleaveProduce", 9, 52).ids["element_id"] = 7;
  trace.iterator("worker-2", "Iterator::Root::ParallelInterleaveV4::FlatMap::TFRecord", 5, 2, 10, 50);
  for (auto& event : trace.events) event.start_us += 200;
  CHECK(held(trace) == "FlatMap:self 50, TFRecord:self 50");
}

TEST_CASE("an element id that comes again means the element made last before the wait ended") {
  SyntheticTrace trace;
  for (int round = 0; round < 3; ++round) {
    const double start = 1000 * round;
    trace.iterator("main", "Iterator::Root", 1, 0, start, 100);
    trace.iterator("main", "Iterator::Root::ParallelMapV2", 2, 1, start, 100);
    trace.add("main", "ParallelMapConsume", start + 1, 0).ids["element_id"] = 42;
    // The same id on two threads: whichever ran its function last before the end is waited for.
    for (const std::string thread : {"runner-1", "runner-2"}) {
      const double begin = start + (thread == "runner-1" ? 0 : 20);
      trace.add(thread, "ParallelMapProduce", begin, 40).ids["element_id"] = 42;
      trace.iterator(thread, "Iterator::Root::ParallelMapV2::TFRecord", 3, 2, begin + 1, 10 + round);
      trace.add(thread, "InstantiatedCapturedFunction::RunAsync", begin + 31, 5).ids["id"] = 9;
    }
  }
  // Ids that are no times: in no order on the thread.
  for (const std::uint64_t id : {90u, 80u, 5u}) {
    trace.add("runner-1", "ParallelMapProduce", 4000 - static_cast<double>(id), 1).ids["element_id"] = id;
  }
  CHECK(held(trace) == "ParallelMapV2:function 234, TFRecord:self 66");
}

TEST_CASE("after a nested call with a run of its own the outer run goes on") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::FlatMap", 2, 1, 0, 100);
  trace.add("main", "InstantiatedCapturedFunction::Run", 10, 80).ids["id"] = 1;
  for (int nested = 0; nested < 3; ++nested) {
    trace.iterator("main", "Iterator::Root::FlatMap::Map", 3, 2, 20 + nested * 20, 10);
    trace.add("main", "InstantiatedCapturedFunction::Run", 22 + nested * 20, 5).ids["id"] = 2;
  }
  CHECK(held(trace) == "FlatMap:function 50, FlatMap:self 20, Map:function 15, Map:self 15");
}

TEST_CASE("a device pipeline hops to its host pipeline, never to a sibling replica") {
  // The host pipeline is called by a thread of the runtime, or by an op of GetNext.
  for (const bool is_in_op : {false, true}) {
    CAPTURE(is_in_op);
    SyntheticTrace trace;
    for (int replica = 0; replica < 2; ++replica) {
      const std::string thread = "replica-" + std::to_string(replica);
      const auto base = 100 * static_cast<std::uint64_t>(replica + 1);
      trace.add(thread, "IteratorGetNextAsOptionalOp::DoCompute", 0, 100);
      trace.iterator(thread, "Iterator::Prefetch", base, 0, 0, 100);
      trace.iterator("device-" + thread, "Iterator::Prefetch::Generator", base + 1, base, 0, 90);
    }
    if (is_in_op) trace.add("host", "IteratorGetNextOp::DoCompute", 10, 60);
    trace.iterator("host", "Iterator::Root", 1, 0, 10, 60);
    trace.iterator("host", "Iterator::Root::Map", 2, 1, 10, 60);
    const std::string text = held(trace);
    CHECK(text.find("Map:self 120") != std::string::npos);
    CHECK(text.find("Generator:self 60") != std::string::npos);
  }
}

TEST_CASE("a generator with Python inside is a source, not a hop") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::Generator", 2, 1, 0, 100);
  trace.add("main", "InstantiatedCapturedFunction::Run", 5, 90).ids["id"] = 7;
  trace.add("pool", "ExecutorState::Process", 6, 80).ids["id"] = 7;
  trace.add("pool", "PyFunc:PyFunc", 7, 70);
  CHECK(held(trace) == "Generator:function 90, Generator:self 10");
}

TEST_CASE("very deep nesting ends in time, not in a crash") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 1000);
  for (std::uint64_t depth = 0; depth < 400; ++depth) {
    trace.iterator("main", "Iterator::Root::Map" + std::to_string(depth), depth + 2, depth + 1,
                   static_cast<double>(depth + 1), 1000 - 2.0 * static_cast<double>(depth + 1));
  }
  CHECK(held(trace).size() > 0);
}

}  // namespace doctor::critical_path_test
