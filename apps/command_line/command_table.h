#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace doctor {

enum class Command {
  diagnose,
  show,
  compare,
  baseline,
  batch,
  fleet,
  convert,
  query,
  schema,
  explain,
  rules,
  config,
  completions,
  man
};

/// Some of the commands.
class CommandSet {
 public:
  constexpr CommandSet() = default;
  constexpr CommandSet(std::initializer_list<Command> commands) {
    for (const Command command : commands) bits_ |= 1U << static_cast<unsigned>(command);
  }
  constexpr bool has(Command command) const { return (bits_ >> static_cast<unsigned>(command) & 1U) != 0; }

 private:
  std::uint32_t bits_ = 0;
};

/// What stands between the two sides of `compare` in CommandLine::arguments: "--" where it was written first. No
/// argument of a program can hold a zero byte.
inline constexpr std::string_view kBetweenSides{"\0--", 3};

/// What an argument without dashes names: what a shell offers to complete it.
enum class ArgumentKind {
  trace,
  page,
  rule,
  text,  ///< anything: nothing completes it
  word,  ///< one of ArgumentEntry::words
};

struct ArgumentEntry {
  std::string_view name;  ///< "TRACE", as help shows it
  ArgumentKind kind = ArgumentKind::trace;
  std::string_view help;
  bool repeats = false;
  std::vector<std::string_view> words = {};  ///< of ArgumentKind::word, one of which must be given
};

struct CommandEntry {
  std::string_view name;
  Command command;
  std::string_view summary;
  std::vector<ArgumentEntry> arguments;
};

/// All commands, in the order in which help lists them.
std::span<const CommandEntry> command_table();

/// The entry of a command.
const CommandEntry& entry_of(Command command);

std::vector<std::string_view> command_names();

}  // namespace doctor
