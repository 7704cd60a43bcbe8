#include "base/result.h"

namespace doctor {

std::string to_string(const Error& error) {
  std::string line = error.where.empty() ? error.what : error.where + ": " + error.what;
  if (error.offset) line += " at byte " + std::to_string(*error.offset);
  if (!error.next.empty()) line += "; " + error.next;
  return line;
}

}  // namespace doctor
