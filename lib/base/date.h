#pragma once

#include <compare>
#include <string>

namespace doctor {

/// A day of the calendar.
struct Date {
  int year = 0;
  int month = 1;  ///< from 1
  int day = 1;    ///< from 1

  friend auto operator<=>(const Date&, const Date&) = default;
};

/// "2026-12-31".
std::string to_string(const Date& date);

}  // namespace doctor
