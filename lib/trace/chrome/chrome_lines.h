#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "trace/chrome/chrome_threads.h"
#include "trace/event_reader.h"

namespace doctor {

/// A line of a Chrome trace. Its plane may not be numbered yet.
struct ChromeLine {
  EventLine line;
  EventPlane* plane = nullptr;  ///< never null; the plane of the line
};

/// The lines and planes of a Chrome trace whose names are all known. Each is made when it is first asked for. Several
/// threads may ask at once, and the results stay valid as long as this object.
class ChromeLines {
 public:
  ChromeLines(ChromeThreads& threads, WantedPlanes wanted)
      : threads_(threads), wanted_(wanted), takes_all_(wanted == WantedPlanes::all && !threads.has_annotations()) {}

  /// Tests whether events of this process are to be handed on.
  bool is_wanted(std::uint64_t process) { return takes_all_ || is_among_wanted(process); }

  ChromeLine& line_of(std::uint64_t process, std::uint64_t thread);

  /// Gives the line and its plane their indices, unless they have them. Only one thread calls this, in the order of the
  /// events. Others may use the line meanwhile, but not read an index.
  void number(ChromeLine& line);

 private:
  bool is_among_wanted(std::uint64_t process);
  EventPlane& plane_of(ChromeProcess& process);

  std::mutex mutex_;  ///< guards everything but what number() counts
  ChromeThreads& threads_;
  const WantedPlanes wanted_;
  const bool takes_all_;
  std::deque<EventPlane> planes_;
  std::deque<ChromeLine> lines_;  ///< indexed by ChromeThread::lane
  std::size_t plane_count_ = 0;   ///< planes that have an index
  std::size_t line_count_ = 0;    ///< lines that have an index
};

}  // namespace doctor
