#pragma once

#include <sys/types.h>

#include <string>

#include "io/file_descriptor.h"

namespace doctor {

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
