#pragma once

#include <sys/types.h>

#include <string>

#include "io/file_descriptor.h"

namespace doctor {

/// Where a symbolic link leads, whether there is something or not, so that the link survives when the file is replaced.
std::string followed(const std::string& path);

/// A file that takes the place of another one, or of none, as a whole. Until finish() its bytes lie in a file beside
/// it, without a name where the file system allows that, so that a program that is killed leaves nothing, and with a
/// name that nobody can predict elsewhere. Without finish() nothing appears.
class ReplacedFile {
 public:
  ReplacedFile() = default;
  ReplacedFile(ReplacedFile&& other) noexcept;
  ReplacedFile& operator=(ReplacedFile&& other) noexcept;
  ~ReplacedFile();

  /// Begins to replace what `path` leads to. It keeps its mode; a new file gets that of the umask. 0 or an error
  /// number; EEXIST for what is there and not a file.
  int begin(const std::string& path);

  /// To be written to.
  const FileDescriptor& file() const { return file_; }

  /// Stores the bytes and gives the file its name, in place of the file that had it. 0 or an error number.
  int finish();

 private:
  int take_name();

  std::string target_;     ///< the name that the file takes
  std::string temporary_;  ///< the name that it has meanwhile; empty if none
  FileDescriptor file_;
};

}  // namespace doctor
