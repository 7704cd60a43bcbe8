#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace doctor {

/// How far the work has come. Written by the thread that works, read at any time by one that shows it.
struct Progress {
  std::atomic<const char*> stage{""};         ///< as in the timings, e.g. "read"
  std::atomic<std::uint64_t> bytes_read{0};   ///< of all files so far, as stored
  std::atomic<std::uint64_t> bytes_total{0};  ///< of all files, as stored; 0 while unknown
  std::atomic<std::uint64_t> event_count{0};  ///< read so far, of all files
};

/// What the stages may use. No result depends on it.
struct WorkOptions {
  unsigned threads = 1;          ///< threads that work at once, the calling one included; at least 1
  Progress* progress = nullptr;  ///< told how far the work has come; may be null
  /// Bytes of a file that a thread handles at a time. A quarter of a megabyte stays within a core's cache with all that
  /// is made of it.
  std::size_t window_size = std::size_t{256} << 10;
};

}  // namespace doctor
