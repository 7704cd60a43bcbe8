#pragma once

#include <tuple>

#include "base/time.h"
#include "trace/chrome/chrome_threads.h"

namespace doctor {

/// The ops that a TF1 timeline draws twice. TF 1.15 draws an op of the graph as a node of its device
/// ("/job:…/device:CPU:0 Compute") and, within it, as the kernel that the node ran ("/host:CPU Compute", named
/// "unknown"). Functions of datasets are drawn as kernels only; all other versions draw nodes only. Of the two drawings
/// the node counts, because it lasts until its outputs exist.
class TimelineRepeats {
 public:
  /// Adds an event with its arguments `name` and `op`, in any order.
  void add(std::uint64_t process, std::string_view event_name, std::string_view name, std::string_view op,
           Interval span);

  /// Called after the last add(). The threads tell which processes are the host's.
  void find(ChromeThreads& threads);

  /// Tests whether an event is a kernel that is drawn as a node as well.
  bool contains(std::string_view event_name, std::string_view name, Interval span) const;

 private:
  struct Node {
    std::uint64_t op = 0;  ///< hash of "name:Type"
    Interval span;
    std::uint64_t process = 0;
  };
  /// Hash, start, end.
  using Kernel = std::tuple<std::uint64_t, Picoseconds, Picoseconds>;

  std::vector<Node> nodes_;
  std::vector<Kernel> kernels_;
  std::vector<Kernel> repeats_;  ///< sorted
};

}  // namespace doctor
