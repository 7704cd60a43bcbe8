#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace doctor {

// Memory of the process and of the machine while a trace was recorded: "memory.csv" beside it, which scripts/record and
// the Python package write.

/// One line of it. Foreign numbers, within the bounds of what a machine can have.
struct MemorySample {
  std::int64_t time_ns = 0;             ///< since 1970
  std::uint64_t step = 0;               ///< that began last, from 1; 0: none yet
  std::uint64_t rss_bytes = 0;          ///< of the process, in RAM
  std::uint64_t available_bytes = 0;    ///< of the machine, or of the container
  std::uint64_t total_bytes = 0;        ///< likewise
  std::optional<double> other_cores{};  ///< that other programs kept busy since the sample before

  friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

/// What the file says.
struct MemorySamples {
  std::vector<MemorySample> samples;  ///< in order of time
  std::uint64_t unusable = 0;         ///< lines that are no sample, or not after the one before
  std::string path;                   ///< of the file; empty: there is none
  std::string fault;                  ///< why nothing of it could be used; empty if it could
};

/// Samples that are kept of one file; the programs that write it keep fewer.
inline constexpr std::size_t kMostMemorySamples = 10'000;

/// Bytes of the largest file that is read.
inline constexpr std::size_t kLargestMemoryFile = 2U << 20U;

/// Reads the lines. Those beyond kMostMemorySamples are left out and counted. Errors: the first line is not the one
/// that names the columns.
Result<MemorySamples> parse_memory_samples(std::string_view csv);

/// Where the samples of a trace are looked for: "memory.csv" of the folder that it lies in.
std::string memory_samples_path(const std::string& trace);

/// Reads it. Never fails: `fault` says what is wrong with it.
MemorySamples memory_samples_beside(const std::string& trace);

}  // namespace doctor
