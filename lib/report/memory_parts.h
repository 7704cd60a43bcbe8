#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "diagnose/element_buffers.h"
#include "diagnose/tuning.h"
#include "measure/measurements.h"
#include "report/selection.h"
#include "text/columns.h"
#include "text/json_page.h"

namespace doctor {

// What the page about memory puts together.

// The part of `show memory` about the host: the elements that tf.data keeps in its buffers.

/// The buffers of some iterators.
struct BufferGroup : IteratorGroup {
  AutotuneBudget budget;
  std::vector<ElementBuffer> buffers;
  std::optional<std::int64_t> last_step;  ///< the number of the last one that was recorded, where steps have numbers

  /// So many bytes as a share of the RAM budget; nullopt where either is not known.
  std::optional<double> budget_share(std::optional<std::uint64_t> bytes) const;
  /// How many more elements are in it after each step, over the window; nullopt where they do not become more, or the
  /// trace does not show it.
  std::optional<double> elements_per_step(const ElementBuffer& buffer) const;
  /// Steps until it is full at this rate; nullopt where it has no limit, too.
  std::optional<double> steps_until_full(const ElementBuffer& buffer) const;
  /// The number of the step in which it is; nullopt where steps have no numbers, too.
  std::optional<std::int64_t> full_at_step(const ElementBuffer& buffer) const;
};

/// In the order of iterator_groups().
std::vector<BufferGroup> element_buffer_groups(const Measurements& measurements, const Diagnosis& diagnosis);

/// A title, the table of the buffers, and the RAM budget.
std::string buffers_text(const BufferGroup& group, PageWidth width);

OrderedJson buffers_json(const BufferGroup& group);

// The part of `show memory` about the process that was recorded: the samples beside the trace.

/// Its memory, how it grows with the steps, what can have taken it, and what will be taken; empty where it was not
/// noted. A file that cannot be used is a line that says why.
std::string process_memory_text(const HostMeasurement& host, PageWidth width);

/// The same; null where it was not noted.
OrderedJson process_memory_json(const HostMeasurement& host);

}  // namespace doctor
