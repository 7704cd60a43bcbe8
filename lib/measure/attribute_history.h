#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The value of an attribute in an event: a number or a text.
struct AttributeReading {
  std::optional<std::int64_t> number;
  std::string text;  ///< set if there is no number

  friend bool operator==(const AttributeReading&, const AttributeReading&) = default;
};

/// A change: the attribute has another value than in the iterator's previous event.
struct AttributeChange {
  Picoseconds time = 0;  ///< start of the event, on the clock of PipelineMeasurement::calls
  AttributeReading value;
};

/// The values of an attribute over the events of an iterator, in order of time, on all threads.
struct AttributeHistory {
  static constexpr std::size_t kMostChanges = 256;  // a picture shows no more; bounds the memory of a long trace

  std::string name;
  std::uint64_t event_count = 0;        ///< events that carry its value
  std::uint64_t unavailable_count = 0;  ///< events in which the runtime could not look ("unavailable")
  AttributeReading first;
  AttributeReading last;
  std::uint64_t number_count = 0;  ///< events whose value is a number: the next three members are over these
  std::int64_t min = 0;
  std::int64_t max = 0;
  double mean = 0;
  std::uint64_t change_count = 0;
  /// The changes. If there are more than kMostChanges, every 2nd, 4th, 8th … of them, beginning with the first.
  std::vector<AttributeChange> changes;
};

/// How full the buffer of an iterator was when elements were requested.
struct BufferFill {
  std::uint64_t calls = 0;  ///< calls for which the trace says it
  std::uint64_t empty_calls = 0;
  std::uint64_t full_calls = 0;  ///< calls that found at least as many elements as the limit of that moment
  std::int64_t min = 0;          ///< elements
  std::int64_t max = 0;
  double mean = 0;

  double empty_share() const { return static_cast<double>(empty_calls) / static_cast<double>(calls); }
  double full_share() const { return static_cast<double>(full_calls) / static_cast<double>(calls); }
};

/// The attributes and the buffer of one iterator, from its events.
struct IteratorHistory {
  std::vector<AttributeHistory> attributes;  ///< sorted by name
  std::optional<BufferFill> fill;            ///< nullopt if the trace does not say
};

/// The histories, indexed by IteratorId; empty for a trace that was read without ReadOptions::attribute_history.
std::vector<IteratorHistory> measure_histories(const Trace& trace, const IteratorForest& forest);

}  // namespace doctor
