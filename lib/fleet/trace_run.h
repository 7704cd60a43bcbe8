#pragma once

#include <string>

namespace doctor {

/// The directory of the runs that a trace belongs to: its path without the file's name and without
/// plugins/profile/RUN, where TensorBoard keeps the run. "." where nothing is left.
std::string job_of(const std::string& path);

}  // namespace doctor
