#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// Repeats a system call until no signal interrupts it, and returns its result.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Reads up to `capacity` bytes; 0 at the end, below 0 with errno set after an error.
ssize_t read_some(int descriptor, char* buffer, std::size_t capacity);

/// Writes all bytes, in one piece if the kernel takes them so. Returns false, with errno set, if it fails.
bool write_all(int descriptor, std::string_view bytes);

/// The directory of temporary files: $TMPDIR, else /tmp.
std::string temporary_directory();

/// A temporary file without a name. Not open if it cannot be made; errno says why.
FileDescriptor open_unnamed_file();

/// Appends to a temporary file, as one of open_unnamed_file(). Errors: it cannot be written, or could not be made. Beyond a gigabyte, a
/// tenth of its file system stays free for other programs, because a pipe may never end. `name` is that of the input,
/// for messages.
Result<void> add_to_temporary_file(const FileDescriptor& file, std::string_view bytes, const std::string& name);

/// Stores all of standard input in a file without a name, for inputs that are read several times or by other processes.
/// Errors: it cannot be read or stored.
Result<FileDescriptor> store_standard_input();

/// A path under which this process and its children can open the file, as often as they like.
std::string path_of(const FileDescriptor& file);

}  // namespace doctor
