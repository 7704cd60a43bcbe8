#pragma once

#include <string>

#include "measure/measurements.h"
#include "text/data_table.h"

namespace doctor {

/// `show kernels`: every kernel that ran on a GPU, apart by how it was launched and for which op, all devices and hosts
/// together. Most total time first.
DataTable kernels_table(const Measurements& measurements);

/// Why the table is empty, for a person; empty if it is not.
std::string kernels_note(const Measurements& measurements);

}  // namespace doctor
