// The one table of what TF's kinds of dataset are.

#include "tree/dataset_kinds.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "built_paths.h"
#include "pipeline.h"

namespace doctor::dataset_kinds_test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("every kind of iterator in the recorded traces has a row") {
  std::map<std::string, std::string> missing;  // where it was seen, by its short name
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(source_dir()) / "testdata")) {
    const std::string path = entry.path().string();
    const bool may_be_trace = path.ends_with(".pb") || path.ends_with(".json") || path.ends_with(".json.gz");
    // Inputs of the fuzz targets and the hostile trace hold invented names.
    const bool is_invented = path.find("/fuzz/") != std::string::npos || path.find("hostile") != std::string::npos;
    if (!entry.is_regular_file() || !may_be_trace || is_invented) continue;
    // What is not a trace (an expected output) is a host without iterators.
    const std::vector<std::string> files = {path};
    const Analysis analysis = diagnose_files(files, {});
    for (const HostMeasurement& host : analysis.measurements.hosts) {
      for (const IteratorMeasurement& iterator : host.iterators) {
        ++seen;
        if (dataset_kind(iterator.short_name).kind.empty()) missing.try_emplace(iterator.short_name, path);
      }
    }
  }
  CHECK(seen > 100);
  for (const auto& [name, path] : missing) FAIL_CHECK(name, " has no row; it is in ", path);
}

TEST_CASE("the kind is the short name without the version") {
  struct Case {
    std::string_view name;
    std::string_view kind;
  };
  for (const Case& one : std::vector<Case>{{"ParallelMapV2", "ParallelMap"},
                                           {"ParallelInterleaveDatasetV4", "ParallelInterleave"},
                                           {"WindowDataset", "Window"},
                                           {"BatchV2", "Batch"},
                                           {"V2", "V2"},
                                           {"Dataset", "Dataset"},
                                           {"Map", "Map"}}) {
    CHECK(kind_of(one.name) == one.kind);
  }
  CHECK(without_version("OptimizeDatasetV2") == "OptimizeDataset");
}

TEST_CASE("a family is what a dataset does, in whatever form") {
  struct Case {
    std::string_view kind;
    std::string_view family;
  };
  for (const Case& one : std::vector<Case>{{"ParallelMapV2", "Map"},
                                           {"MapAndBatch", "Map"},
                                           {"Map", "Map"},
                                           {"ParallelInterleave", "Interleave"},
                                           {"LegacyParallelInterleave", "Interleave"},
                                           {"FiniteTake", "Take"},
                                           {"EmptyRepeat", "Repeat"},
                                           {"Model", "Root"},
                                           {"MemoryReader", "Cache"},
                                           {"FileCache", "Cache"},
                                           {"NotInTheTable", "NotInTheTable"},
                                           {"", ""}}) {
    CAPTURE(one.kind);
    CHECK(family_of(one.kind) == one.family);
  }
}

TEST_CASE("what holds of important kinds") {
  struct Case {
    std::string_view name;
    std::vector<Trait> traits;
    std::vector<Trait> others;
  };
  using enum Trait;
  for (const Case& one : std::vector<Case>{
           {"ParallelMapV2",
            {async, parallel, dispatches_function, waits_for_function, worth_caching},
            {makes_datasets}},
           {"MapAndBatch", {async, waits_for_function, fused_batch}, {like_elements}},
           {"NumaMapAndBatch", {async, waits_for_function, fused_batch}, {}},
           {"ParallelFilter", {async, waits_for_function}, {may_enlarge}},
           {"ParallelFlatMap", {async, dispatches_function, makes_datasets}, {waits_for_function, may_enlarge}},
           {"LegacyParallelInterleaveV2", {async, parallel, makes_datasets, like_elements}, {waits_for_function}},
           {"Interleave", {makes_datasets, like_elements}, {async}},
           {"DirectedInterleave", {}, {makes_datasets, worth_caching}},
           {"Map", {may_enlarge, worth_caching}, {async, parallel}},
           {"Unbatch", {like_elements}, {may_enlarge}},
           {"ParallelBatch", {async, parallel}, {dispatches_function}},
           {"Prefetch", {async, passes_on}, {parallel, frame, dispatches_function}},
           {"MultiDeviceIteratorGetNext", {async}, {parallel}},
           {"CacheV2", {cache, like_elements}, {buffer}},
           {"MemoryCacheImpl", {cache, buffer}, {}},
           {"MemoryReader", {cache}, {}},
           {"FileWriter", {cache}, {}},
           {"ShuffleAndRepeatV2", {shuffle, repeat, endless, buffer}, {}},
           {"GlobalShuffle", {shuffle}, {buffer}},
           {"ForeverRepeat", {frame, repeat, endless}, {async}},
           {"Zip", {several_inputs}, {like_elements}},
           {"NotInTheTable", {}, {async, frame, cache}},
       }) {
    CAPTURE(one.name);
    for (const Trait trait : one.traits) CHECK(dataset_kind(one.name).has(trait));
    for (const Trait trait : one.others) CHECK_FALSE(dataset_kind(one.name).has(trait));
  }
}

TEST_CASE("where sources take their elements from") {
  struct Case {
    std::string_view name;
    Source source;
    bool reads_files;
  };
  for (const Case& one : std::vector<Case>{{"FixedLengthRecordV2", Source::files, true},
                                           {"ReverbTimestep", Source::files, true},
                                           {"DataServiceV4", Source::service, true},
                                           {"TensorSlice", Source::memory, false},
                                           {"Random", Source::numbers, false},
                                           {"Generator", Source::python, false},
                                           {"GlobalShuffle", Source::none, false},
                                           {"Map", Source::none, false}}) {
    CAPTURE(one.name);
    CHECK(dataset_kind(one.name).source == one.source);
    CHECK(dataset_kind(one.name).is_source() == (one.source != Source::none));
    CHECK(dataset_kind(one.name).reads_files() == one.reads_files);
  }
}

}  // namespace
}  // namespace doctor::dataset_kinds_test
