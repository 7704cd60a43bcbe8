#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace doctor {

// The tracks that `convert --annotate` adds to a Chrome trace. Nobody recorded them.

/// The label (metadata "process_labels") of a process that holds them. Readers skip all its events.
inline constexpr std::string_view kAnnotationLabel = "made by tfdata-doctor, not recorded";

/// A slice of a track, or a moment if it takes no time. Names and texts are foreign.
struct AnnotationSlice {
  Interval span;
  std::string name;         ///< equal for equal meanings: Perfetto chooses colours by name
  std::string_view colour;  ///< one of chrome://tracing's reserved names; empty: the viewer chooses
  std::vector<std::pair<std::string_view, std::string>> arguments = {};
};

struct AnnotationTrack {
  std::string name;
  std::vector<AnnotationSlice> slices;   ///< by start; none overlaps another
  std::vector<AnnotationSlice> moments;  ///< by start
};

/// An arrow from a moment inside a slice of one track to a later one inside a slice of another.
struct AnnotationArrow {
  std::size_t from_track = 0;
  Picoseconds from = 0;
  std::size_t to_track = 0;
  Picoseconds to = 0;
};

/// A number over time.
struct AnnotationCounter {
  std::string name;
  std::vector<std::pair<Picoseconds, double>> values;  ///< by time
};

/// The tracks about one host, from the top.
struct AnnotationGroup {
  std::string title;
  std::string file;            ///< of the host, as named by the user
  std::int64_t origin_ns = 0;  ///< the origin of its times, in nanoseconds on the clock of its file
  std::vector<AnnotationTrack> tracks;
  std::vector<AnnotationArrow> arrows;
  std::vector<AnnotationCounter> counters;
};

}  // namespace doctor
