#pragma once

#include <string>

namespace doctor {

/// A page with one space in place of each line break and indent: its lines are broken to fit 80 columns.
inline std::string unwrapped(const std::string& page) {
  std::string text;
  for (const char one : page) {
    const bool is_space = one == ' ' || one == '\n';
    if (!is_space || (!text.empty() && text.back() != ' ')) text += is_space ? ' ' : one;
  }
  return text;
}

}  // namespace doctor
