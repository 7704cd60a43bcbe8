#pragma once

#include <iterator>

#include "base/result.h"
#include "process/output.h"
#include "report/problem.h"

namespace doctor {

enum class OutputFormat { text, json, csv, sarif, junit, gitlab, github, markdown, prometheus, html, svg };

/// A format, and the function that renders an answer in it.
template <typename Renderer>
struct FormatRow {
  OutputFormat format;
  Renderer* render;
};

/// The row of the format; null if there is none.
template <typename Rows>
auto find_row(const Rows& rows, OutputFormat format) {
  const auto* const end = std::data(rows) + std::size(rows);
  const auto* const found = std::find_if(std::data(rows), end, [&](const auto& row) { return row.format == format; });
  return found == end ? nullptr : found;
}

/// The row of a format that output_options() accepted; the first one, a text, if no format was given.
template <typename Rows>
const auto& row_of(const Rows& rows, OutputFormat format) {
  const auto* const found = find_row(rows, format);
  return found == nullptr ? *std::data(rows) : *found;
}

/// The formats of the rows, which the command's entry lists.
template <typename Rows>
std::vector<OutputFormat> formats_in(const Rows& rows) {
  std::vector<OutputFormat> formats;
  formats.reserve(std::size(rows));
  for (const auto& row : rows) formats.push_back(row.format);
  return formats;
}

/// The word that chooses the format.
std::string_view to_word(OutputFormat format);

/// The format of that word; nullopt if there is none.
std::optional<OutputFormat> format_of(std::string_view word);

// The formats are listed once, in the rows of a command or of a page of `show`.

/// The same formats in the order in which help lists them, each once.
std::vector<OutputFormat> in_order_of_help(std::span<const OutputFormat> formats);

/// The help of --format for these formats: "How to print it: text, json or html (a page)". `csv_holds` is the part of
/// the answer in a CSV; empty: all of it.
std::string describe_formats(std::span<const OutputFormat> formats, std::string_view csv_holds);

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
