// What the iterators of a pipeline do for the input.

#include <doctest/doctest.h>

#include "measure/measurements.h"
#include "measured_pipeline.h"

namespace doctor::input_work_test {
namespace {

InputWork work_of_last(const std::vector<std::string>& chain) {
  MeasuredPipeline pipeline(chain);
  return work_of(pipeline.host(), pipeline.host().iterators.back());
}

TEST_CASE("the category of an iterator follows from its kind and from those above it") {
  struct Case {
    std::vector<std::string> chain;
    InputWork work;
  };
  for (const Case& one : std::vector<Case>{
           {{"Root", "BatchV2", "TFRecord"}, InputWork::read_on_demand},
           {{"Root", "BatchV2", "FixedLengthRecordV2"}, InputWork::read_on_demand},
           {{"Root", "FlatMap", "Interleave[3]", "TextLine"}, InputWork::read_on_demand},
           {{"Root", "Prefetch", "TFRecordV2"}, InputWork::read_in_advance},
           {{"Root", "ParallelInterleaveV4", "FixedLengthRecordV2"}, InputWork::read_in_advance},
           {{"Root", "MapAndBatch", "TextLine"}, InputWork::read_in_advance},
           {{"Root", "CacheV2", "TFRecord"}, InputWork::read_in_advance},
           {{"Root", "Prefetch", "Map"}, InputWork::preprocessing},
           {{"Root", "ParallelMapV2"}, InputWork::preprocessing},
           {{"Root", "ShuffleV3"}, InputWork::preprocessing},
           {{"Root", "Prefetch"}, InputWork::other},
           {{"Root", "Map", "Range"}, InputWork::other},
           {{"Root", "Map", "TensorSlice"}, InputWork::other},
           {{"Root"}, InputWork::other},
       }) {
    CAPTURE(one.chain.back());
    CHECK(static_cast<int>(work_of_last(one.chain)) == static_cast<int>(one.work));
  }
}

TEST_CASE("a hop to a device hands elements over, and a cycle of parents ends") {
  MeasuredPipeline pipeline({"Root", "Prefetch", "Generator"});
  pipeline.host().iterators[2].is_device_hop = true;
  CHECK(work_of(pipeline.host(), pipeline.host().iterators[2]) == InputWork::enqueue);
  MeasuredPipeline cycle({"Root", "BatchV2", "TextLine"});
  cycle.host().iterators[0].parent = IteratorId{1};
  CHECK(work_of(cycle.host(), cycle.host().iterators[2]) == InputWork::read_on_demand);
}

}  // namespace

}  // namespace doctor::input_work_test
