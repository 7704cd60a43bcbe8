#include "base/date.h"

#include <fmt/format.h>

namespace doctor {

std::string to_string(const Date& date) {
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

}  // namespace doctor
