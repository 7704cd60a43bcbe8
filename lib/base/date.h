#pragma once

#include <string>
#include <tuple>

namespace doctor {

/// A day of the calendar.
struct Date {
  int year = 0;
  int month = 1;  ///< from 1
  int day = 1;    ///< from 1

  friend bool operator==(const Date&, const Date&) = default;
  friend bool operator<(const Date& a, const Date& b) {
    return std::tie(a.year, a.month, a.day) < std::tie(b.year, b.month, b.day);
  }
};

/// "2026-12-31".
std::string to_string(const Date& date);

}  // namespace doctor
