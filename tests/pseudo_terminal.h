#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "io/file_descriptor.h"

namespace doctor {

/// A terminal that the test looks at.
class PseudoTerminal {
 public:
  explicit PseudoTerminal(unsigned short columns) : screen_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    REQUIRE(screen_.is_open());
    REQUIRE(::grantpt(screen_.number()) == 0);
    REQUIRE(::unlockpt(screen_.number()) == 0);
    line_ = FileDescriptor(::open(::ptsname(screen_.number()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    REQUIRE(line_.is_open());
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    REQUIRE(::ioctl(screen_.number(), TIOCSWINSZ, &size) == 0);
  }

  /// What programs write to.
  int descriptor() const { return line_.number(); }

  /// Waits until `text` was written and returns all that was written so far.
  const std::string& wait_for(std::string_view text) {
    constexpr std::size_t kTooMuch = 100'000;  // something is drawn all the time, but not that
    while (written_.find(text) == std::string::npos && written_.size() < kTooMuch && take()) {
    }
    INFO("waited for ", text, " and got ", written_.substr(0, 1'000));
    REQUIRE(written_.find(text) != std::string::npos);
    return written_;
  }

  /// Hangs up and returns all that was written.
  const std::string& hang_up() {
    line_ = FileDescriptor();
    while (take()) {
    }
    return written_;
  }

 private:
  /// False when nothing more comes: nobody has the line open, or it stays silent for a minute.
  bool take() {
    pollfd readable{screen_.number(), POLLIN, 0};
    std::array<char, 4096> buffer;
    if (::poll(&readable, 1, 60'000) != 1) return false;
    const ssize_t count = ::read(screen_.number(), buffer.data(), buffer.size());
    if (count <= 0) return false;
    written_.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }

  FileDescriptor screen_;
  FileDescriptor line_;
  std::string written_;
};

}  // namespace doctor
