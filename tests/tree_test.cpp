#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "measure/measure.h"
#include "measure/measurements.h"
#include "synthetic_trace.h"
#include "tree/dataset_kinds.h"
#include "tree/iterator_forest.h"

namespace doctor::tree_test {
namespace {

const LogicalIterator* find(const IteratorForest& forest, std::string_view long_name) {
  for (const LogicalIterator& iterator : forest.iterators) {
    if (iterator.long_name == long_name) return &iterator;
  }
  return nullptr;
}

std::string parent_name(const IteratorForest& forest, std::string_view long_name) {
  const LogicalIterator* iterator = find(forest, long_name);
  if (iterator == nullptr) return "(missing)";
  return iterator->parent == kNoIterator ? "" : forest[iterator->parent].long_name;
}

}  // namespace

TEST_CASE("indices of like elements are folded, those of different inputs are kept") {
  struct Row {
    std::string_view long_name;
    std::string_view folded;
  };
  for (const Row& row : {
           Row{"Iterator::Root::ForeverRepeat[287]::BatchV2", "Iterator::Root::ForeverRepeat::BatchV2"},
           Row{"Iterator::Root::Zip[1]::Map", "Iterator::Root::Zip[1]::Map"},
           Row{"Iterator::Root::Concatenate[0]::Range", "Iterator::Root::Concatenate[0]::Range"},
           Row{"Iterator::ParallelInterleaveV4[3]::FlatMap[0]::TFRecord",
               "Iterator::ParallelInterleaveV4::FlatMap::TFRecord"},
           Row{"Iterator::Model", "Iterator::Model"},
           Row{"Iterator::Root::Interleave[x]::Map", "Iterator::Root::Interleave[x]::Map"},
           Row{"", ""},
       }) {
    CHECK(fold_like_elements(row.long_name) == row.folded);
  }
}

TEST_CASE("a long name ends with the short name") {
  CHECK(short_name_of("Iterator::Root::Zip[1]::Map[0]") == "Map");
  CHECK(short_name_of("Iterator::Root") == "Root");
}

TEST_CASE("parents are found by id, across threads") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 10, 0, 0, 100);
  trace.iterator("main", "Iterator::Root::Prefetch", ~0ull, 10, 1, 98);
  trace.iterator("worker", "Iterator::Root::Prefetch::Map", 12, ~0ull, 5, 50);
  const Trace read = trace.to_trace();
  const IteratorForest forest = build_tree(read);
  REQUIRE(forest.roots.size() == 1);
  CHECK(parent_name(forest, "Iterator::Root::Prefetch::Map") == "Iterator::Root::Prefetch");
  CHECK(find(forest, "Iterator::Root::Prefetch::Map")->depth == 2);
  CHECK(find(forest, "Iterator::Root::Prefetch::Map")->top_calls.size() == 1);
  CHECK(forest.root_calls.size() == 1);
}

TEST_CASE("a parent whose id was never seen is found by the longest name") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 10, 0, 0, 100);
  trace.iterator("worker", "Iterator::Root::BatchV2::Map", 12, 10, 5, 50);
  trace.iterator("worker", "Iterator::Root::BatchV2::Map::FlatMap[0]::TFRecord", 13, 12, 6, 5);
  const Trace read = trace.to_trace();
  const IteratorForest forest = build_tree(read);
  CHECK(parent_name(forest, "Iterator::Root::BatchV2::Map") == "Iterator::Root");
  CHECK(parent_name(forest, "Iterator::Root::BatchV2::Map::FlatMap[0]::TFRecord") == "Iterator::Root::BatchV2::Map");
}

TEST_CASE("epochs and files are one iterator, inputs of a Zip are not") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Root", 1, 0, 0, 1000);
  trace.iterator("main", "Iterator::Root::ForeverRepeat", 2, 1, 1, 900);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const std::string repeat = "Iterator::Root::ForeverRepeat[" + std::to_string(epoch) + "]";
    const double start = 10 + 100 * static_cast<double>(epoch);
    trace.iterator("main", repeat + "::Zip", 10 + epoch, 2, start, 50);
    trace.iterator("main", repeat + "::Zip[0]::Map", 20 + epoch, 10 + epoch, start + 1, 10);
    trace.iterator("main", repeat + "::Zip[1]::Map", 30 + epoch, 10 + epoch, start + 20, 10);
  }
  const Trace read = trace.to_trace();
  const IteratorForest forest = build_tree(read);
  CHECK(forest.iterators.size() == 5);
  REQUIRE(find(forest, "Iterator::Root::ForeverRepeat::Zip[0]::Map") != nullptr);
  CHECK(find(forest, "Iterator::Root::ForeverRepeat::Zip[0]::Map")->call_count == 3);
  CHECK(find(forest, "Iterator::Root::ForeverRepeat::Zip[1]::Map")->instances.size() == 3);
}

TEST_CASE("inputs of a Zip that share their name are told apart by id") {
  SyntheticTrace trace;
  trace.iterator("main", "Iterator::Model", 1, 0, 0, 1000);
  trace.iterator("main", "Iterator::Model::Zip", 2, 1, 1, 900);
  trace.iterator("main", "Iterator::Model::Zip::Map", 3, 2, 10, 10);
  trace.iterator("main", "Iterator::Model::Zip::Map", 4, 2, 30, 100);
  const Trace read = trace.to_trace();
  CHECK(build_tree(read).iterators.size() == 4);
}

TEST_CASE("cycles, duplicate ids and missing parents are survived") {
  SyntheticTrace trace;
  trace.iterator("a", "Iterator::Root", 1, 2, 0, 10);
  trace.iterator("a", "Iterator::Root::Map", 2, 1, 20, 10);
  trace.iterator("b", "Iterator::Root::Batch", 3, 3, 0, 10);
  trace.iterator("b", "Iterator::Root::Batch::Range", 3, 77, 20, 10);
  const Trace read = trace.to_trace();
  const IteratorForest forest = build_tree(read);
  CHECK_FALSE(forest.roots.empty());
  for (const LogicalIterator& iterator : forest.iterators) {
    CHECK(iterator.root != kNoIterator);
    CHECK(forest[iterator.root].parent == kNoIterator);
  }
}

TEST_CASE("the consumer's calls are GetNext ops, else calls of roots, else bare GetNext ops") {
  SyntheticTrace with_op;
  with_op.add("main", "IteratorGetNextOp::DoCompute", 0, 100);
  with_op.iterator("main", "Iterator::Root", 1, 0, 10, 80);
  const Trace trace_with_op = with_op.to_trace();
  const IteratorForest forest_with_op = build_tree(trace_with_op);
  REQUIRE(forest_with_op.root_calls.size() == 1);
  CHECK(forest_with_op.root_calls[0].span == Interval{0, 100 * kPicosecondsPerMicrosecond});
  CHECK(forest_with_op.loose_root_calls.empty());

  SyntheticTrace without_op;
  without_op.iterator("main", "Iterator::Root", 1, 0, 10, 80);
  const Trace trace_without_op = without_op.to_trace();
  const IteratorForest forest_without_op = build_tree(trace_without_op);
  REQUIRE(forest_without_op.root_calls.size() == 1);
  CHECK(forest_without_op.root_calls[0].root != kNoIterator);

  SyntheticTrace bare;
  bare.add("main", "IteratorGetNext:IteratorGetNext", 0, 100);
  const Trace bare_trace = bare.to_trace();
  const IteratorForest bare_forest = build_tree(bare_trace);
  REQUIRE(bare_forest.root_calls.size() == 1);
  CHECK(bare_forest.root_calls[0].root == kNoIterator);
}

TEST_CASE("background calls are in order of start over all threads, and blocks know their latest end") {
  SyntheticTrace written;
  for (int call = 0; call < 5'000; ++call) {
    const double length = call == 3 || call == 2'600 ? 1e4 : 5;
    // Of one iterator there are a few calls in all, of another all are in the first half.
    const bool is_rare = call % 900 == 0;
    const bool is_early = call % 3 == 0 && call < 2'000;
    const char* const below = is_rare ? "::Range" : is_early ? "::Filter" : "";
    written.iterator("worker-" + std::to_string(call * 7 % 11), std::string("Iterator::Root::Map") + below,
                     is_rare    ? 3
                     : is_early ? 4
                                : 2,
                     1, 20.0 * std::floor(call / 2.0), length);
  }
  const Trace trace = written.to_trace();
  for (const unsigned threads : {1u, 2u, 3u}) {
    CAPTURE(threads);
    WorkOptions work;
    work.threads = threads;
    const IteratorForest forest = build_tree(trace, work);
    std::size_t count = 0;
    for (const LogicalIterator& iterator : forest.iterators) {
      const std::vector<CallRef>& calls = iterator.top_calls;
      REQUIRE(iterator.block_latest_end.size() == (calls.size() + kCallBlock - 1) / kCallBlock);
      count += calls.size();
      Picoseconds latest = 0;
      for (std::size_t index = 0; index < calls.size(); ++index) {
        const auto key = [&](CallRef ref) {
          return std::make_tuple(call_of(trace, ref).span.start(), ref.lane, ref.row);
        };
        if (index > 0) REQUIRE(key(calls[index - 1]) < key(calls[index]));
        latest = std::max(latest, call_of(trace, calls[index]).span.end());
        const bool ends_block = (index + 1) % kCallBlock == 0 || index + 1 == calls.size();
        if (ends_block) REQUIRE(iterator.block_latest_end[index / kCallBlock] == latest);
      }
    }
    CHECK(count > 4'000);  // the others are within the long ones
  }
}

TEST_CASE("a text where a number is expected is no number") {
  SyntheticTrace trace;
  auto& map = trace.iterator("main", "Iterator::Root::ParallelMapV2", 1, 0, 0, 10);
  map.texts["parallelism"] = "unavailable";
  map.numbers["buffer_limit"] = 8;
  const Trace read = trace.to_trace();
  const IteratorForest forest = build_tree(read);
  CHECK_FALSE(number_attribute(read, forest.iterators[0], "parallelism"));
  CHECK(number_attribute(read, forest.iterators[0], "buffer_limit") == 8);
  CHECK_FALSE(number_attribute(read, forest.iterators[0], "cpu_budget"));
}

TEST_CASE("an iterator whose parent's calls end behind the window stands where its name says, if that is one place") {
  const auto written = [](std::uint64_t second_pipeline) {
    SyntheticTrace trace;
    trace.iterator("main", "Iterator::Root", 1, 0, 0, 100);
    trace.iterator("main", "Iterator::Root::Prefetch", 2, 1, 1, 90);
    trace.iterator("worker", "Iterator::Root::Prefetch::BatchV2::Map", 9, 77, 10, 50);  // no event has the id 77
    if (second_pipeline == 0) return trace;
    trace.iterator("other", "Iterator::Root", second_pipeline, 0, 0, 100);
    trace.iterator("other", "Iterator::Root::Prefetch", second_pipeline + 1, second_pipeline, 1, 90);
    return trace;
  };
  const Trace one = written(0).to_trace();
  CHECK(parent_name(build_tree(one), "Iterator::Root::Prefetch::BatchV2::Map") == "Iterator::Root::Prefetch");
  const Trace two = written(500).to_trace();
  CHECK(parent_name(build_tree(two), "Iterator::Root::Prefetch::BatchV2::Map").empty());
}

TEST_CASE("a chain deeper than any real pipeline is cut, and what was moved up is counted") {
  SyntheticTrace chain;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    chain.iterator("t", fmt::format("Iterator::Map{}", index), index + 1, index, 10.0 * static_cast<double>(index), 5);
  }
  const Trace trace = chain.to_trace();
  const IteratorForest forest = build_tree(trace);
  REQUIRE(forest.iterators.size() == 1000);
  CHECK(forest.roots.size() == 1);
  CHECK(forest.iterators.back().depth == 256);
  CHECK(forest.too_deep == 1000 - 257);
  CHECK(measure(trace, forest).loss.counts.at("iterators_nested_too_deep") == 1000 - 257);
  SyntheticTrace cycle;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    cycle.iterator("t", fmt::format("Iterator::Map{}", index), index + 1, (index + 1) % 1000 + 1,
                   10.0 * static_cast<double>(index), 5);
  }
  CHECK(build_tree(cycle.to_trace()).roots.size() == 1);
}

TEST_CASE("iterators beyond the most that are told apart count as the last one") {
  SyntheticTrace written;
  for (std::uint64_t id = 1; id <= kMostIterators + 10; ++id) {
    written.iterator("a", "Iterator::Root" + std::to_string(id), id, 0, 10.0 * static_cast<double>(id), 5);
  }
  const Trace trace = written.to_trace();
  const IteratorForest forest = build_tree(trace);
  CHECK(forest.iterators.size() == kMostIterators);
  CHECK(forest.too_many == 10);
  CHECK(forest.iterators.back().instances.size() == 11);
  CHECK(forest.iterators.back().call_count == 11);
  CHECK(measure(trace, forest).loss.counts.at("iterators_of_too_many_names") == 10);
}

TEST_CASE("a parent is found by name however many parts that has") {
  SyntheticTrace written;
  std::string name = "Iterator::Root[1]";
  written.iterator("a", name, 1, 0, 0, 5);
  for (int part = 0; part < 3000; ++part) name += "::Map";
  written.iterator("b", name, 3, 2, 10, 5);  // calls of its parent, 2, were not seen
  const IteratorForest forest = build_tree(written.to_trace());
  REQUIRE(forest.iterators.size() == 2);
  CHECK(forest.iterators[1].parent == IteratorId{0});
}

}  // namespace doctor::tree_test
