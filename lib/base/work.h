#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace doctor {

/// How far the work has come. Any thread may read it at any time; each value has one writer.
struct Progress {
  // Written by diagnose_files().
  std::atomic<const char*> stage{""};           ///< as in the timings, e.g. "read"
  std::atomic<std::size_t> file_index{0};       ///< the file that is worked on, counted in the order given
  std::atomic<std::uint64_t> bytes_total{0};    ///< of all files, as stored; 0 while unknown
  std::atomic<std::uint64_t> bytes_before{0};   ///< of the files that are done, as stored
  std::atomic<std::uint64_t> events_before{0};  ///< of the files that are done

  // Values of the current file, written by its reader, which finds them at 0. It may read a file more than once.
  std::atomic<std::uint64_t> bytes_read{0};  ///< its source's stored_position(): goes back when the file is read again
  /// found in the current file; starts again at 0 when they are counted again
  std::atomic<std::uint64_t> event_count{0};
};

/// The resources that the stages may use. No result depends on them.
struct WorkOptions {
  unsigned threads = 1;          ///< threads that work at once, including the caller's; at least 1
  Progress* progress = nullptr;  ///< receives how far the work has come; may be null
  /// Bytes of a file that a thread handles at a time. With everything that is made of them they fit into a core's
  /// cache.
  std::size_t window_size = std::size_t{128} << 10;
};

}  // namespace doctor
