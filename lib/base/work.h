#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace doctor {

/// How far the work has come. Any thread may look at it at any time; each value has one writer.
struct Progress {
  // Written by diagnose_files().
  std::atomic<const char*> stage{""};           ///< as in the timings, e.g. "read"
  std::atomic<std::size_t> file_index{0};       ///< the file that is worked on, in the order given
  std::atomic<std::uint64_t> bytes_total{0};    ///< of all files, as stored; 0 while unknown
  std::atomic<std::uint64_t> bytes_before{0};   ///< of the files that are done, as stored
  std::atomic<std::uint64_t> events_before{0};  ///< of the files that are done

  // Written by the reader of the present file, which finds them at 0. It may read a file more than once.
  std::atomic<std::uint64_t> bytes_read{0};   ///< its source's stored_position(): goes back when the file is read again
  std::atomic<std::uint64_t> event_count{0};  ///< found in the present file; from 0 again when they are counted again
};

/// What the stages may use. No result depends on it.
struct WorkOptions {
  unsigned threads = 1;          ///< threads that work at once, the calling one included; at least 1
  Progress* progress = nullptr;  ///< gets how far the work has come; may be null
  /// Bytes of a file that a thread handles at a time. With all that is made of them they stay within a core's cache.
  std::size_t window_size = std::size_t{128} << 10;
};

}  // namespace doctor
