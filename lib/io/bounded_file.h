#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace doctor {

/// The whole content of a small file that lies beside a trace. Errors: it cannot be read, or has more than
/// `most_bytes`.
Result<std::string> read_bounded_file(const std::string& path, std::size_t most_bytes);

}  // namespace doctor
