#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "command_line/given_values.h"
#include "command_line/option_table.h"

namespace doctor {

/// A whole number; nullopt if the text is none.
std::optional<std::size_t> parse_number(std::string_view text);

/// The index of `word` in `words`. Errors: it is none of them, with the nearest; `where` is where it was written.
Result<std::size_t> choose(const std::string& where, std::string_view word, std::span<const std::string_view> words);

/// Whether the value is one that the option can take. Errors name the place where it was written.
Result<void> check_value(const OptionEntry& option, const GivenValue& value);

/// Whether any command knows a setting of that name that can take the value: file and environment are for all of them.
Result<void> check_for_any_command(std::string_view name, const GivenValue& value);

}  // namespace doctor
