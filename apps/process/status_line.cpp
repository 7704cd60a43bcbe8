#include "process/status_line.h"

#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <span>

namespace doctor {
namespace {

constexpr std::string_view kLineStart = "\r";
constexpr std::string_view kEraseToEnd = "\x1b[K";
constexpr std::size_t kUsualColumns = 80;

iovec part(std::string_view text) {
  return {const_cast<char*>(text.data()), text.size()};  // writev() does not write to it
}

/// In one call, so that the line does not flicker. The work goes on where the terminal is gone.
void write_parts(int descriptor, std::span<const iovec> parts) {
  if (::writev(descriptor, parts.data(), static_cast<int>(parts.size())) < 0) return;
}

}  // namespace

std::optional<std::size_t> columns_of_environment() {
  const char* const text = std::getenv("COLUMNS");
  const std::string_view columns = text == nullptr ? "" : text;
  std::size_t count = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), count);
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::size_t columns_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return columns_of_environment().value_or(kUsualColumns);
}

void StatusLine::show(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return;
  const iovec parts[] = {part(kLineStart), part(text), part(kEraseToEnd)};
  write_parts(descriptor_, parts);
  is_shown_ = true;
}

void StatusLine::erase() {
  const std::lock_guard lock(mutex_);
  erase_shown();
}

void StatusLine::close() {
  const std::lock_guard lock(mutex_);
  erase_shown();
  is_closed_ = true;
}

void StatusLine::erase_shown() {
  if (!is_shown_) return;
  const iovec parts[] = {part(kLineStart), part(kEraseToEnd)};
  write_parts(descriptor_, parts);
  is_shown_ = false;
}

std::size_t StatusLine::width() const {
  return columns_of(descriptor_) - 1;
}

}  // namespace doctor
