#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/baseline.h"
#include "diagnose/threshold.h"
#include "trace/source_lines.h"

namespace doctor {

/// Recordings of one version of a pipeline that were made together: neighbours in a baseline with one label.
struct HistoryEntry {
  std::string label;  ///< may be empty
  std::string machine;
  std::int64_t recorded_ns = 0;  ///< of the first recording; 0: not known
  std::size_t recordings = 0;
};

/// A quantity whose history is followed.
enum class HistoryMetric {
  step,           ///< median time from call to call
  get_next,       ///< median latency of the consumer's calls
  work,           ///< all work of a step
  iterator_work,  ///< of one iterator
  op_work,        ///< of one type of op in an iterator's function
};

/// A change of a quantity from one entry on.
struct HistoryChange {
  std::size_t entry = 0;  ///< index into History::entries
  double before = 0;      ///< median of the stretch that ends there
  double after = 0;       ///< median of the stretch that begins there
};

struct HistorySeries {
  HistoryMetric metric = HistoryMetric::step;
  std::string words;  ///< "step", "DecodeJpeg in Dataset.map"
  std::optional<SourceLine> source = {};
  std::vector<std::optional<double>> values;  ///< indexed by entry: median of its recordings, in microseconds a step
  std::vector<HistoryChange> changes;         ///< ascending
};

struct History {
  std::vector<HistoryEntry> entries;  ///< the oldest first
  std::vector<HistorySeries> series;  ///< those of the whole step first, then the dearest
};

/// The quantities of a pipeline over its versions, with their changes: change_points() of the entries' medians that
/// differ by more than the threshold min_ratio. Iterators are those of the last recording.
History history_of(std::span<const StoredRun> runs, const ThresholdValues& thresholds);

}  // namespace doctor
