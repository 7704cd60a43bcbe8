#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "command_line/command_table.h"

namespace doctor {

/// The type of an option's value: how it is checked, and what a shell offers to complete it.
enum class ValueKind {
  none,  ///< a flag, without a value
  text,
  file,
  run,           ///< a run of a log directory
  word,          ///< one of OptionEntry::words
  number,        ///< a whole number between OptionEntry::least and most
  factor,        ///< a number from OptionEntry::least, but at least 0.001, to 1000
  price,         ///< a number above 0
  share,         ///< from 0 to below 1: "0.02", "2%"
  size,          ///< of memory: "512M"
  duration,      ///< "500ms", "2s", "10m", "1h": from OptionEntry::least milliseconds to a week
  threshold,     ///< "rule.threshold=value"
  share_budget,  ///< "[pipeline=]share"
  time_budget,   ///< "[pipeline=]microseconds"
  rule_budget,   ///< "[pipeline=]rule"
  suppression,   ///< "rule[:subject]"
  fix,           ///< "kind[:iterator][,setting=value]"
};

/// An option: an entry of the one table that the command line, its help, the environment, the configuration file,
/// completion and the manual are made from.
struct OptionEntry {
  std::string_view name = {};        ///< without the dashes
  char letter = '\0';                ///< its short form; '\0' if it has none
  std::string_view value_name = {};  ///< "FILE", as help shows it; empty for a flag, and in the table for the usual one
  ValueKind kind = ValueKind::none;
  std::span<const std::string_view> words = {};  ///< for ValueKind::word
  std::size_t least = 0;                         ///< for ValueKind::number, factor and duration
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::string_view default_text = {};  ///< the default value; empty: help explains it, or there is none
  std::string_view help = {};
  CommandSet commands = {};                      ///< commands that take it. Entries of one name share no command
  bool repeats = false;                          ///< may be given several times; all values count
  bool is_variable = false;                      ///< may be set in the environment although it has no key
  std::string_view key = {};                     ///< in the configuration file; empty: it cannot be set there
  std::span<const std::string_view> pages = {};  ///< pages of `show` that take it; empty: all

  /// True if it may be set in the environment, as variable_of() names it.
  bool is_setting() const { return is_variable || !key.empty(); }
};

}  // namespace doctor
