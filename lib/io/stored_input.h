#pragma once

#include <string>

#include "base/result.h"
#include "io/file_descriptor.h"

namespace doctor {

/// All of standard input as a file without a name, for what is read several times or by other processes. Errors: it
/// cannot be read or stored.
Result<FileDescriptor> store_standard_input();

/// A path under which this process and those that it forks can open the file, as often as they like.
std::string path_of(const FileDescriptor& file);

}  // namespace doctor
