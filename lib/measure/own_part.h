#pragma once

#include <algorithm>
#include <cstdint>

#include "trace/trace.h"

namespace doctor {

/// What the calls nested directly in a call leave of it.
struct OwnPart {
  Picoseconds time = 0;      ///< in none of them
  std::uint64_t inputs = 0;  ///< how many they are
};

inline OwnPart own_part(const ChunkedVector<IteratorCall>& calls, std::uint32_t row) {
  const PackedSpan span = calls[row].span;
  const Picoseconds call_end = span.end();
  const std::uint32_t subtree_end = calls[row].subtree_end;
  OwnPart own{span.duration(), 0};
  Picoseconds done = span.start();
  for (std::uint32_t child = row + 1; child < subtree_end; child = calls[child].subtree_end) {
    ++own.inputs;
    const Picoseconds start = std::max(calls[child].span.start(), done);
    const Picoseconds end = std::min(calls[child].span.end(), call_end);
    if (start >= end) continue;
    own.time -= end - start;
    done = end;
  }
  return own;
}

}  // namespace doctor
