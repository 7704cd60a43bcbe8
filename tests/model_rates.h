// Fixes by kind, and the rate of a model with one.
#pragma once

#include <utility>

#include "model/prediction.h"
#include "pipeline.h"
#include "timed_pipeline.h"

namespace doctor::model_test {

inline Fix fix(FixKind kind, IteratorId iterator = kNoIterator, std::optional<std::int64_t> parallelism = {}) {
  return {kind, iterator, parallelism, {}};
}

inline double rate_with(const PipelineModel& model, const Fix& change) {
  return predict(model, std::span(&change, 1)).estimate;
}

/// Replays know how long a thread takes to wake up, so that rates are a little lower than the work alone would have it.
inline bool is_nearly(double rate, double expected) {
  return rate > 0.95 * expected && rate < 1.05 * expected;
}

/// Lets the map be a function of Python that waits: on a thread of the pool.
inline void make_function(CycleSample& sample) {
  for (CycleItem& item : sample.items) {
    if (item.kind != CycleItem::Kind::work) continue;
    item.kind = CycleItem::Kind::function;
    std::swap(item.cpu, item.wait);
  }
}

}  // namespace doctor::model_test
