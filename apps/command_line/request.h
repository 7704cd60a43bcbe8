#pragma once

#include "base/result.h"
#include "command_line/command_table.h"
#include "diagnose/budget.h"
#include "diagnose/finding.h"
#include "diagnose/threshold_settings.h"

namespace doctor {

/// The place where a value was written; later ones in this list take precedence.
enum class Origin { file, environment, command_line };

/// A value as it was written, before it is interpreted, and its place: "--fail-on", "environment
/// TFDATA_DOCTOR_FAIL_ON", "/job/.tfdata-doctor.toml:12".
struct GivenValue {
  std::string text;
  std::string where;
  Origin origin = Origin::command_line;
};

/// The values that were given, by the name of the option (without dashes). An option that is not there was not given; a
/// flag has the value "true" or "false".
class GivenValues {
 public:
  void add(std::string_view option, GivenValue value) { values_[std::string(option)].push_back(std::move(value)); }

  /// All values of an option in order of increasing precedence; none if it was not given.
  const std::vector<GivenValue>& all(std::string_view option) const {
    static const std::vector<GivenValue> kNone;
    const auto found = values_.find(option);
    return found == values_.end() ? kNone : found->second;
  }

  /// The same, to be changed.
  std::span<GivenValue> of(std::string_view option) {
    const auto found = values_.find(option);
    return found == values_.end() ? std::span<GivenValue>() : std::span<GivenValue>(found->second);
  }

  /// The value with the highest precedence; null if the option was not given.
  const GivenValue* find(std::string_view option) const {
    const std::vector<GivenValue>& values = all(option);
    return values.empty() ? nullptr : &values.back();
  }

  bool is_set(std::string_view flag) const {
    const GivenValue* const value = find(flag);
    return value != nullptr && value->text == "true";
  }

 private:
  std::map<std::string, std::vector<GivenValue>, std::less<>> values_;
};

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

/// The word of an argument of ArgumentKind::word. Errors: it is missing or not one of them.
Result<std::string> word_argument(const Request& request, std::string_view name);

}  // namespace doctor
