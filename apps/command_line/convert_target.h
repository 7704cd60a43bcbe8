#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "convert/event_writer.h"

namespace doctor {

/// How `convert` writes.
struct ConvertTarget {
  ConvertFormat format = ConvertFormat::chrome;
  bool is_compressed = false;
};

/// The format that the user named, else that of the output's name; standard output gets a Chrome trace. Gzipped where
/// the name ends in ".gz". Errors: no such format, a name that tells none.
Result<ConvertTarget> choose_convert_target(const std::optional<std::string>& format, const std::string& output);

}  // namespace doctor
