#pragma once

#include "synthetic_trace.h"

namespace doctor {

/// A step of a pipeline of two iterators.
inline SyntheticTrace small_pipeline() {
  SyntheticTrace trace;
  trace.add("python", "IteratorGetNextOp::DoCompute", 10, 100);
  trace.iterator("python", "Iterator::Root", 1, 0, 12, 90).numbers["cpu_budget"] = 4;
  auto& map = trace.iterator("python", "Iterator::Root::Map", 1ull << 63, 1, 15, 80);
  map.texts["name"] = "MapDataset:3";
  map.texts["deterministic"] = "true";
  trace.add("python", "train", 5, 200).ids["step_num"] = 3;
  return trace;
}

}  // namespace doctor
