#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace doctor {

// Memory of the process and of the machine during a recording: "memory.csv" beside the trace, which scripts/record and
// the Python package write.

/// One line of the file. Its numbers are foreign, and checked against the bounds of real machines.
struct MemorySample {
  std::int64_t time_ns = 0;             ///< since 1970
  std::uint64_t step = 0;               ///< the step that began last, from 1; 0: none yet
  std::uint64_t rss_bytes = 0;          ///< of the process, in RAM
  std::uint64_t available_bytes = 0;    ///< of the machine, or of the container
  std::uint64_t total_bytes = 0;        ///< likewise
  std::optional<double> other_cores{};  ///< cores that other programs kept busy since the previous sample

  friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

/// The content of the file.
struct MemorySamples {
  std::vector<MemorySample> samples;  ///< in order of time
  std::uint64_t unusable = 0;         ///< lines that are not a sample, or not later than the line before
  std::string path;                   ///< path of the file; empty if there is none
  std::string fault;                  ///< why nothing of it could be used; empty if it could
};

/// The largest number of samples kept of one file; the programs that write it keep fewer.
inline constexpr std::size_t kMostMemorySamples = 10'000;

/// The largest file that is read, in bytes.
inline constexpr std::size_t kLargestMemoryFile = 2U << 20U;

/// Reads the lines. Those beyond kMostMemorySamples are left out and counted. Errors: the first line is not the one
/// that names the columns.
Result<MemorySamples> parse_memory_samples(std::string_view csv);

/// The path of a trace's samples: "memory.csv" in the folder of the trace.
std::string memory_samples_path(const std::string& trace);

/// Reads the samples of a trace. Never fails: `fault` says what is wrong with the file.
MemorySamples memory_samples_beside(const std::string& trace);

}  // namespace doctor
