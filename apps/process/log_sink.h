#pragma once

#include "io/byte_source.h"

namespace doctor {

/// Tests whether standard output and standard error are the log of a CI job whose runner acts on its lines: GitHub
/// Actions, Azure Pipelines, TeamCity.
bool standard_output_is_log();

/// Escapes whatever a runner would take for a command, in a text that comes in pieces: "::" after blanks at the start
/// of a line becomes "\x3a:", and the bracket of "##[", "##vso[" and the like, anywhere, becomes "\x5b". In JSON, where
/// the first cannot occur, the bracket becomes "\u005b", which reads the same.
class CommandEscape {
 public:
  explicit CommandEscape(bool is_json) : bracket_(is_json ? "\\u005b" : "\\x5b"), is_json_(is_json) {}

  /// Escapes the next piece. A colon at its end may be held back.
  std::string take(std::string_view piece);
  /// The text that was held back.
  std::string finish();

 private:
  enum class Place { line_start, first_colon, within };

  std::string_view bracket_;
  bool is_json_;
  Place place_ = Place::line_start;
  std::size_t hashes_ = 0;    ///< number of hashes before this place, with or without letters after them
  bool has_letters_ = false;  ///< letters follow two hashes
};

/// Escapes a whole text.
std::string without_commands(std::string_view text, bool is_json);

/// The text, escaped if what is printed is such a log.
std::string for_log(std::string_view text, bool is_json = false);

}  // namespace doctor
