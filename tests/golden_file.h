#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "built_paths.h"

/// Files of expected output. They are compared, or rewritten where the environment asks for it (scripts/accept-golden):
/// DOCTOR_ACCEPT_GOLDEN=1 rewrites all of them, another value those whose path in the repository contains it.
namespace doctor::golden {

namespace fs = std::filesystem;

inline const fs::path& source_folder() {
  static const fs::path folder = source_dir();
  return folder;
}

inline bool accepts(const fs::path& file) {
  const char* const value = std::getenv("DOCTOR_ACCEPT_GOLDEN");
  if (value == nullptr || *value == '\0') return false;
  return std::string_view(value) == "1" ||
         file.lexically_relative(source_folder()).generic_string().find(value) != std::string::npos;
}

inline std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

inline void write(const fs::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// Byte for byte.
inline void compare(const std::string& actual, const fs::path& expected_file) {
  if (accepts(expected_file)) return write(expected_file, actual);
  const bool is_same = read(expected_file) == actual;
  CHECK_MESSAGE(is_same, expected_file.string(), " differs; found:\n", actual);
}

/// The part of a page that is written by the tool: all after the line `begin`, up to the line `end` if there is one.
inline void compare_part(const std::string& actual, const fs::path& page_file, std::string_view begin,
                         std::string_view end = {}) {
  const std::string page = read(page_file);
  const std::size_t first = page.find(begin);
  REQUIRE(first != std::string::npos);
  const std::size_t last = end.empty() ? page.size() : page.find(end);
  REQUIRE(last != std::string::npos);
  compare(page.substr(0, first + begin.size()) + actual + page.substr(last), page_file);
}

}  // namespace doctor::golden
