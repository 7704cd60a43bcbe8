#include "command_line/configuration_page.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "command_line/option_table.h"

namespace doctor {
namespace {

/// Text of one cell.
std::string cell(std::string_view text) {
  std::string result;
  for (const char letter : text) result += letter == '|' ? std::string("\\|") : std::string(1, letter);
  return result;
}

std::string code(std::string_view text) {
  return text.empty() ? std::string() : fmt::format("`{}`", cell(text));
}

}  // namespace

std::string settings_table() {
  std::string table = "| key | option | environment variable | default | |\n|---|---|---|---|---|\n";
  std::set<std::string_view> names;
  for (const OptionEntry& option : option_table()) {
    if (!option.is_setting || !names.insert(option.name).second) continue;
    const std::string value = option.value_name.empty() ? "" : " " + std::string(option.value_name);
    const std::string_view fallback = option.kind == ValueKind::none ? "false" : option.default_text;
    table += fmt::format("| {} | {} | {} | {} | {} |\n", code(option.key), code(flag_of(option) + value),
                         code(variable_of(option)), code(fallback), cell(option.help));
  }
  return table;
}

}  // namespace doctor
