#include "command_line/surroundings.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "command_line/option_table.h"
#include "command_line/option_values.h"

namespace doctor {
namespace {

std::optional<std::string> variable_of_process(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// "1" and "0" are what people write into variables.
std::string as_flag(const std::string& text) {
  return text == "1" ? "true" : text == "0" ? "false" : text;
}

}  // namespace

Surroundings surroundings() {
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  std::error_code ignored;  // a working directory that is gone holds no configuration
  return {variable_of_process, std::filesystem::current_path(ignored).string(), today};
}

Result<GivenValues> read_environment(Command command, const Surroundings& around) {
  GivenValues values;
  for (const OptionEntry* option : options_of(command)) {
    if (!option->is_setting) continue;
    const std::optional<std::string> text = around.variable(variable_of(*option));
    if (!text || text->empty()) continue;
    const std::string where = "environment " + variable_of(*option);
    const std::vector<std::string> parts = option->repeats ? split_at_commas(*text) : std::vector{*text};
    for (const std::string& part : parts) {
      const bool is_flag = option->kind == ValueKind::none;
      const GivenValue value = {is_flag ? as_flag(part) : part, where, Origin::environment};
      if (const Result<void> checked = check_for_any_command(option->name, value); !checked) {
        return Unexpected(checked.error());
      }
      values.add(option->name, value);
    }
  }
  return values;
}

}  // namespace doctor
