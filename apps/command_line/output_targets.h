#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command_line/output_format.h"
#include "process/output.h"
#include "report/problem.h"

namespace doctor {

/// A document to write.
struct OutputTarget {
  OutputFormat format = OutputFormat::text;
  std::string path;              ///< empty or "-": standard output
  bool is_step_summary = false;  ///< appended to the file; a failure to write it is ignored

  bool is_standard_output() const { return doctor::is_standard_output(path); }
};

/// The options that determine the documents.
struct OutputRequest {
  std::optional<std::string> format;     ///< value of --format
  std::vector<std::string> outputs;      ///< values of -o and --output: FILE, or FORMAT=FILE
  std::vector<OutputFormat> allowed;     ///< formats that exist for the command
  std::string step_summary;              ///< file of the environment variable GITHUB_STEP_SUMMARY; empty: none
  std::string_view subject = "command";  ///< the thing that has the formats: a command, a page
};

/// The documents to write, the main one first. It goes to the FILE that was named without a format, else to standard
/// output, in the format of --format, else as text. FORMAT=FILE is recognised only if the word before '=' is a format;
/// any other text with a '=' is a file, and so is "./json=x". If annotations for GitHub are written and the step has a
/// summary, it is appended to. Errors: an unknown format, a FORMAT= without a file, two documents for one place.
Result<std::vector<OutputTarget>> choose_outputs(const OutputRequest& request);

/// Rejects documents that would replace one of the inputs or each other.
Result<void> check_outputs(std::span<const OutputTarget> targets, std::span<const std::string> inputs);

/// Parses "PATH" or "PATH:LINE", a place in the repository. Errors: a path outside of the working directory, a line 0.
Result<ProblemLocation> parse_source_file(const std::string& text, std::string_view working_directory);

}  // namespace doctor
