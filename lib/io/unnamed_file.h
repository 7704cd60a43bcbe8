#pragma once

#include <string>

#include "io/file_descriptor.h"

namespace doctor {

/// $TMPDIR, else "/tmp".
std::string temporary_directory();

/// A new file without a name in temporary_directory(): it is gone with its last descriptor. Not open, with errno set,
/// if none can be had.
FileDescriptor open_unnamed_file();

}  // namespace doctor
