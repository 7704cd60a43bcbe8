#pragma once

#include <cstddef>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// A member of a tar archive.
struct TarMember {
  std::string name;
  std::uint64_t bytes = 0;
  bool is_file = false;  ///< a regular file; else a folder, a link, a device
  bool is_folder = false;
};

/// Reads a tar archive (POSIX ustar and pax, GNU) from its start to its end, so a pipe will do. Memory does not depend
/// on what the archive says: no member is kept, and names and pax headers have a limit. It makes no file.
class TarReader {
 public:
  /// `name` is that of the archive, for messages.
  TarReader(FileDescriptor archive, std::string name) : archive_(std::move(archive)), name_(std::move(name)) {}

  /// Goes to the next member; nullopt at the end, and after an error. Errors: not a tar archive, damaged, cut off,
  /// cannot be read, or a signal came.
  Result<std::optional<TarMember>> next();

  /// Reads of the member's content; 0 at its end. Errors: as of next().
  Result<std::size_t> read(char* buffer, std::size_t capacity);

 private:
  struct Header;

  Result<std::optional<TarMember>> find_next();
  Result<bool> read_header(Header& header);
  Result<std::size_t> fill(char* buffer, std::size_t capacity);
  Result<void> skip(std::uint64_t count);
  Result<std::string> read_text(std::uint64_t size, std::size_t most);
  Result<void> take_pax(const std::string& records, std::optional<std::string>& path,
                        std::optional<std::uint64_t>& bytes) const;
  void begin_content(std::uint64_t size);
  Unexpected damaged(std::string what) const;

  FileDescriptor archive_;
  std::string name_;
  std::uint64_t position_ = 0;  ///< bytes read so far
  std::uint64_t left_ = 0;      ///< of the member's content
  std::uint64_t padding_ = 0;   ///< from the end of its content to the next block
  bool has_end_ = false;        ///< the last block was one of zeros
  bool is_over_ = false;
};

}  // namespace doctor
