#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "process/progress_watch.h"

namespace doctor {

/// The line that a terminal shows while work goes on, of at most `width` characters, all ASCII: `reading  412 of 1,027
/// MB [########------]  40 %  9.8 M events  3 s left`. If it is too long, the least important parts are left out.
std::string progress_line(const ProgressView& view, std::size_t width);

/// A duration as text: "3 s", "2 min 5 s", "1 h 10 min".
std::string time_text(std::chrono::seconds time);

/// The work of a stage: "reading", "building the tree". The stage's name must outlive it.
std::string_view activity_of(std::string_view stage);

/// Tests whether a stage works on one file at a time.
bool is_about_one_file(std::string_view stage);

/// The bytes read and their total, in the unit that suits the total: 412 and 1,027 MB.
struct BytesDone {
  std::uint64_t done = 0;
  std::optional<std::uint64_t> total;  ///< empty if it is unknown, or wrong because a file grew
  std::string_view unit;
};

BytesDone in_one_unit(std::uint64_t bytes_done, std::uint64_t bytes_total);

}  // namespace doctor
