#include "measure/loaders/dataset_makers.h"

#include <set>

namespace doctor {
namespace {

const IteratorMeasurement& iterator_at(const HostMeasurement& host, IteratorId iterator) {
  return host.iterators[iterator];
}

IteratorId only_input_of(const HostMeasurement& host, IteratorId iterator) {
  if (iterator == kNoIterator || iterator_at(host, iterator).children.size() != 1) return kNoIterator;
  return iterator_at(host, iterator).children.front();
}

bool has(const HostMeasurement& host, IteratorId iterator, Trait trait) {
  return iterator != kNoIterator && iterator_at(host, iterator).has(trait);
}

bool is_sequential(const HostMeasurement& host, IteratorId iterator, Trait trait) {
  return iterator != kNoIterator && iterator_at(host, iterator).is_sequential(trait);
}

/// A map alone: with or without num_parallel_calls, not run as one with the batch after it.
bool is_map(const HostMeasurement& host, IteratorId iterator) {
  return has(host, iterator, Trait::map) && !has(host, iterator, Trait::fused_batch);
}

bool is_parallel_map(const HostMeasurement& host, IteratorId iterator) {
  return is_map(host, iterator) && has(host, iterator, Trait::parallel);
}

/// The first input that has the trait; kNoIterator if none has it.
IteratorId input_with(const HostMeasurement& host, IteratorId iterator, Trait trait) {
  const std::vector<IteratorId>& inputs = iterator_at(host, iterator).children;
  const auto found = std::find_if(inputs.begin(), inputs.end(), [&](IteratorId id) { return has(host, id, trait); });
  return found == inputs.end() ? kNoIterator : *found;
}

IteratorId parent_of(const HostMeasurement& host, IteratorId iterator) {
  return iterator == kNoIterator ? kNoIterator : iterator_at(host, iterator).parent;
}

/// The readers of files go from file to file by a flat_map, or an interleave where num_parallel_reads is set.
std::string_view reader_around(const HostMeasurement& host, IteratorId iterator) {
  if (!iterator_at(host, iterator).is_sequential(Trait::flat_map) &&
      !iterator_at(host, iterator).is_parallel_interleave())
    return {};
  const IteratorId reader = input_with(host, iterator, Trait::goes_from_file_to_file);
  return reader == kNoIterator ? std::string_view{} : iterator_at(host, reader).kind().words;
}

/// make_csv_dataset(): CSV below the old parallel interleave, then shuffle and repeat, batch, map, prefetch.
bool is_of_csv_dataset(const HostMeasurement& host, IteratorId iterator) {
  IteratorId below = iterator;
  if (has(host, below, Trait::prefetch)) below = only_input_of(host, below);
  if (is_map(host, below)) below = only_input_of(host, below);
  if (is_sequential(host, below, Trait::batch)) below = only_input_of(host, below);
  while (has(host, below, Trait::shuffle | Trait::repeat)) below = only_input_of(host, below);
  if (has(host, below, Trait::csv)) below = parent_of(host, below);
  if (has(host, below, Trait::ignore_errors)) below = parent_of(host, below);
  if (!has(host, below, Trait::deprecated)) return false;
  const IteratorId ignoring = input_with(host, below, Trait::ignore_errors);
  const IteratorId reader = ignoring == kNoIterator ? below : ignoring;
  if (input_with(host, reader, Trait::csv) == kNoIterator) return false;
  // Unlike an interleave that the user wrote it has a batch, with nothing but shuffle and repeat before that.
  IteratorId above = parent_of(host, below);
  while (has(host, above, Trait::shuffle | Trait::repeat)) above = parent_of(host, above);
  return is_sequential(host, above, Trait::batch);
}

/// The functions of Keras that read a directory zip names of files with labels, shuffle that in a buffer of 8 batches,
/// load the files in a parallel map, batch and prefetch.
std::string_view directory_reader_of(const HostMeasurement& host, IteratorId iterator) {
  // Source: keras/src/utils/image_dataset_utils.py, buffer_size=batch_size * 8.
  constexpr std::int64_t kBatchesInBuffer = 8;
  IteratorId map = iterator;
  if (has(host, map, Trait::prefetch)) map = only_input_of(host, map);
  if (has(host, map, Trait::tensor_slices)) map = parent_of(host, map);
  // Labels that are encoded have a map of their own.
  if (is_parallel_map(host, map) && has(host, parent_of(host, map), Trait::zip)) map = parent_of(host, map);
  if (has(host, map, Trait::zip)) map = parent_of(host, map);
  if (has(host, map, Trait::shuffle)) map = parent_of(host, map);
  IteratorId batch = is_sequential(host, map, Trait::batch) ? map : parent_of(host, map);
  if (is_sequential(host, map, Trait::batch)) map = only_input_of(host, map);
  if (has(host, map, Trait::fused_batch)) batch = map;
  if (batch == kNoIterator || !(is_parallel_map(host, map) || has(host, map, Trait::fused_batch))) return {};
  const IteratorId shuffle = only_input_of(host, map);
  const IteratorId zip = only_input_of(host, shuffle);
  if (!has(host, shuffle, Trait::shuffle) || !has(host, zip, Trait::zip)) return {};
  const std::optional<std::int64_t> buffer = iterator_at(host, shuffle).number("buffer_size");
  const std::optional<std::int64_t> batch_size = iterator_at(host, batch).number("batch_size");
  if (!buffer || !batch_size || *batch_size <= 0 || *buffer / kBatchesInBuffer != *batch_size) return {};
  // Names and labels lie in memory.
  const std::vector<IteratorId> below = host.iterators_below(zip);
  const bool is_in_memory = std::all_of(below.begin(), below.end(), [&](IteratorId id) {
    return has(host, id, Trait::tensor_slices) || is_parallel_map(host, id);
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
  return has(host, source, Trait::random_numbers) && host.has_above(iterator, Trait::sampling);
}

/// Below rejection_resample() a filter stands between two maps: the lower one draws for each pair of an acceptance and
/// an element, which a zip makes, the upper one takes the drawn number away. Returns the zip.
IteratorId zip_of_rejection(const HostMeasurement& host, IteratorId filter) {
  const IteratorId draws = only_input_of(host, filter);
  const IteratorId zip = is_map(host, draws) ? only_input_of(host, draws) : kNoIterator;
  const bool is_pair = has(host, zip, Trait::zip) && iterator_at(host, zip).children.size() == 2;
  return is_pair && is_map(host, parent_of(host, filter)) ? zip : kNoIterator;
}

/// What reads the dataset that rejection_resample() resamples: that is the second input of the zip, and the maps that
/// read it once more have its nodes.
struct Resampled {
  std::set<IteratorId> readers;  ///< empty where nothing is resampled
  std::set<std::string_view> nodes;
};

/// Of the first rejection_resample() below a choice between datasets.
Resampled resampled_below(const HostMeasurement& host, IteratorId choice) {
  for (const IteratorId below : host.iterators_below(choice)) {
    const IteratorId zip = is_sequential(host, below, Trait::filter) ? zip_of_rejection(host, below) : kNoIterator;
    if (zip == kNoIterator) continue;
    // Inputs are in the order in which they were seen.
    const std::string second_input = iterator_at(host, zip).long_name + "[1]::";
    const std::vector<IteratorId>& inputs = iterator_at(host, zip).children;
    const IteratorId resampled =
        iterator_at(host, inputs.front()).long_name.starts_with(second_input) ? inputs.front() : inputs.back();
    const std::vector<IteratorId> inner = host.iterators_below(resampled);
    Resampled found;
    found.readers = {inner.begin(), inner.end()};
    found.readers.insert(resampled);
    for (const IteratorId reader : found.readers) found.nodes.insert(iterator_at(host, reader).dataset_name);
    found.nodes.erase(std::string_view());
    return found;
  }
  return {};
}

/// What is asked for several iterators is found once: a trace may hold thousands below one of these.
struct Known {
  std::map<IteratorId, Resampled> resampled;  ///< by choice between datasets
  std::map<IteratorId, bool> opens_files;     ///< by opener_of_names()
};

/// Whether rejection_resample() made it, rather than the dataset that is resampled.
bool is_of_rejection(const HostMeasurement& host, IteratorId iterator, Known& known) {
  IteratorId choice = iterator;
  for (std::size_t steps = 0; choice != kNoIterator && !has(host, choice, Trait::sampling); ++steps) {
    choice = steps < kMostStages ? parent_of(host, choice) : kNoIterator;
  }
  if (choice == kNoIterator) return false;
  const auto [found, is_new] = known.resampled.try_emplace(choice);
  if (is_new) found->second = resampled_below(host, choice);
  const auto& [readers, nodes] = found->second;
  return !readers.empty() && !readers.contains(iterator) && !nodes.contains(iterator_at(host, iterator).dataset_name);
}

/// The function that a name made of a line says, where the kind of dataset is not what that function is named after:
/// "image_dataset_from_directory" of a Map. Empty for all others.
std::string_view maker_in_name(const IteratorMeasurement& iterator) {
  const std::optional<NamedLine> named = line_of_name(iterator.dataset_name);
  const std::string_view method = iterator.kind().method();
  if (!named || named->method.empty() || method.empty()) return {};
  return named->method == method ? std::string_view{} : named->method;
}

/// See IteratorMeasurement::maker.
std::string_view made_by(const HostMeasurement& host, IteratorId id, Known& known) {
  const IteratorMeasurement& iterator = iterator_at(host, id);
  if (iterator.is_injected()) return {};
  const auto is_python_source = [&](IteratorId child) {
    return iterator_at(host, child).kind().source == Source::python && !iterator_at(host, child).is_device_hop;
  };
  const auto has_python_source = [&](IteratorId flat_map) {
    const std::vector<IteratorId>& inputs = iterator_at(host, flat_map).children;
    return is_sequential(host, flat_map, Trait::flat_map) &&
           std::any_of(inputs.begin(), inputs.end(), is_python_source);
  };
  if (has_python_source(id) ||
      (has(host, id, Trait::one_element) && iterator.parent != kNoIterator && has_python_source(iterator.parent))) {
    return "tf.data.Dataset.from_generator";
  }
  if (const std::string_view reader = reader_around(host, id); !reader.empty()) return reader;
  if (is_sequential(host, id, Trait::map) && has(host, iterator.parent, Trait::rebatch)) {
    return "Dataset.rebatch";
  }
  if (is_of_rejection(host, id, known)) return "Dataset.rejection_resample";
  if (is_of_selector(host, id)) return "tf.data.Dataset.sample_from_datasets";
  if (is_of_csv_dataset(host, id)) return "tf.data.experimental.make_csv_dataset";
  if (const std::string_view reader = directory_reader_of(host, id); !reader.empty()) return reader;
  return maker_in_name(iterator);
}

/// Whether files are read below an iterator.
bool reads_files_below(const HostMeasurement& host, IteratorId iterator) {
  return host.first_below(iterator, [](const OfKind& input) { return input.kind().reads_files(); }) != kNoIterator;
}

/// The transformation that makes a dataset of each of the names that a dataset in memory holds, if this shuffles them:
/// what reads the files is beside it. kNoIterator if there is none.
IteratorId opener_of_names(const HostMeasurement& host, IteratorId shuffle) {
  IteratorId above = iterator_at(host, shuffle).parent;
  for (std::size_t steps = 0; above != kNoIterator && steps < kMostStages; ++steps) {
    if (iterator_at(host, above).has(Trait::makes_datasets)) return above;
    if (!iterator_at(host, above).has(Trait::frame | Trait::passes_on)) return kNoIterator;
    above = iterator_at(host, above).parent;
  }
  return kNoIterator;
}

}  // namespace

void find_makers(HostMeasurement& host) {
  Known known;
  for (std::size_t index = 0; index < host.iterators.size(); ++index) {
    const auto id = static_cast<IteratorId>(index);
    IteratorMeasurement& iterator = host.iterators[id];
    if (iterator.depth > kMostStages) continue;
    iterator.maker = made_by(host, id, known);
    const IteratorId names = iterator.has(Trait::shuffle) ? only_input_of(host, id) : kNoIterator;
    iterator.shuffles_file_names = has(host, names, Trait::lists_files);
    if (!has(host, names, Trait::tensor_slices)) continue;
    const IteratorId opener = opener_of_names(host, id);
    if (opener == kNoIterator) continue;
    const auto [found, is_new] = known.opens_files.try_emplace(opener);
    if (is_new) found->second = reads_files_below(host, opener);
    iterator.shuffles_file_names = found->second;
  }
}

}  // namespace doctor
