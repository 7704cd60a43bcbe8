#pragma once

#include <sys/file.h>

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// The longest wait for a lock of another program. Waits for a database are equally long (open_database()).
inline constexpr std::chrono::milliseconds kLockPatience{30'000};

/// Creates a file if it does not exist, and opens it for reading and writing.
using FileOpener = std::function<Result<FileDescriptor>(const std::string& path)>;

/// A FileOpener for a process that may open files itself.
Result<FileDescriptor> open_to_change(const std::string& path);

/// Opens a file and locks it with flock(): against others that change it (LOCK_EX) or remove it (LOCK_SH). If the file
/// is replaced during the wait, the file that then has its name is locked instead. The lock ends with the descriptor.
/// Errors: it cannot be opened, or another program holds the lock for longer than `patience`.
Result<FileDescriptor> lock_by_name(const std::string& path, const FileOpener& open, int lock = LOCK_EX,
                                    std::chrono::milliseconds patience = kLockPatience);

/// Tests whether the name still leads to the open file.
bool is_named(const std::string& path, int descriptor);

}  // namespace doctor
