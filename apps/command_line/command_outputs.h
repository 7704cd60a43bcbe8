#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "command_line/options.h"

namespace doctor {

/// What the user said about output, as it was written.
struct RawOutputs {
  std::optional<std::string> format;       ///< --format
  std::vector<std::string> outputs;        ///< -o, --output
  std::optional<std::string> source_file;  ///< --source-file
};

/// Fills in what `options` say of output, by what the command can write; its command and page are known already.
/// Errors: those of choose_outputs() and parse_source_file(), several documents of a command that writes one.
Result<void> take_outputs(const RawOutputs& raw, Options& options);

}  // namespace doctor
