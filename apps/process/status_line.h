#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string_view>

namespace doctor {

/// Columns that the variable COLUMNS says; nothing where it is not set to a number.
std::optional<std::size_t> columns_of_environment();

/// Columns of the terminal `descriptor`: its own, else those of COLUMNS, else 80.
std::size_t columns_of(int descriptor);

/// The last line of a terminal, drawn over itself while work goes on and erased before anything else is printed.
/// Any thread may call it at any time; no call allocates memory.
class StatusLine {
 public:
  /// On the terminal `descriptor`, which stays the caller's.
  explicit StatusLine(int descriptor) : descriptor_(descriptor) {}
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine() { erase(); }

  /// Draws `text`, one line of at most width() characters, in place of what is shown.
  void show(std::string_view text);

  /// Takes away what is shown.
  void erase();

  /// Takes away what is shown; nothing is shown any more.
  void close();

  /// Characters that fit: one fewer than the columns of the terminal, for the last column wraps on some.
  std::size_t width() const;

 private:
  void erase_shown();

  const int descriptor_;
  std::mutex mutex_;
  bool is_shown_ = false;
  bool is_closed_ = false;
};

}  // namespace doctor
