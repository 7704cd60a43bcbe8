#include <array>

#include "text/numbers.h"
#include "trace/trace_builder.h"

namespace doctor {
namespace {

/// Calls that last no time were not clocked, or what wrote the file has lost how long they took.
void doubt_lengths(Trace& trace) {
  // No op is done in less: to find its iterator and to record its events takes longer. Of 298 recordings the shortest
  // call took 5.4 us.
  constexpr Picoseconds kShortestCall = 100 * kPicosecondsPerNanosecond;
  // Of recordings none is.
  constexpr std::uint64_t kFewestOfLength = 8;
  std::uint64_t count = 0;
  std::uint64_t too_short = 0;
  for (const Lane& lane : trace.lanes) {
    const ChunkedVector<GetNextCall>& calls = lane.get_next_calls;
    for (std::size_t index = 0; index < calls.size(); ++index) {
      too_short += calls[index].span.duration() < kShortestCall ? 1 : 0;
    }
    count += calls.size();
  }
  if (too_short * kFewestOfLength <= count) return;
  trace.loss.add("events_without_length", too_short);
  trace.loss.notes.push_back("GetNext calls that last less than any op can: " + format_count(too_short) + " of " +
                             format_count(count) + ". How long events took is lost");
}

/// Of the calls that no training loop makes so many of a thread are looked at: what is wrong with all is wrong with
/// them.
constexpr std::uint32_t kMostOfThread = 4096;

/// On one clock nothing is taken before it is made.
void doubt_clocks(Trace& trace) {
  // Of recordings none is; an id that comes again may belong to an element that was made before the window.
  constexpr std::size_t kFewestInOrder = 8;
  std::size_t taken = 0;
  std::size_t too_early = 0;
  for (const Lane& lane : trace.lanes) {
    for (std::size_t index = 0; index < std::min<std::size_t>(lane.consumed.size(), kMostOfThread); ++index) {
      const ConsumedElement& consumed = lane.consumed[index];
      if (consumed.row == kNoRow || consumed.element == kNoRow || consumed.element < trace.unnamed_elements) continue;
      const ProducedElement& element = trace.produced[consumed.element];
      if (element.row == kNoRow) continue;
      const PackedSpan made = trace.lanes[LaneId{element.lane}].iterator_calls[element.row].span;
      ++taken;
      too_early += made.start() > lane.iterator_calls[consumed.row].span.end() ? 1 : 0;
    }
  }
  if (too_early * kFewestInOrder <= taken) return;
  trace.loss.add("lines_of_other_clocks");
  trace.loss.notes.push_back("of " + format_count(taken, "element") + " " + format_count(too_early) +
                             " are taken before they are made: threads have times that do not fit together");
}

/// Whether the call goes on while its thread does what comes after it: an iterator's call inside of it ends later, or
/// two calls of one iterator are inside of it, of which an op takes one element. Of the calls of 279 recordings none
/// does.
bool runs_into_next(const IteratorCalls& rows, const GetNextCall& call) {
  // Chrome traces have times to the nanosecond.
  constexpr Picoseconds kRounding = kPicosecondsPerMicrosecond;
  for (std::uint32_t row = call.first_row; row < call.end_row; row = rows.subtree_end(row)) {
    if (rows[row].span.end() > call.span.end() + kRounding) return true;
    if (row > call.first_row && rows[row].instance == rows[call.first_row].instance) return true;
  }
  return false;
}

/// A thread does one thing after another, and no iterator calls itself.
void doubt_nesting(Trace& trace) {
  std::uint64_t count = 0;
  for (const Lane& lane : trace.lanes) {
    const IteratorCalls& rows = lane.iterator_calls;
    for (std::size_t index = 0; index < lane.get_next_calls.size(); ++index) {
      count += runs_into_next(rows, lane.get_next_calls[index]) ? 1 : 0;
    }
    for (std::uint32_t row = 0; row < rows.size() && row < kMostOfThread; row = rows.subtree_end(row)) {
      const bool has_inner = rows.subtree_end(row) > row + 1;
      count += has_inner && rows[row].instance == rows[row + 1].instance ? 1 : 0;
    }
  }
  if (count == 0) return;
  trace.loss.add("calls_in_themselves", count);
  trace.loss.notes.push_back("calls that go on while their thread makes the next one: " + format_count(count) +
                             ". How long events took is wrong, or they are there twice");
}

/// No two threads make their first call, their last and as many in between at the same times to the nanosecond.
void doubt_repeats(Trace& trace) {
  std::map<std::array<Picoseconds, 4>, std::size_t> seen;  // the calls of threads, by their first and their last
  std::uint64_t repeats = 0;
  for (const Lane& lane : trace.lanes) {
    const ChunkedVector<GetNextCall>& calls = lane.get_next_calls;
    if (calls.size() < 2) continue;  // one time may be the same by chance
    const PackedSpan first = calls[0].span;
    const PackedSpan last = calls[calls.size() - 1].span;
    const auto [other, is_new] =
        seen.try_emplace({first.start(), first.duration(), last.start(), last.duration()}, calls.size());
    if (!is_new && other->second == calls.size()) repeats += calls.size();
  }
  if (repeats == 0) return;
  trace.loss.add("calls_repeated", repeats);
  trace.loss.notes.push_back("GetNext calls that are there twice, at the same times on two threads: " +
                             format_count(repeats));
}

}  // namespace

void doubt_calls(Trace& trace) {
  doubt_lengths(trace);
  if (!trace.lanes_are_threads) return;
  doubt_clocks(trace);
  doubt_nesting(trace);
  doubt_repeats(trace);
}

}  // namespace doctor
