#pragma once

#include "base/result.h"
#include "measure/measurements.h"

namespace doctor {

/// The names of a run's hosts on pages that tell them apart, indexed as the hosts: the machine; the machine with its
/// file if two machines have one name; the file if the trace names no machine. Foreign text.
std::vector<std::string> names_of_hosts(const Measurements& measurements);

/// Keeps one host of the run and drops the others; Measurements::left_out has their names. `name` is that of its
/// machine, of its file with or without folder and ending, or one of names_of_hosts(). Errors: no host has this name,
/// or several have it.
Result<void> keep_host(std::string_view name, Measurements& measurements);

}  // namespace doctor
