#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string_view>

namespace doctor {

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

}  // namespace doctor
