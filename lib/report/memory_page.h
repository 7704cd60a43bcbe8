#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "text/columns.h"
#include "text/json_page.h"

namespace doctor {

// `show memory`: what the allocators of the devices gave, what was held at the peak, and the elements that tf.data
// keeps in its buffers. Measurements need their profiles; with the histories of attributes, buffers have their largest
// values.

/// `top`: how many rows of what is held at the peak of each allocator; nullopt: all. Likewise below.
std::string render_memory_text(const Measurements& measurements, const Diagnosis& diagnosis,
                               std::optional<std::size_t> top, PageWidth width = {});

/// The same as `tfdata-doctor.memory/1`, with the timelines.
OrderedJson memory_json(const Measurements& measurements, const Diagnosis& diagnosis, std::optional<std::size_t> top);

/// A line for each kind of allocation at the peak, and for each buffer.
std::string render_memory_csv(const Measurements& measurements, const Diagnosis& diagnosis,
                              std::optional<std::size_t> top);

}  // namespace doctor
