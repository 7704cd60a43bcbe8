#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace doctor {

/// A stage of a loader that is written in Python, as its frames show it. Times are own ones: without the stages that it
/// takes its elements from.
struct LoaderStage {
  static constexpr std::size_t kNone = SIZE_MAX;  ///< no stage

  std::string name;              ///< "map", "source"
  std::size_t consumer = kNone;  ///< index of the stage that takes its elements, less than its own
  bool hands_over = false;       ///< it takes what threads or processes make
  std::uint64_t calls = 0;       ///< of its frames
  Picoseconds in_next = 0;       ///< its work in the loop's next()
  Picoseconds in_makers = 0;     ///< its work in what makes elements ahead of it
  Picoseconds blocked = 0;       ///< of both, in calls that only wait: a sleep, a read
  Picoseconds waited = 0;        ///< besides, for what others make
  Picoseconds for_lock = 0;      ///< besides, in makers, for Python's lock
  std::string function;          ///< the user's function that takes most of its time, "parse at train.py:10"
  Picoseconds in_functions = 0;  ///< of both, in functions of the user

  Picoseconds time() const { return in_next + in_makers; }
};

/// The stage that the most time goes to, where the loop waits.
struct SlowestStage {
  std::size_t stage = 0;     ///< index
  bool is_in_next = false;   ///< next() itself does that work, else what makes elements ahead of it
  double share = 0;          ///< of the work there
  double share_of_next = 0;  ///< that of the second
};

/// The stages that `frames` show, consumers before what they take from; empty if they show none. Names are those of
/// Grain 0.2 and of torch.utils.data 2.
std::vector<LoaderStage> loader_stages(const Trace& trace);

/// nullopt: no frame shows who works.
std::optional<SlowestStage> slowest_stage(const std::vector<LoaderStage>& stages);

/// "parse at train.py:10" of "$train.py:10 parse".
std::string describe_frame(std::string_view name);

/// The stage in which worker processes are waited for.
inline constexpr std::string_view kWorkerProcesses = "worker processes";

}  // namespace doctor
