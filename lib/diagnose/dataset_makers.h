#pragma once

#include <string_view>

#include "diagnose/dataset_words.h"

namespace doctor {

// Functions of TF that write several transformations at once: by the shape of what they write.

/// Who reads a directory of images; its siblings for text and audio look alike in a trace.
inline constexpr std::string_view kDirectoryReader = "tf.keras.utils.image_dataset_from_directory";

/// A person writes far fewer; where a trace has more, positions are not counted.
inline constexpr std::size_t kMostStages = 1000;

/// The function that wrote the iterator, where it writes several transformations at once and this is one of its steps:
/// "tf.data.experimental.make_csv_dataset". Empty for what the user wrote herself.
std::string_view made_by(const HostMeasurement& host, IteratorId id);

/// Whether one call of a function that writes several transformations wrote both iterators.
bool are_of_one_call(const HostMeasurement& host, IteratorId a, IteratorId b);

/// Whether it shuffles names of files and no elements of them: list_files does, nearly every pipeline has one.
bool shuffles_file_names(const HostMeasurement& host, IteratorId id);

/// Whether it shuffles elements: what comes after it differs from epoch to epoch.
bool shuffles_elements(const HostMeasurement& host, IteratorId id);

}  // namespace doctor
