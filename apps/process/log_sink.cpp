#include "process/log_sink.h"

#include <cstdlib>

#include "base/try.h"

namespace doctor {

bool standard_output_is_log() {
  const auto is = [](const char* variable, std::string_view value) {
    const char* const found = std::getenv(variable);
    return found != nullptr && (value.empty() ? *found != '\0' : std::string_view(found) == value);
  };
  return is("GITHUB_ACTIONS", "true") || is("TF_BUILD", "True") || is("TEAMCITY_VERSION", {});
}

std::string CommandEscape::take(std::string_view piece) {
  std::string safe;
  safe.reserve(piece.size() + piece.size() / 64);
  for (const char c : piece) {
    const bool is_letter = c >= 'a' && c <= 'z';
    if (place_ == Place::first_colon) {
      safe += c == ':' && !is_json_ ? "\\x3a" : ":";
      place_ = Place::within;
    }
    if (place_ == Place::line_start && c == ':') {
      place_ = Place::first_colon;  // what follows decides
      hashes_ = 0;
      continue;
    }
    if (c == '[' && hashes_ >= 2) {
      safe += bracket_;
    } else {
      safe += c;
    }
    if (c == '#') {
      hashes_ = has_letters_ ? 1 : hashes_ + 1;
      has_letters_ = false;
    } else {
      has_letters_ = is_letter && hashes_ >= 2;
      if (!has_letters_) hashes_ = 0;
    }
    const bool is_blank = c == ' ' || c == '\t';
    if (c == '\n' || c == '\r') {
      place_ = Place::line_start;
    } else if (!is_blank) {
      place_ = Place::within;
    }
  }
  return safe;
}

std::string CommandEscape::finish() {
  return place_ == Place::first_colon ? ":" : "";
}

std::string without_commands(std::string_view text, bool is_json) {
  CommandEscape escape(is_json);
  std::string safe = escape.take(text);
  return safe + escape.finish();
}

std::string for_log(std::string_view text, bool is_json) {
  return standard_output_is_log() ? without_commands(text, is_json) : std::string(text);
}

}  // namespace doctor
