#pragma once

#include <cerrno>
#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// The error for a `path` that could not be opened or examined, from the errno value of the failed call. For a missing
/// path the hint names the most similar readable entry of its directory, if one is close.
Error path_error(const std::string& path, int error_number);

/// Rejects paths that are neither a file nor a directory: reading a named pipe waits for a writer who may never come,
/// and a device may never end. "-" and descriptors that are already open, such as a shell's <(...), are for the caller
/// to check. A missing path passes.
Result<void> check_that_it_ends(const std::string& path);

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

/// Appends to a temporary file, as one of open_unnamed_file(). Errors: it cannot be written, or could not be made.
/// Beyond a gigabyte, a tenth of its file system stays free for other programs, because a pipe may never end. `name` is
/// that of the input, for messages.
Result<void> add_to_temporary_file(const FileDescriptor& file, std::string_view bytes, const std::string& name);

/// Stores all of standard input in a file without a name, for inputs that are read several times or by other processes.
/// Errors: it cannot be read or stored.
Result<FileDescriptor> store_standard_input();

/// A path under which this process and its children can open the file, as often as they like.
std::string path_of(const FileDescriptor& file);

}  // namespace doctor
