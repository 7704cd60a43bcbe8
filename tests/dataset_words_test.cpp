// Iterators in the words of the user's API.

#include "diagnose/dataset_words.h"

#include <doctest/doctest.h>

namespace doctor::dataset_words_test {
namespace {

TEST_CASE("iterators in words") {
  const auto words = [](const std::string& short_name, const std::string& dataset_name = {}) {
    IteratorMeasurement iterator;
    iterator.short_name = short_name;
    iterator.dataset_name = dataset_name;
    return describe(iterator);
  };
  CHECK(words("Map") == "Dataset.map");
  CHECK(words("ParallelMapV2") == "Dataset.map with num_parallel_calls");
  CHECK(words("ForeverRepeat") == "Dataset.repeat");
  CHECK(words("FixedLengthRecordV2") == "tf.data.FixedLengthRecordDataset");
  CHECK(words("ParallelInterleaveV4", "ParallelInterleaveDatasetV4:7") == "Dataset.interleave with num_parallel_calls");
  CHECK(words("Prefetch", "inject/prefetch_4_PrefetchDataset:5") == "Dataset.prefetch (added by TF)");
  CHECK(words("MapAndBatch", "fused(MapDataset:3,BatchDatasetV2:4)") == "map + batch");
  CHECK(words("MapAndBatch", "fused(fused(MapDataset:1,MapDataset:2),BatchDatasetV2:3)") == "map + map + batch");
  CHECK(words("MapAndBatch", "fused(") == "your .map().batch(), run as one (MapAndBatch)");
  CHECK(words("MapAndBatch") == "your .map().batch(), run as one (MapAndBatch)");  // TF 2.4 gives no dataset name
  CHECK(words("Root", "inject/prefetch_4_PrefetchDataset:5") == "tf.data's own frame");
  CHECK(words("SomethingNewV7") == "SomethingNewV7");
  CHECK(words("") == "");
}

}  // namespace
}  // namespace doctor::dataset_words_test
