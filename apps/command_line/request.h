#pragma once

#include "base/result.h"
#include "command_line/command_table.h"
#include "command_line/given_values.h"
#include "diagnose/budget.h"
#include "diagnose/finding.h"
#include "diagnose/threshold_settings.h"

namespace doctor {

/// All errors; never empty.
using Errors = std::vector<Error>;

/// The request of the user: a command, its arguments, and the values of its options, from wherever they were given.
/// Every value is one that its option can take; the command checks combinations of them.
struct Request {
  Command command = Command::diagnose;
  std::map<std::string, std::vector<std::string>, std::less<>> arguments = {};  ///< by ArgumentEntry::name
  GivenValues values = {};
  std::vector<ThresholdSetting> thresholds = {};
  std::vector<Budget> budgets = {};
  std::vector<Suppression> suppressions = {};
  std::optional<std::string> config_file = {};  ///< the file that was read
  std::string set_by_file = {};                 ///< what of it counts: "fail-on never, 1 suppression"; empty if nothing
  std::chrono::year_month_day today{};          ///< for settings that expire

  /// All arguments of that name; none if it is not there.
  const std::vector<std::string>& all(std::string_view argument) const;

  /// The argument of that name; empty if it is not there.
  std::string argument(std::string_view name) const;

  /// The value of an option, else its default; empty if it has none.
  std::string text(std::string_view option) const;

  /// The value of an option; nullopt if it was not given.
  std::optional<std::string> given(std::string_view option) const;

  /// The value of a numeric option, else its default; nullopt if it has none.
  std::optional<std::size_t> number(std::string_view option) const;

  /// The value of an option that is a duration, else its default; 0 if it has none.
  std::chrono::milliseconds duration(std::string_view option) const;

  /// The index of the value, or of the default, among the words of an option.
  std::size_t word(std::string_view option) const;

  bool is_set(std::string_view flag) const { return values.is_set(flag); }
};

/// The variant that the request asks for; null if it asks for the command itself.
const CommandVariant* variant_of(const Request& request);

/// The formats in which this request can be answered: those of its page or its variant.
std::vector<OutputFormat> formats_of(const Request& request);

/// The word of an argument of ArgumentKind::word. Errors: it is missing or not one of them.
Result<std::string> word_argument(const Request& request, std::string_view name);

}  // namespace doctor
