#pragma once

#include <sys/file.h>

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// How long a lock of another program is waited for, as long as that of a database (open_database()).
inline constexpr std::chrono::milliseconds kLockPatience{30'000};

/// Makes a file where there is none, and opens it to be read and written.
using FileOpener = std::function<Result<FileDescriptor>(const std::string& path)>;

/// As a process does it that may.
Result<FileDescriptor> open_to_change(const std::string& path);

/// Opens a file and locks it, as flock() does, against others that change it (LOCK_EX) or remove it (LOCK_SH). It may
/// be replaced while the lock is waited for: then the one that has its name now is locked. The lock ends with the
/// descriptor. Errors: it cannot be opened, or another program has it locked for longer than `patience`.
Result<FileDescriptor> lock_by_name(const std::string& path, const FileOpener& open, int lock = LOCK_EX,
                                    std::chrono::milliseconds patience = kLockPatience);

/// Whether the name still leads to the open file.
bool is_named(const std::string& path, int descriptor);

}  // namespace doctor
