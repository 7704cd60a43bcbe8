#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/byte_sink.h"
#include "io/file_descriptor.h"
#include "io/replaced_file.h"
#include "process/status_line.h"

namespace doctor {

/// Tests whether output to `path` goes to standard output: it is empty or "-".
inline bool is_standard_output(std::string_view path) {
  return path.empty() || path == "-";
}

/// Writes to `path`, or to standard output (is_standard_output()), piece by piece. A regular file appears as a whole
/// with finish() (ReplacedFile), through output_broker() if that knows it. Without finish() nothing appears.
class OutputFile final : public ByteSink {
 public:
  /// Opens the output. Errors: the file cannot be written.
  static Result<std::unique_ptr<OutputFile>> open(const std::string& path);
  /// Writes bytes. Errors: anything that keeps the bytes from being stored.
  Result<void> write(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  OutputFile() = default;
  int descriptor() const;

  std::string where_;         ///< for messages
  std::string target_;        ///< the file that is replaced; empty if it cannot be replaced
  bool is_brokered_ = false;  ///< output_broker() replaces it
  ReplacedFile replaced_;     ///< the file, if this process replaces it
  FileDescriptor file_;       ///< any other output
};

/// Writes a page to `path`, or to standard output (is_standard_output()). A regular file appears as a whole or not at
/// all: a temporary file beside it takes its name at the end. Errors: anything that keeps the last byte from being
/// stored.
Result<void> write_output(std::string_view page, const std::string& path);

/// Appends a page to the file, which is created if needed. Errors: anything that keeps the last byte from being stored.
Result<void> append_output(std::string_view page, const std::string& path);

/// Rejects an output that would overwrite one of the inputs.
Result<void> check_output(const std::string& path, std::span<const std::string> inputs);

/// Writes "tfdata-doctor: " and the error on one line to standard error, with its foreign text escaped. Silent if the
/// reader of our output went away on purpose (`tfdata-doctor … | head`).
void print_error(const Error& error);

/// Prints the error and returns the exit status of a program that ends with it.
int fail_with(const Error& error);

/// Writes a page to `path` as write_output() does; in the log of a CI job without commands for its runner. Returns the
/// exit status. Errors: of the page, or of what could not be written.
Result<int> print_page(const Result<std::string>& page, const std::string& path, bool is_json = false);

/// Prints timings and warnings to standard error, which the caller has escaped for a terminal. They replace the status
/// line if one is shown.
void print_note(std::string_view text);

/// The same for the last words of a process whose other threads go on: no status line appears after it. It takes no
/// memory; the caller has also escaped the text for the log of a CI job.
void print_last_note(std::string_view text);

/// The status line of standard error.
StatusLine& status_line();

}  // namespace doctor
