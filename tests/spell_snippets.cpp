// Spells pieces of code for a version of TensorFlow, as advice about a trace of that version does: a JSON array of
// texts on standard input, the same on standard output. scripts/check-snippets executes what it prints.
//
// Usage: spell_snippets MAJOR MINOR

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "diagnose/spelling.h"

namespace {

int number(const char* text) {
  return static_cast<int>(std::strtol(text, nullptr, 10));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  // Only code of a session is spelled anew, for its version is known; what is replaced depends on the version alone.
  const doctor::RecordedVersion version = {{number(arguments[1]), number(arguments[2])}, true};
  nlohmann::json snippets = nlohmann::json::parse(std::cin);
  for (nlohmann::json& snippet : snippets) {
    doctor::Advice advice{"", snippet.get<std::string>()};
    doctor::spell_for(version, advice);
    snippet = *advice.code;
  }
  std::cout << snippets.dump() << '\n';
}
