#pragma once

#include <mutex>
#include <span>

#include "base/result.h"
#include "io/byte_source.h"
#include "io/file_descriptor.h"
#include "io/replaced_file.h"
#include "process/log_sink.h"

namespace doctor {

class OutputBroker;

/// Tests whether output to `path` goes to standard output: it is empty or "-".
inline bool is_standard_output(std::string_view path) {
  return path.empty() || path == "-";
}

/// How a document is escaped for the log of a CI job, if that is what standard output is (CommandEscape).
enum class LogEscape { none, text, json };

/// Writes to `path`, or to standard output (is_standard_output()), piece by piece. A regular file appears as a whole
/// with finish() (ReplacedFile), made by its broker_of() if there is one. Without finish() nothing appears.
class OutputFile final : public ByteSink {
 public:
  /// Opens the output. Errors: the file cannot be written.
  static Result<std::unique_ptr<OutputFile>> open(const std::string& path, LogEscape escape = LogEscape::none);
  /// Writes bytes. Errors: anything that keeps the bytes from being stored.
  Result<void> write(std::string_view bytes) override;
  Result<void> finish() override;

 private:
  OutputFile() = default;
  Result<void> write_escaped(std::string_view bytes);

  std::string where_;                     ///< for messages
  std::string target_;                    ///< the file that is replaced; empty if it cannot be replaced
  const OutputBroker* broker_ = nullptr;  ///< replaces it; null if this process does
  ReplacedFile replaced_;                 ///< the file, if this process replaces it
  FileDescriptor file_;                   ///< any other output
  std::optional<CommandEscape> escape_;
};

/// Writes a page to `path`, or to standard output (is_standard_output()). A regular file appears as a whole or not at
/// all: a temporary file beside it takes its name at the end. Errors: anything that keeps the last byte from being
/// stored.
Result<void> write_output(std::string_view page, const std::string& path, LogEscape escape = LogEscape::none);

/// Appends a page to the file, which is created if needed. Errors: anything that keeps the last byte from being stored.
Result<void> append_output(std::string_view page, const std::string& path);

/// Rejects an output that would overwrite one of the inputs.
Result<void> check_output(const std::string& path, std::span<const std::string> inputs);

/// Writes "tfdata-doctor: " and the error on one line to standard error, with its foreign text escaped. Silent if the
/// reader of our output went away on purpose (`tfdata-doctor … | head`).
void print_error(const Error& error);

/// Prints why inputs could not be read. Returns whether all could. Errors: the last one, if nothing could be read; then
/// the others are printed even if that is not wanted.
Result<bool> print_unreadable(std::span<const Error> errors, bool has_readable, bool is_wanted = true);

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

/// The number of columns in the variable COLUMNS; nullopt if it is not set to a number.
std::optional<std::size_t> columns_of_environment();

/// The number of columns of the terminal `descriptor`: its own, else that of COLUMNS, else 80.
std::size_t columns_of(int descriptor);

/// The last line of a terminal, which is redrawn in place while work goes on and erased before anything else is
/// printed. Any thread may call it at any time; no call allocates memory.
class StatusLine {
 public:
  /// On the terminal `descriptor`, which the caller keeps.
  explicit StatusLine(int descriptor) : descriptor_(descriptor) {}
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { erase(); }

  /// Draws `text`, one line of at most width() characters, in place of what is shown.
  void show(std::string_view text);

  /// Removes what is shown.
  void erase();

  /// Removes what is shown; nothing is shown any more.
  void close();

  /// The number of characters that fit: one fewer than the columns of the terminal, because some wrap at the last
  /// column.
  std::size_t width() const;

 private:
  void erase_shown();

  const int descriptor_;
  std::mutex mutex_;
  bool is_shown_ = false;
  bool is_closed_ = false;
};

/// The status line of standard error.
StatusLine& status_line();

// The exit statuses of the program; scripts rely on them.
inline constexpr int kExitClean = 0;    ///< analysed, nothing at or above --fail-on, no budget exceeded
inline constexpr int kExitFinding = 1;  ///< analysed, a finding at or above --fail-on or a budget exceeded
inline constexpr int kExitFailure = 2;  ///< wrong usage, unreadable input, unwritable output, too little memory
inline constexpr int kExitNothing =
    3;  ///< nothing to judge: no tf.data events, too little evidence, a budget not evaluated

}  // namespace doctor
