#pragma once

#include <string_view>

namespace doctor {

/// Writes all bytes, in one piece where the kernel takes them so. False, with errno set, if that cannot be.
bool write_all(int descriptor, std::string_view bytes);

}  // namespace doctor
