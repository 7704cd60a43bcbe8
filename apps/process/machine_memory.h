#pragma once

#include <cstdint>

namespace doctor {

/// Bytes that this process and its children may fill together: the machine's memory, or less where a control group
/// (version 2 or 1) allows less.
std::uint64_t machine_memory();

/// Bytes that this process can write to already, as a limit on memory counts them.
std::uint64_t memory_in_use();

}  // namespace doctor
