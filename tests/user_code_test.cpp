// What of the user's code an iterator is: what TF made of it is told as she wrote it.

#include "diagnose/user_code.h"

#include <doctest/doctest.h>

#include "measure/measure.h"
#include "measured_pipeline.h"

namespace doctor::user_code_test {
namespace {

/// A tree, written as its long names with what the trace calls the dataset. Parents come first.
HostMeasurement tree_of(const std::vector<std::pair<std::string, std::string>>& rows) {
  HostMeasurement host;
  for (const auto& [long_name, dataset_name] : rows) {
    IteratorMeasurement iterator;
    iterator.long_name = long_name;
    iterator.short_name = short_name_of(long_name);
    iterator.dataset_name = dataset_name;
    iterator.root = IteratorId{0};
    iterator.is_async = dataset_kind(iterator.short_name).has(Trait::async);
    iterator.is_source = dataset_kind(iterator.short_name).is_source();
    const std::string parent = long_name.substr(0, long_name.rfind("::"));
    for (std::size_t index = 0; index < host.iterators.size(); ++index) {
      if (host.iterators[index].long_name != parent) continue;
      iterator.parent = static_cast<IteratorId>(index);
      host.iterators[index].children.push_back(static_cast<IteratorId>(host.iterators.size()));
    }
    host.iterators.push_back(std::move(iterator));
  }
  find_user_calls({}, host);
  return host;
}

void set(HostMeasurement& host, std::size_t index, const std::string& attribute, std::int64_t number) {
  host.iterators[index].attributes.push_back({attribute, number, {}});
}

void set(HostMeasurement& host, std::size_t index, const std::string& attribute, const std::string& text) {
  host.iterators[index].attributes.push_back({attribute, std::nullopt, text});
}

std::string words(const HostMeasurement& host, std::size_t index) {
  return describe(host, static_cast<IteratorId>(index));
}

std::string method(const HostMeasurement& host, std::size_t index) {
  return host.iterators[static_cast<IteratorId>(index)].user_call.method();
}

std::string name(const HostMeasurement& host, std::size_t index) {
  return host.iterators[static_cast<IteratorId>(index)].user_call.name();
}

TEST_CASE("stages of one kind are counted in the order of the code") {
  const HostMeasurement host = tree_of({{"Root", ""},
                                        {"Root::Map", "MapDataset:5"},
                                        {"Root::Map::BatchV2", "BatchDatasetV2:4"},
                                        {"Root::Map::BatchV2::ParallelMapV2", "ParallelMapDatasetV2:3"},
                                        {"Root::Map::BatchV2::ParallelMapV2::TFRecord", "TFRecordDataset:1"}});
  CHECK(words(host, 1) == "your 2nd map");
  CHECK(words(host, 2) == "Dataset.batch");
  CHECK(words(host, 3) == "your 1st map");
  CHECK(words(host, 4) == "tf.data.TFRecordDataset");
  CHECK(method(host, 1) == "map");
  CHECK(method(host, 0).empty());
  CHECK(is_one_of_several(host.iterators[IteratorId{1}]));
  CHECK_FALSE(is_one_of_several(host.iterators[IteratorId{2}]));
}

TEST_CASE("iterators by themselves") {
  const auto by_itself = [](const std::string& short_name, const std::string& dataset_name = {}) {
    IteratorMeasurement iterator;
    iterator.short_name = short_name;
    iterator.dataset_name = dataset_name;
    HostMeasurement host;
    host.iterators = {iterator};
    find_user_calls({}, host);
    return describe(host.iterators[IteratorId{0}]);
  };
  CHECK(by_itself("Map") == "Dataset.map");
  CHECK(by_itself("ParallelMapV2") == "Dataset.map with num_parallel_calls");
  CHECK(by_itself("ForeverRepeat") == "Dataset.repeat");
  CHECK(by_itself("FixedLengthRecordV2") == "tf.data.FixedLengthRecordDataset");
  CHECK(by_itself("Prefetch", "inject/prefetch_4_PrefetchDataset:5") == "Dataset.prefetch (added by TF)");
  CHECK(by_itself("MapAndBatch", "fused(MapDataset:3,BatchDatasetV2:4)") == "map + batch");
  CHECK(by_itself("MapAndBatch", "fused(fused(MapDataset:1,MapDataset:2),BatchDatasetV2:3)") == "map + map + batch");
  CHECK(by_itself("MapAndBatch", "fused(") == "map + batch");
  CHECK(by_itself("MapAndBatch") == "your .map().batch(), run as one (MapAndBatch)");  // TF 2.4 gives no dataset name
  CHECK(by_itself("Root", "inject/prefetch_4_PrefetchDataset:5") == "tf.data's own frame");
  CHECK(by_itself("SomethingNewV7") == "SomethingNewV7");
  CHECK(by_itself("").empty());
}

TEST_CASE("inputs of a zip are counted one after another") {
  const HostMeasurement host = tree_of({{"Root", ""},
                                        {"Root::Zip", "ZipDataset:6"},
                                        {"Root::Zip::Map[0]", "MapDataset:3"},
                                        {"Root::Zip::Map[0]::Range", "RangeDataset:1"},
                                        {"Root::Zip::Map[1]", "MapDataset:5"},
                                        {"Root::Zip::Map[1]::Range", "RangeDataset:4"}});
  CHECK(words(host, 2) == "your 1st map");
  CHECK(words(host, 4) == "your 2nd map");
  CHECK(words(host, 5) == "tf.data.Dataset.range (the 2nd of 2)");
}

TEST_CASE("what TF parallelised by itself is no num_parallel_calls of the user") {
  HostMeasurement host = tree_of({{"Root", "MapDataset:3"},
                                  {"Root::ParallelMapV2", "MapDataset:3"},
                                  {"Root::ParallelMapV2::ParallelMapV2", "ParallelMapDatasetV2:2"}});
  CHECK(words(host, 1) == "your 2nd map");
  CHECK(host.iterators[1].user_call.is_parallelised_by_tf);
  CHECK_FALSE(host.iterators[2].user_call.is_parallelised_by_tf);

  // The root carries the name of what stands below it.
  HostMeasurement fused = tree_of({{"Root", "fused(MapDataset:1,BatchDatasetV2:2)"},
                                   {"Root::MapAndBatch", "fused(MapDataset:1,BatchDatasetV2:2)"}});
  CHECK(words(fused, 1) == "map + batch");
  set(fused, 1, "autotune", "true");
  find_user_calls({}, fused);
  CHECK(words(fused, 1) == "map + batch");
  CHECK(method(fused, 1) == "map.batch");
  fused.iterators[1].dataset_name = "fused(ParallelMapDatasetV2:1,BatchDatasetV2:2)";
  find_user_calls({}, fused);
  CHECK(words(fused, 1) == "map + batch");
}

TEST_CASE("the name that the user gave is hers") {
  const HostMeasurement host = tree_of({{"Root", "parse"},
                                        {"Root::Prefetch", "inject/prefetch_parse/_7"},
                                        {"Root::Prefetch::ParallelMapV2", "parse"},
                                        {"Root::Prefetch::ParallelMapV2::MapAndBatch", "fused(load,BatchDatasetV2:2)"},
                                        {"Root::Prefetch::ParallelMapV2::MapAndBatch::TFRecord", "files"}});
  CHECK(name(host, 2) == "parse");
  CHECK(words(host, 2) == "map \"parse\"");
  CHECK(name(host, 3) == "load");
  CHECK(words(host, 3) == "map \"load\" + batch");
  CHECK(words(host, 4) == "tf.data.TFRecordDataset (named files)");
  // Of what TF put in, and of the root, which carries the name of what stands below it, nothing is hers.
  CHECK(name(host, 0).empty());
  CHECK(name(host, 1).empty());
  CHECK(method(host, 1).empty());
  CHECK(name(tree_of({{"Root", ""}, {"Root::Prefetch", "device_prefetch"}}), 1).empty());
  CHECK(name(tree_of({{"Root", ""}, {"Root::Map", "MapDataset:3"}}), 1).empty());
}

/// Lines as the names say them, or as the file beside the trace does.
HostMeasurement with_lines(HostMeasurement host, const SourceLines& lines = {}) {
  find_user_calls(lines, host);
  return host;
}

TEST_CASE("a transformation is found at its line") {
  const HostMeasurement host =
      with_lines(tree_of({{"Root", "at_input_py_L36_batch"},
                          {"Root::BatchV2", "at_input_py_L36_batch"},
                          {"Root::BatchV2::ParallelMapV2", "at_input_py_L35_map"},
                          {"Root::BatchV2::ParallelMapV2::Map", "at_input_py_L34_map"},
                          {"Root::BatchV2::ParallelMapV2::Map::TFRecord", "at_input_py_L33_TFRecordDataset"}}));
  CHECK(words(host, 1) == "batch at input.py:36");
  CHECK(words(host, 2) == "map at input.py:35");
  CHECK(words(host, 3) == "map at input.py:34");
  CHECK(words(host, 4) == "tf.data.TFRecordDataset at input.py:33");
  CHECK(name(host, 2).empty());
  CHECK(method(host, 2) == "map");
  CHECK(host.iterators[IteratorId{0}].line() == nullptr);
  REQUIRE(host.iterators[IteratorId{3}].line() != nullptr);
  CHECK(host.iterators[IteratorId{3}].line()->line == 34);
  CHECK_FALSE(is_one_of_several(host.iterators[IteratorId{2}]));
}

TEST_CASE("calls of one line are still counted") {
  const HostMeasurement host = with_lines(tree_of({{"Root", ""},
                                                   {"Root::Map", "at_input_py_L34_map_2"},
                                                   {"Root::Map::Map", "at_input_py_L34_map"},
                                                   {"Root::Map::Map::Range", "at_input_py_L34_range"}}));
  CHECK(words(host, 1) == "your 2nd map at input.py:34");
  CHECK(words(host, 2) == "your 1st map at input.py:34");
  CHECK(words(host, 3) == "tf.data.Dataset.range at input.py:34");
  CHECK(is_one_of_several(host.iterators[IteratorId{1}]));
}

TEST_CASE("what TF fused keeps the lines of its parts") {
  const HostMeasurement host =
      with_lines(tree_of({{"Root", ""},
                          {"Root::MapAndBatch", "fused(fused(at_a_py_L4_map,at_a_py_L5_map),at_b_py_L6_batch)"},
                          {"Root::MapAndBatch::ShuffleAndRepeat", "fused(at_a_py_L3_shuffle,at_a_py_L3_repeat)"}}));
  CHECK(words(host, 1) == "map + map + batch at a.py:4, 5, b.py:6");
  CHECK(words(host, 2) == "shuffle + repeat at a.py:3");
  CHECK(method(host, 2) == "shuffle.repeat");
}

TEST_CASE("who asked for parallel calls is in the file beside the trace") {
  SourceLines lines;
  lines.names["at_input_py_L34_map"] = {"/home/me/src/input.py", 34, "dataset.map(f)", {}, false};
  lines.names["parse"] = {"/home/me/src/input.py", 35, "dataset.map(f)", {}, true};
  const HostMeasurement host = with_lines(tree_of({{"Root", ""},
                                                   {"Root::ParallelMapV2", "parse"},
                                                   {"Root::ParallelMapV2::ParallelMapV2", "at_input_py_L34_map"}}),
                                          lines);
  CHECK(words(host, 1) == "map \"parse\" at input.py:35");
  CHECK(words(host, 2) == "map at input.py:34");
  CHECK_FALSE(host.iterators[1].user_call.is_parallelised_by_tf);
}

TEST_CASE("a name says which function wrote a step of its own") {
  const HostMeasurement host =
      with_lines(tree_of({{"Root", ""},
                          {"Root::Prefetch", "at_train_py_L9_fit"},
                          {"Root::Prefetch::Map", "at_train_py_L5_text_dataset_from_directory"},
                          {"Root::Prefetch::Map::TensorSlice", "at_train_py_L5_text_dataset_from_directory"}}));
  CHECK(words(host, 1) == "the prefetch inside of fit at train.py:9");
  CHECK(words(host, 2) == "the map inside of text_dataset_from_directory at train.py:5");
  CHECK(method(host, 2) == "text_dataset_from_directory");
}

TEST_CASE("one call that writes several transformations is told as that call") {
  const HostMeasurement generator = tree_of({{"Root", ""},
                                             {"Root::FlatMap", "FlatMapDataset:1"},
                                             {"Root::FlatMap::FromTensor", "TensorDataset:0"},
                                             {"Root::FlatMap::Generator", "GeneratorDataset:3"}});
  CHECK(words(generator, 1) == "the flat_map inside of from_generator");
  CHECK(words(generator, 2) == "the from_tensors inside of from_generator");
  CHECK(words(generator, 3) == "tf.data.Dataset.from_generator");
  CHECK(method(generator, 1) == "from_generator");

  const HostMeasurement files = tree_of({{"Root", ""},
                                         {"Root::FlatMap", "FlatMapDataset:4"},
                                         {"Root::FlatMap::TFRecord", "TFRecordDataset:9"},
                                         {"Root::FlatMap::TensorSlice", "TensorSliceDataset:0"}});
  CHECK(words(files, 1) == "the flat_map inside of TFRecordDataset");

  // Her own flat_map stands around that of the reader.
  const HostMeasurement own = tree_of({{"Root", ""},
                                       {"Root::FlatMap", "FlatMapDataset:4"},
                                       {"Root::FlatMap::FlatMap", "FlatMapDataset:8"},
                                       {"Root::FlatMap::FlatMap::TFRecord", "TFRecordDataset:9"}});
  CHECK(words(own, 1) == "Dataset.flat_map");

  const std::string csv = "Root::Prefetch::Map::BatchV2::ShuffleAndRepeat::LegacyParallelInterleaveV2";
  const HostMeasurement made = tree_of({{"Root", ""},
                                        {"Root::Prefetch", ""},
                                        {"Root::Prefetch::Map", ""},
                                        {"Root::Prefetch::Map::BatchV2", ""},
                                        {"Root::Prefetch::Map::BatchV2::ShuffleAndRepeat", ""},
                                        {csv, ""},
                                        {csv + "::CSV", ""}});
  for (std::size_t index = 1; index < 7; ++index) {
    CAPTURE(index);
    CHECK(words(made, index).ends_with(" inside of make_csv_dataset"));
    CHECK(method(made, index) == "make_csv_dataset");
  }
  const HostMeasurement by_hand = tree_of({{"Root", ""},
                                           {"Root::Map", ""},
                                           {"Root::Map::LegacyParallelInterleaveV2", ""},
                                           {"Root::Map::LegacyParallelInterleaveV2::CSV", ""}});
  CHECK(words(by_hand, 1) == "Dataset.map");
  CHECK(words(by_hand, 3) == "tf.data.experimental.CsvDataset");
}

HostMeasurement image_directory(std::int64_t buffer_size) {
  const std::string zip = "Root::Prefetch::MapAndBatch::Shuffle::Zip";
  HostMeasurement host = tree_of({{"Root", ""},
                                  {"Root::Prefetch", "PrefetchDataset:6"},
                                  {"Root::Prefetch::MapAndBatch", "fused(ParallelMapDatasetV2:4,BatchDatasetV2:5)"},
                                  {"Root::Prefetch::MapAndBatch::Shuffle", "ShuffleDatasetV3:3"},
                                  {zip, "ZipDataset:2"},
                                  {zip + "::TensorSlice[0]", "TensorSliceDataset:0"},
                                  {zip + "::TensorSlice[1]", "TensorSliceDataset:1"}});
  set(host, 2, "batch_size", 12);
  set(host, 3, "buffer_size", buffer_size);
  find_user_calls({}, host);
  return host;
}

TEST_CASE("the directory readers of Keras") {
  const HostMeasurement host = image_directory(96);
  CHECK(method(host, 2) == "image_dataset_from_directory");
  CHECK(words(host, 2) == "the map + batch inside of image_dataset_from_directory or one like it");
  CHECK(words(host, 3) == "the shuffle inside of image_dataset_from_directory or one like it");
  CHECK(method(image_directory(1000), 2) == "map.batch");
}

TEST_CASE("a shuffle of file names shuffles no elements") {
  const std::string names = "Root::ParallelInterleaveV4::Shuffle";
  const HostMeasurement host = tree_of({{"Root", ""},
                                        {"Root::ParallelInterleaveV4", ""},
                                        {names, ""},
                                        {names + "::TensorSlice", ""},
                                        {"Root::ParallelInterleaveV4::FlatMap", ""},
                                        {"Root::ParallelInterleaveV4::FlatMap::TFRecord", ""}});
  CHECK(host.iterators[IteratorId{2}].shuffles_file_names);
  CHECK(words(host, 2) == "the shuffle of file names");
  const HostMeasurement elements = tree_of(
      {{"Root", ""}, {"Root::Shuffle", ""}, {"Root::Shuffle::FlatMap", ""}, {"Root::Shuffle::FlatMap::TFRecord", ""}});
  CHECK_FALSE(elements.iterators[IteratorId{1}].shuffles_file_names);
  const HostMeasurement in_memory =
      tree_of({{"Root", ""}, {"Root::Map", ""}, {"Root::Map::Shuffle", ""}, {"Root::Map::Shuffle::TensorSlice", ""}});
  CHECK_FALSE(in_memory.iterators[IteratorId{2}].shuffles_file_names);
}

TEST_CASE("parents in a circle end no description in a loop") {
  HostMeasurement host = tree_of({{"Root", ""}, {"Root::Map", ""}, {"Root::Map::Map", ""}});
  host.iterators[0].parent = IteratorId{2};
  host.iterators[2].children = {IteratorId{0}};
  find_user_calls({}, host);
  for (std::size_t index = 0; index < 3; ++index) CHECK_FALSE(words(host, index).empty());
}

}  // namespace
}  // namespace doctor::user_code_test
