#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace doctor {

/// Cores that other programs kept busy, in parts of a recording.
struct OtherLoad {
  std::optional<double> before;  ///< while the pipeline warmed up
  std::optional<double> during;
  std::optional<double> after;  ///< while the trace was written

  friend bool operator==(const OtherLoad&, const OtherLoad&) = default;
};

/// All steps of the loop, timed by a clock around next(); the recorded steps are a few of them.
struct WholeRun {
  std::uint64_t steps = 0;
  double wait_share = 0;           ///< share of their time in which the loop waited for its next element, 0..1
  double recorded_wait_share = 0;  ///< the same for the recorded steps, by the same clock
  std::uint64_t worst_first = 0;   ///< first step of the window that waited longest; steps count from 1
  std::uint64_t worst_last = 0;

  friend bool operator==(const WholeRun&, const WholeRun&) = default;
};

/// The steps of a loop that were not recorded, where no clock sees what a step waits for: fit with TensorFlow takes its
/// elements inside of a compiled function.
struct OtherSteps {
  std::uint64_t steps = 0;
  double times_as_long = 0;       ///< as the recorded ones; stalls that came once are left out
  std::uint64_t worst_first = 0;  ///< first step of the window that took longest; steps count from 1
  std::uint64_t worst_last = 0;

  /// Share of their time, 0..1, that they would not take if they were like the recorded ones.
  double extra_share() const { return times_as_long > 1 ? 1 - 1 / times_as_long : 0; }
  friend bool operator==(const OtherSteps&, const OtherSteps&) = default;
};

/// How the Python package ran a script, and which of its steps it recorded.
struct RecordedScript {
  std::string name;              ///< "train.py", or "-m package.train"
  std::uint64_t first_step = 0;  ///< first recorded step; steps count from 1 in their loop

  friend bool operator==(const RecordedScript&, const RecordedScript&) = default;
};

/// The circumstances of a recording. All of it is foreign, and any part may be unknown.
struct RecordingFacts {
  std::string host;              ///< name of the machine; names of several machines are separated by commas
  std::string cpu;               ///< "AMD EPYC 7B13"
  std::uint64_t cores = 0;       ///< cores that the process may use; 0: not known
  std::string tensorflow;        ///< version
  std::string process;           ///< equal for all recordings of one process, and for no others
  std::int64_t recorded_ns = 0;  ///< nanoseconds since 1970; 0: not known
  OtherLoad other_load;
  /// How many times as fast the last steps before the recording were as the recorded ones; nullopt unless both were
  /// clocked.
  std::optional<double> slowdown;
  std::optional<RecordedScript> script;
  std::optional<WholeRun> whole_run;      ///< known once the program has ended
  std::optional<OtherSteps> other_steps;  ///< the same

  friend bool operator==(const RecordingFacts&, const RecordingFacts&) = default;
};

/// Reads `tfdata-doctor.recording/1`, which scripts/record and the Python package write. Parts that are missing or of
/// another type are unknown. Errors: not JSON, not of this schema.
Result<RecordingFacts> parse_recording_facts(std::string_view json);

/// The path of a trace's facts: "recording.json" in the folder of the trace.
std::string recording_facts_path(const std::string& trace);

/// Reads the facts of a trace. All are unknown if the file is missing or cannot be used: the trace has some of them
/// itself.
RecordingFacts recording_facts_beside(const std::string& trace);

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
