#pragma once

#include <sys/file.h>
#include <sys/types.h>

#include <chrono>
#include <functional>

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

/// The target of a symbolic link, whether it exists or not, so that the link survives when the file is replaced.
std::string followed(const std::string& path);

/// A new file that takes the place of another one, or of none, as a whole. Until finish() its bytes lie in a file
/// beside the target. Where the file system allows it, that file has no name, so that a killed program leaves nothing;
/// elsewhere it has a name that nobody can predict. Without finish() nothing appears.
class ReplacedFile {
 public:
  ReplacedFile() = default;
  ReplacedFile(ReplacedFile&& other) noexcept;
  ReplacedFile& operator=(ReplacedFile&& other) noexcept;
  ~ReplacedFile();

  /// Begins to replace the file that `path` leads to. The new file keeps its mode; a file that did not exist gets that
  /// of the umask. Returns 0 or an error number; EEXIST if the path is something other than a file.
  int begin(const std::string& path);

  /// The file to write to.
  const FileDescriptor& file() const { return file_; }

  /// Stores the bytes and gives the file its name, in place of the file that had it. 0 or an error number.
  int finish();

 private:
  int take_name();

  std::string target_;     ///< the name that the file takes
  std::string temporary_;  ///< its temporary name; empty if it has none
  FileDescriptor file_;
};

}  // namespace doctor
