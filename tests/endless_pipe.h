#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

namespace doctor {

/// A pipe that programs started by the test have open, too, and to which nobody writes: reading it never ends.
class EndlessPipe {
 public:
  EndlessPipe() { REQUIRE(::pipe(ends_) == 0); }
  EndlessPipe(const EndlessPipe&) = delete;
  EndlessPipe& operator=(const EndlessPipe&) = delete;
  ~EndlessPipe() {
    for (const int end : ends_) ::close(end);
  }

  /// Its name in such a program.
  std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace doctor
