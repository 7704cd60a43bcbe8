#pragma once

#include <cstdint>
#include <string>

namespace doctor {

/// The directory of the runs that a trace belongs to: its path without the file's name and without plugins/profile/RUN,
/// where TensorBoard keeps the run. "." if nothing is left.
std::string job_of(const std::string& path);

/// The folder of a trace's run, which all hosts of the run share: its path up to plugins/profile/RUN. Empty: the trace
/// lies in none, and is a run of its own.
std::string run_folder_of(const std::string& path);

/// The time at which a run began, in nanoseconds since 1970, from the name that profilers give its folder,
/// 2026_11_25_04_41_45, taken as UTC. 0 for any other name.
std::int64_t time_of_run_folder(const std::string& folder);

}  // namespace doctor
