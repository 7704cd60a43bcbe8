#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measure/measurements.h"

namespace doctor {

/// What each host of a run is called on the pages that tell them apart, indexed as they are: its machine, with its file
/// where two machines have one name, and its file where the trace names no machine. Foreign text.
std::vector<std::string> names_of_hosts(const Measurements& measurements);

/// Keeps one host of the run and drops the others; Measurements::left_out has their names. `name` is that of its
/// machine, of its file with or without the folder and the ending, or what names_of_hosts() says. Errors: no host has
/// this name, or several have it.
Result<void> keep_host(std::string_view name, Measurements& measurements);

}  // namespace doctor
