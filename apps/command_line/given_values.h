#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace doctor
