#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command_line/command_table.h"

namespace doctor {

struct Page;

/// What the value of an option is: how it is checked, and what a shell offers to complete it.
enum class ValueKind {
  none,  ///< a flag: it is there or not
  text,
  file,
  word,          ///< one of OptionEntry::words
  number,        ///< a whole number within OptionEntry::least and most
  size,          ///< of memory: "512M"
  threshold,     ///< "rule.threshold=value"
  share_budget,  ///< "[pipeline=]share"
  time_budget,   ///< "[pipeline=]microseconds"
  rule_budget,   ///< "[pipeline=]rule"
  shard,         ///< "2/8"
  suppression,   ///< "rule[:subject]"
};

/// An option: one entry of the one table that the command line, its help, the environment, the configuration file,
/// completions and manual are made from.
struct OptionEntry {
  std::string_view name = {};        ///< without the dashes
  char letter = '\0';                ///< its short form; none: '\0'
  std::string_view value_name = {};  ///< "FILE", as help shows it; empty for a flag
  ValueKind kind = ValueKind::none;
  std::span<const std::string_view> words = {};  ///< of ValueKind::word
  std::size_t least = 0;                         ///< of ValueKind::number
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::string_view default_text = {};  ///< the value where none is given; empty: help says it, or there is none
  std::string_view help = {};
  CommandSet commands = {};       ///< that know it. Entries of one name share no command
  bool repeats = false;           ///< may be given several times; all values count
  bool is_setting = false;        ///< may stand in the environment, as variable_of() names it
  std::string_view key = {};      ///< in the configuration file; empty: it cannot stand there
  bool Page::*ability = nullptr;  ///< only these pages of `show` know it; null: all
};

/// Whether the value is a number, a word or the like, and not one that stands in a table of the configuration file.
bool is_plain(const OptionEntry& option);

/// All options, in the order in which help lists them.
std::span<const OptionEntry> option_table();

/// The options of a command, in that order.
std::vector<const OptionEntry*> options_of(Command command);

/// The option of that name (without the dashes) that the command knows; null if it knows none.
const OptionEntry* find_option(Command command, std::string_view name);

/// "--fail-on".
std::string flag_of(const OptionEntry& option);

/// The environment variable that stands for it: "TFDATA_DOCTOR_FAIL_ON".
std::string variable_of(const OptionEntry& option);

}  // namespace doctor
