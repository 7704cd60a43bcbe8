#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// What a system call returns once no signal interrupts it.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Reads up to `capacity` bytes; 0 at the end, below 0 with errno set at a fault.
ssize_t read_some(int descriptor, char* buffer, std::size_t capacity);

/// Writes all bytes, in one piece where the kernel takes them so. False, with errno set, if that cannot be.
bool write_all(int descriptor, std::string_view bytes);

/// Where temporary files go: $TMPDIR, else /tmp.
std::string temporary_directory();

/// A temporary file that has no name any more. Not open if it cannot be made; errno says why.
FileDescriptor open_unnamed_file();

/// Adds to the end of such a file, or says why it cannot, or why it could not be made. Beyond a gigabyte, a tenth of
/// its file system stays free for other programs: what comes through a pipe may never end. `name` is that of what is
/// kept.
Result<void> add_to_unnamed_file(const FileDescriptor& file, std::string_view bytes, const std::string& name);

/// All of standard input as a file without a name, for what is read several times or by other processes. Errors: it
/// cannot be read or stored.
Result<FileDescriptor> store_standard_input();

/// A path under which this process and those that it forks can open the file, as often as they like.
std::string path_of(const FileDescriptor& file);

}  // namespace doctor
