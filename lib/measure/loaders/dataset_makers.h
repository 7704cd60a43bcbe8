#pragma once

#include "measure/measurements.h"

namespace doctor {

// Functions of TF that write several transformations at once: by the shape of what they write.

/// Who reads a directory of images; its siblings for text and audio look alike in a trace.
inline constexpr std::string_view kDirectoryReader = "tf.keras.utils.image_dataset_from_directory";

/// A person writes far fewer transformations one after another; positions beyond are not looked at.
inline constexpr std::size_t kMostStages = 1000;

/// Fills IteratorMeasurement::maker and shuffles_file_names of all iterators.
void find_makers(HostMeasurement& host);

}  // namespace doctor
