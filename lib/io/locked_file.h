#pragma once

#include <string>

namespace doctor {

/// Opens the file, which is made where there is none, to be read and written, and locks it against others that change
/// it. It may be replaced while the lock is waited for: then the one that has its name now is locked. The descriptor,
/// with which the lock ends; -1 with errno set where it cannot be.
int lock_by_name(const std::string& path);

/// Whether the name still leads to the open file.
bool is_named(const std::string& path, int descriptor);

}  // namespace doctor
