#pragma once

#include "trace/trace.h"

namespace doctor {

/// The part of a call outside of the calls nested directly in it.
struct OwnPart {
  Picoseconds time = 0;      ///< the time in none of them
  std::uint64_t inputs = 0;  ///< their number
};

[[gnu::always_inline]] inline OwnPart own_part(const IteratorCalls& calls, std::uint32_t row) {
  const IteratorCall& call = calls[row];
  const Picoseconds call_end = call.span.end();
  OwnPart own{call.span.duration(), 0};
  Picoseconds done = call.span.start();
  const std::uint32_t subtree_end = calls.subtree_end(row, call);
  for (std::uint32_t next = row + 1; next < subtree_end;) {
    const IteratorCall& nested = calls[next];
    next = calls.subtree_end(next, nested);
    ++own.inputs;
    const Picoseconds start = std::max(nested.span.start(), done);
    const Picoseconds end = std::min(nested.span.end(), call_end);
    if (start >= end) continue;
    own.time -= end - start;
    done = end;
  }
  return own;
}

/// Calls `visit(row, Interval)` for every piece of time outside of nested calls, of the calls that `is_wanted(call)`
/// picks, in order of start over the whole lane. Calls that start at `until` or later, and those before the outermost
/// call `first_row`, are left out.
template <typename IsWanted, typename Visit>
void visit_own_times(const IteratorCalls& calls, Picoseconds until, IsWanted is_wanted, Visit visit,
                     std::uint32_t first_row = 0) {
  struct Open {
    std::uint32_t row;
    std::uint32_t subtree_end;
    bool is_wanted;
    Picoseconds end;
    Picoseconds done;
  };
  std::vector<Open> open;
  const auto add = [&](const Open& call, Picoseconds end) {
    if (call.is_wanted && call.done < end) visit(call.row, Interval{call.done, end});
  };
  const auto close = [&] {
    const Open closed = open.back();
    open.pop_back();
    add(closed, closed.end);
    if (!open.empty()) open.back().done = std::max({open.back().done, closed.done, closed.end});
  };
  const auto start_call = [&](std::uint32_t row, const IteratorCall& call, Picoseconds start) {
    while (!open.empty() && open.back().subtree_end <= row) close();
    if (!open.empty()) {
      add(open.back(), start);
      open.back().done = std::max(open.back().done, start);
    }
    const std::uint32_t subtree_end = calls.subtree_end(row, call);
    const Open opened{row, subtree_end, is_wanted(call), start + call.span.duration(), start};
    if (subtree_end > row + 1) return open.push_back(opened);
    // Half of the calls have no nested calls, and are closed at once.
    add(opened, opened.end);
    if (!open.empty()) open.back().done = std::max(open.back().done, opened.end);
  };
  for (std::uint32_t row = first_row; row < calls.size();) {
    for (const IteratorCall& call : calls.run_from(row)) {
      const Picoseconds start = call.span.start();
      if (start >= until) {
        row = static_cast<std::uint32_t>(calls.size());
        break;
      }
      start_call(row++, call, start);
    }
  }
  while (!open.empty()) close();
}

}  // namespace doctor
