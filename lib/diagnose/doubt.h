#pragma once

#include <variant>

#include "base/time.h"
#include "trace/recording_facts.h"

namespace doctor {

/// Elements of a buffer that a window lives on.
struct StoredElements {
  std::uint64_t taken = 0;            ///< by the consumer
  std::uint64_t made = 0;             ///< meanwhile, for the buffer
  std::uint64_t steps_to_record = 0;  ///< twice what the buffer holds: then it shows what fills it
};

/// Reasons why a judgement is not surer, one type each. Shares are of the time, 0..1; numbers of calls begin with 1.
namespace doubts {

/// The trace shows a single step, and no other to compare it with.
struct OneStep {};

/// Recording slowed the job down; without it, it would be `factor` times as fast.
struct SlowedByTracing {
  double factor = 1;
};

/// Other programs kept cores busy.
struct BusyMachine {
  double cores_of_others = 0;
  std::int64_t cores = 0;
};

/// Steps are longer by this share while the input works on the same cores.
struct LateSteps {
  double share = 0;
};

/// The input runs Python for this share of the time, and may hold the lock that the training needs.
struct PythonLock {
  double share = 0;
};

/// Nobody waits, but the input keeps cores busy while all of them are in use.
struct CoresInUse {
  double cores_of_input = 0;
  std::int64_t cores = 0;
};

/// No iterator stands out in what the calls waited for.
struct NoLeader {
  std::size_t calls = 0;
};

/// Processes of a loader make the batches: what they do is not in the trace of the process that trains.
struct OtherProcesses {
  std::string loader;  ///< "Grain"
};

/// Grain keeps elements ready, and the window may show them alone.
struct KeptElements {
  std::size_t kept = 0;
};

/// A stall that comes every 20 steps may not have shown in so few calls.
struct SeldomStall {
  std::size_t calls = 0;
};

/// So few calls represent no job.
struct FewCalls {
  std::size_t calls = 0;
  bool has_cadence = false;  ///< whether the trace shows how long the steps take
};

/// What this share of the waits was spent on lies outside the trace.
struct OutsideTrace {
  double share = 0;
};

/// Nobody waits for long: what the input costs is known from a model of it.
struct OnlyModelled {};

/// One call puts the share on the other side of the limit.
struct OneCallDecides {
  std::size_t calls = 0;
  double share = 0;
  double share_without = 0;
  Picoseconds length = 0;
  std::size_t call = 1;
};

/// The first calls put the share on the other side of the limit.
struct SlowStart {
  double share_with = 0;
  double share_without = 0;
};

/// The calls differ too much to decide the side of the limit.
struct NearLimit {
  std::size_t calls = 0;
  double share = 0;
  double spread = 0;  ///< standard error of the share
  double limit = 0;
};

/// The verdict follows the steps of the whole run, which differ from the recorded ones.
struct WholeRunDecides {
  std::uint64_t steps = 0;
  double recorded_share = 0;
  std::uint64_t worst_first = 0;  ///< the steps to record, which wait most
  std::uint64_t worst_last = 0;
};

/// A device, or several, may have worked through the waits: the trace shows no work of theirs, or does not say what it
/// is.
struct UnreadDevice {
  std::string device;               ///< its name if it is the only one
  std::size_t devices = 1;          ///< that the trace names
  std::uint64_t unread_events = 0;  ///< of the device, where it has some
};

/// A part of the host's file is missing.
struct TornFile {
  std::size_t host = 0;  ///< index into Measurements::hosts
};

}  // namespace doubts

/// std::monostate: nothing is in doubt, or nothing was seen.
using Doubt =
    std::variant<std::monostate, doubts::OneStep, doubts::SlowedByTracing, doubts::BusyMachine, doubts::LateSteps,
                 doubts::PythonLock, doubts::CoresInUse, doubts::NoLeader, doubts::OtherProcesses, doubts::KeptElements,
                 doubts::SeldomStall, doubts::FewCalls, doubts::OutsideTrace, doubts::OnlyModelled,
                 doubts::OneCallDecides, doubts::SlowStart, doubts::NearLimit, doubts::WholeRunDecides, StoredElements,
                 OtherSteps, doubts::UnreadDevice, doubts::TornFile>;

inline bool is_known(const Doubt& doubt) {
  return !std::holds_alternative<std::monostate>(doubt);
}

}  // namespace doctor
