#pragma once

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

/// What most options do not have.
struct OptionDetails {
  char letter = '\0';                ///< its short form; '\0' if it has none
  std::string_view value_name = {};  ///< "FILE", as help shows it; empty for a flag, and in the table for the usual one
  std::span<const std::string_view> words = {};  ///< for ValueKind::word
  std::size_t least = 0;                         ///< for ValueKind::number, factor and duration
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::string_view default_text = {};            ///< the default value; empty: help explains it, or there is none
  bool repeats = false;                          ///< may be given several times; all values count
  bool is_variable = false;                      ///< may be set in the environment although it has no key
  std::string_view key = {};                     ///< in the configuration file; empty: it cannot be set there
  std::span<const std::string_view> pages = {};  ///< pages of `show` that take it; empty: all
};

/// An option: an entry of the one table that the command line, its help, the environment, the configuration file,
/// completion and the manual are made from.
struct OptionEntry : OptionDetails {
  constexpr OptionEntry(std::string_view its_name, ValueKind of, CommandSet takers, std::string_view words_of_help,
                        const OptionDetails& details = {})
      : OptionDetails(details), name(its_name), kind(of), commands(takers), help(words_of_help) {}

  std::string_view name;  ///< without the dashes
  ValueKind kind;
  CommandSet commands;  ///< commands that take it. Entries of one name share no command
  std::string_view help;

  /// True if it may be set in the environment, as variable_of() names it.
  bool is_setting() const { return is_variable || !key.empty(); }
};

/// Tests whether the value is a number, a word or the like, and not an entry of a table of the configuration file.
bool is_plain(const OptionEntry& option);

/// All options, in the order in which help lists them.
std::span<const OptionEntry> option_table();

/// The options of one command alone, or of two similar ones: a part of the table in a file of its own.
std::span<const OptionEntry> command_options();

/// The options of a command, in that order.
std::vector<const OptionEntry*> options_of(Command command);

/// The option of that name (without the dashes) that the command takes; null if it takes none.
const OptionEntry* find_option(Command command, std::string_view name);

/// The option of that flag, "--fail-on" or "-o", of a command, or, without one, of any.
const OptionEntry* find_flag(std::string_view flag, const CommandEntry* command = nullptr);

/// Tests whether a page of `show` takes the option.
bool is_for_page(const OptionEntry& option, std::string_view page);

/// The flag of an option: "--fail-on".
std::string flag_of(const OptionEntry& option);

/// The environment variable that sets an option: "TFDATA_DOCTOR_FAIL_ON".
std::string variable_of(const OptionEntry& option);

}  // namespace doctor
