#include "diagnose/dataset_makers.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace doctor {
namespace {

const IteratorMeasurement& iterator_at(const HostMeasurement& host, IteratorId iterator) {
  return host.iterators[iterator];
}

IteratorId only_input_of(const HostMeasurement& host, IteratorId iterator) {
  if (iterator == kNoIterator || iterator_at(host, iterator).children.size() != 1) return kNoIterator;
  return iterator_at(host, iterator).children.front();
}

bool has_kind(const HostMeasurement& host, IteratorId iterator, std::string_view kind) {
  return iterator != kNoIterator && kind_of(iterator_at(host, iterator)) == kind;
}

bool is_shuffle(const IteratorMeasurement& iterator) {
  return has_trait(iterator, Trait::shuffle);
}

bool has_child(const HostMeasurement& host, IteratorId iterator, std::string_view kind) {
  const std::vector<IteratorId>& children = iterator_at(host, iterator).children;
  return std::any_of(children.begin(), children.end(),
                     [&](IteratorId id) { return kind_of(iterator_at(host, id)) == kind; });
}

IteratorId parent_of(const HostMeasurement& host, IteratorId iterator) {
  return iterator == kNoIterator ? kNoIterator : iterator_at(host, iterator).parent;
}

/// The readers of files go from file to file by a flat_map, or an interleave where num_parallel_reads is set.
std::string_view reader_around(const HostMeasurement& host, IteratorId iterator) {
  if (kind_of(iterator_at(host, iterator)) != "FlatMap" && !is_parallel_interleave(iterator_at(host, iterator)))
    return {};
  for (const std::string_view reader : {"TFRecord", "TextLine", "FixedLengthRecord"}) {
    if (has_child(host, iterator, reader)) return dataset_kind(reader).words;
  }
  return {};
}

/// make_csv_dataset(): CSV below the old parallel interleave, then shuffle and repeat, batch, map, prefetch.
bool is_of_csv_dataset(const HostMeasurement& host, IteratorId iterator) {
  IteratorId below = iterator;
  if (has_kind(host, below, "Prefetch")) below = only_input_of(host, below);
  if (has_kind(host, below, "Map") || has_kind(host, below, "ParallelMap")) below = only_input_of(host, below);
  if (has_kind(host, below, "Batch")) below = only_input_of(host, below);
  while (below != kNoIterator &&
         (is_shuffle(iterator_at(host, below)) || has_trait(iterator_at(host, below), Trait::repeat))) {
    below = only_input_of(host, below);
  }
  if (has_kind(host, below, "CSV")) below = parent_of(host, below);
  if (has_kind(host, below, "IgnoreErrors")) below = parent_of(host, below);
  if (!has_kind(host, below, "LegacyParallelInterleave")) return false;
  const std::vector<IteratorId>& inner = iterator_at(host, below).children;
  const bool reads_csv = std::any_of(inner.begin(), inner.end(), [&](IteratorId id) {
    return has_kind(host, id, "CSV") || (has_kind(host, id, "IgnoreErrors") && has_child(host, id, "CSV"));
  });
  if (!reads_csv) return false;
  // Unlike an interleave that the user wrote it has a batch, with nothing but shuffle and repeat before that.
  IteratorId above = parent_of(host, below);
  while (above != kNoIterator &&
         (is_shuffle(iterator_at(host, above)) || has_trait(iterator_at(host, above), Trait::repeat))) {
    above = parent_of(host, above);
  }
  return has_kind(host, above, "Batch");
}

/// The functions of Keras that read a directory zip names of files with labels, shuffle that in a buffer of 8 batches,
/// load the files in a parallel map, batch and prefetch.
std::string_view directory_reader_of(const HostMeasurement& host, IteratorId iterator) {
  constexpr std::int64_t kBatchesInBuffer = 8;
  IteratorId map = iterator;
  if (has_kind(host, map, "Prefetch")) map = only_input_of(host, map);
  if (has_kind(host, map, "TensorSlice")) map = parent_of(host, map);
  // Labels that are encoded have a map of their own.
  if (has_kind(host, map, "ParallelMap") && has_kind(host, parent_of(host, map), "Zip")) map = parent_of(host, map);
  if (has_kind(host, map, "Zip")) map = parent_of(host, map);
  if (map != kNoIterator && is_shuffle(iterator_at(host, map))) map = parent_of(host, map);
  IteratorId batch = has_kind(host, map, "Batch") ? map : parent_of(host, map);
  if (has_kind(host, map, "Batch")) map = only_input_of(host, map);
  if (has_kind(host, map, "MapAndBatch")) batch = map;
  if (batch == kNoIterator || !(has_kind(host, map, "ParallelMap") || has_kind(host, map, "MapAndBatch"))) return {};
  const IteratorId shuffle = only_input_of(host, map);
  const IteratorId zip = only_input_of(host, shuffle);
  if (shuffle == kNoIterator || !is_shuffle(iterator_at(host, shuffle)) || !has_kind(host, zip, "Zip")) return {};
  const std::optional<std::int64_t> buffer = iterator_at(host, shuffle).number("buffer_size");
  const std::optional<std::int64_t> batch_size = iterator_at(host, batch).number("batch_size");
  if (!buffer || !batch_size || *batch_size <= 0 || *buffer / kBatchesInBuffer != *batch_size) return {};
  // Names and labels lie in memory.
  const std::vector<IteratorId> below = iterators_below(host, zip);
  const bool is_in_memory = std::all_of(below.begin(), below.end(), [&](IteratorId id) {
    return has_kind(host, id, "TensorSlice") || has_kind(host, id, "ParallelMap");
  });
  return is_in_memory ? kDirectoryReader : std::string_view{};
}

/// sample_from_datasets() draws the numbers of its inputs from a dataset of its own.
bool is_of_selector(const HostMeasurement& host, IteratorId iterator) {
  IteratorId source = iterator;
  for (std::size_t steps = 0; source != kNoIterator && !iterator_at(host, source).children.empty(); ++steps) {
    if (steps == kMostStages) return false;
    source = only_input_of(host, source);
  }
  if (!has_kind(host, source, "Random")) return false;
  const std::vector<IteratorId> above = iterators_above(host, iterator);
  return std::any_of(above.begin(), above.end(),
                     [&](IteratorId id) { return kind_of(iterator_at(host, id)) == "DirectedInterleave"; });
}

bool is_map(const HostMeasurement& host, IteratorId iterator) {
  return has_kind(host, iterator, "Map") || has_kind(host, iterator, "ParallelMap");
}

/// Below rejection_resample() a filter stands between two maps: the lower one draws for each pair of an acceptance and
/// an element, which a zip makes, the upper one takes the drawn number away. Returns the zip.
IteratorId zip_of_rejection(const HostMeasurement& host, IteratorId filter) {
  const IteratorId draws = only_input_of(host, filter);
  const IteratorId zip = is_map(host, draws) ? only_input_of(host, draws) : kNoIterator;
  const bool is_pair = has_kind(host, zip, "Zip") && iterator_at(host, zip).children.size() == 2;
  return is_pair && is_map(host, parent_of(host, filter)) ? zip : kNoIterator;
}

/// Whether rejection_resample() made it, rather than the dataset that is resampled: that is the second input of the
/// zip, and the maps that read it once more have its nodes.
bool is_of_rejection(const HostMeasurement& host, IteratorId iterator) {
  IteratorId choice = iterator;
  for (std::size_t steps = 0; choice != kNoIterator && !has_kind(host, choice, "DirectedInterleave"); ++steps) {
    choice = steps < host.iterators.size() ? parent_of(host, choice) : kNoIterator;  // a damaged file may hold a cycle
  }
  if (choice == kNoIterator) return false;
  for (const IteratorId below : iterators_below(host, choice)) {
    const IteratorId zip = has_kind(host, below, "Filter") ? zip_of_rejection(host, below) : kNoIterator;
    if (zip == kNoIterator) continue;
    // Inputs are in the order in which they were seen.
    const std::string second_input = iterator_at(host, zip).long_name + "[1]::";
    const std::vector<IteratorId>& inputs = iterator_at(host, zip).children;
    const IteratorId resampled =
        iterator_at(host, inputs.front()).long_name.starts_with(second_input) ? inputs.front() : inputs.back();
    std::vector<IteratorId> users = iterators_below(host, resampled);
    users.push_back(resampled);
    return std::none_of(users.begin(), users.end(), [&](IteratorId user) {
      const std::string& node = iterator_at(host, user).dataset_name;
      return user == iterator || (!node.empty() && node == iterator_at(host, iterator).dataset_name);
    });
  }
  return false;
}

/// The function that a name made of a line says, where the kind of dataset is not what that function is named after:
/// "image_dataset_from_directory" of a Map. Empty for all others.
std::string_view maker_in_name(const IteratorMeasurement& iterator) {
  const std::optional<NamedLine> named = line_of_name(iterator.dataset_name);
  const std::string_view method = method_of(dataset_kind(iterator));
  if (!named || named->method.empty() || method.empty()) return {};
  return named->method == method ? std::string_view{} : named->method;
}

}  // namespace

std::string_view made_by(const HostMeasurement& host, IteratorId id) {
  const IteratorMeasurement& iterator = iterator_at(host, id);
  if (is_injected(iterator)) return {};
  const auto is_python_source = [&](IteratorId child) {
    return kind_of(iterator_at(host, child)) == "Generator" && !iterator_at(host, child).is_device_hop;
  };
  const auto has_python_source = [&](IteratorId flat_map) {
    const std::vector<IteratorId>& inputs = iterator_at(host, flat_map).children;
    return has_kind(host, flat_map, "FlatMap") && std::any_of(inputs.begin(), inputs.end(), is_python_source);
  };
  if (has_python_source(id) ||
      (has_kind(host, id, "FromTensor") && iterator.parent != kNoIterator && has_python_source(iterator.parent))) {
    return "tf.data.Dataset.from_generator";
  }
  if (const std::string_view reader = reader_around(host, id); !reader.empty()) return reader;
  if (has_kind(host, id, "Map") &&
      (has_kind(host, iterator.parent, "Rebatch") || has_kind(host, iterator.parent, "LegacyRebatch"))) {
    return "Dataset.rebatch";
  }
  if (is_of_rejection(host, id)) return "Dataset.rejection_resample";
  if (is_of_selector(host, id)) return "tf.data.Dataset.sample_from_datasets";
  if (is_of_csv_dataset(host, id)) return "tf.data.experimental.make_csv_dataset";
  if (const std::string_view reader = directory_reader_of(host, id); !reader.empty()) return reader;
  return maker_in_name(iterator);
}

bool are_of_one_call(const HostMeasurement& host, IteratorId a, IteratorId b) {
  const std::string_view maker = made_by(host, a);
  if (maker.empty() || made_by(host, b) != maker) return false;
  const std::optional<NamedLine> line_of_a = line_of_name(iterator_at(host, a).dataset_name);
  const std::optional<NamedLine> line_of_b = line_of_name(iterator_at(host, b).dataset_name);
  return !line_of_a || !line_of_b || to_text(line_of_a->place) == to_text(line_of_b->place);
}

bool shuffles_file_names(const HostMeasurement& host, IteratorId id) {
  if (!is_shuffle(iterator_at(host, id))) return false;
  const IteratorId names = only_input_of(host, id);
  if (names == kNoIterator) return false;
  if (has_kind(host, names, "MatchingFiles")) return true;
  if (!has_kind(host, names, "TensorSlice")) return false;
  // What reads the files is beside it, below the transformation that goes from file to file.
  IteratorId above = iterator_at(host, id).parent;
  for (std::size_t steps = 0; above != kNoIterator && steps < host.iterators.size(); ++steps) {
    if (has_trait(iterator_at(host, above), Trait::makes_datasets)) break;
    if (!has_trait(iterator_at(host, above), Trait::frame | Trait::passes_on)) return false;
    above = iterator_at(host, above).parent;
  }
  if (above == kNoIterator) return false;
  const std::vector<IteratorId> below = iterators_below(host, above);
  return std::any_of(below.begin(), below.end(),
                     [&](IteratorId input) { return dataset_kind(iterator_at(host, input)).reads_files(); });
}

bool shuffles_elements(const HostMeasurement& host, IteratorId id) {
  return is_shuffle(iterator_at(host, id)) && !shuffles_file_names(host, id);
}

std::string_view last_name(std::string_view words) {
  words = words.substr(0, words.find(' '));
  const std::size_t dot = words.rfind('.');
  return dot == std::string_view::npos ? words : words.substr(dot + 1);
}

std::string_view method_of(const DatasetKind& kind) {
  const bool is_of_api = kind.words.find("Dataset") != std::string_view::npos || kind.words.starts_with("tf.data.");
  return is_of_api ? last_name(kind.words) : std::string_view{};
}

}  // namespace doctor
