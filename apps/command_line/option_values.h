#pragma once

#include "base/result.h"
#include "command_line/given_values.h"
#include "command_line/option_table.h"
#include "diagnose/budget.h"
#include "diagnose/catalog.h"
#include "diagnose/finding.h"

namespace doctor {

// Parsers for the texts of values. Errors name the place where a value was written.

/// A whole number; nullopt for any other text.
std::optional<std::size_t> parse_number(std::string_view text);

/// A number from 0.001 to 1000, e.g. "1.5"; nullopt for any other text.
std::optional<double> parse_factor(std::string_view text);

/// A number above 0, e.g. "2.48"; nullopt for any other text.
std::optional<double> parse_price(std::string_view text);

/// "0.02" or "2%"; at least 0 and below 1.
std::optional<double> parse_share(std::string_view text);

/// The bytes of "512M" or "1.5GB", at least 1; nullopt for any other text.
std::optional<std::uint64_t> parse_memory_size(std::string_view text);

/// "500ms", "2s", "10m" or "1.5h", at most a week; nullopt for any other text.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// Reads "[PIPELINE=]LIMIT", for rules "[PIPELINE=]RULE". Errors: not a limit that the budget can have, no such rule.
Result<Budget> parse_budget(BudgetKind kind, const GivenValue& value, std::span<const CatalogEntry> catalog);

/// Reads "RULE[:SUBJECT]". Errors: no such rule.
Result<Suppression> parse_suppression(const GivenValue& value, std::span<const CatalogEntry> catalog);

/// Checks that the option can take the value. Rules and their settings are checked by their own parsers.
Result<void> check_value(const OptionEntry& option, const GivenValue& value);

/// Checks that any command has a setting of that name that can take the value: the file and the environment apply to
/// all commands.
Result<void> check_for_any_command(std::string_view name, const GivenValue& value);

}  // namespace doctor
