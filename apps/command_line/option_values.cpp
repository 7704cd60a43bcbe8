#include "command_line/option_values.h"

#include <fmt/format.h>

#include <cmath>

#include "base/nearest.h"
#include "base/parse.h"
#include "base/try.h"
#include "diagnose/threshold_settings.h"

namespace doctor {
namespace {

/// What a number may end in, and what that multiplies it by.
struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKilo = 1e3;
constexpr double kKibi = 1024;

// GNU's meaning of the letters: alone and with "iB" powers of 1024, with "B" of 1000.
constexpr std::array<Unit, 14> kSizeUnits = {{
    {"", 1},
    {"b", 1},
    {"k", kKibi},
    {"kib", kKibi},
    {"kb", kKilo},
    {"m", kKibi* kKibi},
    {"mib", kKibi* kKibi},
    {"mb", kKilo* kKilo},
    {"g", kKibi* kKibi* kKibi},
    {"gib", kKibi* kKibi* kKibi},
    {"gb", kKilo* kKilo* kKilo},
    {"t", kKibi* kKibi* kKibi* kKibi},
    {"tib", kKibi* kKibi* kKibi* kKibi},
    {"tb", kKilo* kKilo* kKilo* kKilo},
}};

// In milliseconds.
constexpr std::array<Unit, 4> kTimeUnits = {{{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}}};
constexpr double kLongestDuration = 7 * 24 * 3600e3;  // milliseconds; longer is a slip

// Beyond these a factor is a slip.
constexpr double kLeastFactor = 0.001;
constexpr double kMostFactor = 1000;

constexpr double kMostPrice = 1e12;  // of an hour, in any currency

constexpr double kMostBytes = 9e18;  // fits a signed number of 64 bits, which is more than any machine has

constexpr std::string_view kMemorySizes =
    "a size is a number of bytes, or a number with K, M, G or T (KiB, MiB, ...: powers of 1024) or KB, MB, GB or TB "
    "(powers of 1000), as in 500000000, 512M, 1.5GiB";

/// A number without an exponent.
std::optional<double> parse_decimal(std::string_view text) {
  return parse_whole<double>(text, std::chars_format::fixed);
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

/// A decimal number with one of these units, in the unit whose factor is 1.
std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units) {
  const std::size_t digits = std::min(text.find_first_not_of("-0123456789."), text.size());
  const std::optional<double> number = parse_decimal(text.substr(0, digits));
  const auto unit = std::ranges::find_if(units, [&](const Unit& known) { return known.name == text.substr(digits); });
  return number && unit != units.end() ? std::optional(*number * unit->factor) : std::nullopt;
}

/// "0.02" or "2%".
std::optional<double> parse_fraction(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  while (is_percent && text.ends_with(' ')) text.remove_suffix(1);
  const std::optional<double> number = parse_decimal(text);
  return is_percent && number ? *number / 100 : number;
}

Result<double> parse_limit(BudgetKind kind, const std::string& text, const std::string& where) {
  const bool is_percent = kind == BudgetKind::input_share && text.ends_with('%');
  const std::optional<double> limit = is_percent ? parse_fraction(text) : parse_whole<double>(text);
  const bool is_number = limit && std::isfinite(*limit) && *limit >= 0;
  if (kind == BudgetKind::input_share && !(is_number && *limit <= 1)) {
    return fail("'" + text + "' is not a share", where, "0 to 1, or 0% to 100%");
  }
  if (!is_number) return fail("'" + text + "' is not a number of microseconds from 0 up", where);
  return *limit;
}

Result<void> check_number(const OptionEntry& option, const GivenValue& value) {
  const std::optional<std::size_t> number = parse_number(value.text);
  if (number && *number >= option.least && *number <= option.most) return {};
  const bool is_bounded = option.most != std::numeric_limits<std::size_t>::max();
  const std::string range =
      is_bounded ? fmt::format("from {} to {}", option.least, option.most) : fmt::format("from {} up", option.least);
  return fail(fmt::format("'{}' is not a whole number {}", value.text, range), value.where);
}

Result<void> check_factor(const OptionEntry& option, const GivenValue& value) {
  const double least = std::max(kLeastFactor, static_cast<double>(option.least));
  const std::optional<double> factor = parse_factor(value.text);
  if (factor && *factor >= least) return {};
  return fail(fmt::format("'{}' is not a number from {} to {}", value.text, least, kMostFactor), value.where);
}

Result<void> check_duration(const OptionEntry& option, const GivenValue& value) {
  const std::optional<std::chrono::milliseconds> duration = parse_duration(value.text);
  if (!duration) {
    return fail("'" + value.text + "' is not a time", value.where,
                "a time is a number with ms, s, m or h, as in 500ms, 2s, 10m; at most a week");
  }
  if (duration->count() >= static_cast<std::int64_t>(option.least)) return {};
  return fail(fmt::format("'{}' is less than {} ms", value.text, option.least), value.where);
}

Result<void> check_word(const GivenValue& value, std::span<const std::string_view> words) {
  if (std::ranges::find(words, value.text) != words.end()) return {};
  return fail("unknown value '" + value.text + "'", value.where, suggestion(value.text, {words.begin(), words.end()}));
}

}  // namespace

std::optional<std::size_t> parse_number(std::string_view text) {
  return parse_whole<std::size_t>(text);
}

std::optional<double> parse_factor(std::string_view text) {
  const std::optional<double> factor = parse_decimal(text);
  return factor && *factor >= kLeastFactor && *factor <= kMostFactor ? factor : std::nullopt;
}

std::optional<double> parse_price(std::string_view text) {
  const std::optional<double> price = parse_decimal(text);
  return price && *price > 0 && *price <= kMostPrice ? price : std::nullopt;
}

std::optional<double> parse_share(std::string_view text) {
  const std::optional<double> share = parse_fraction(text);
  return share && *share >= 0 && *share < 1 ? share : std::nullopt;
}

std::optional<std::uint64_t> parse_memory_size(std::string_view text) {
  const std::optional<double> bytes = parse_quantity(in_lower_case(text), kSizeUnits);
  if (!bytes || !(*bytes >= 1 && *bytes <= kMostBytes)) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const double milliseconds = std::round(parse_quantity(text, kTimeUnits).value_or(-1));
  if (!(milliseconds >= 0 && milliseconds <= kLongestDuration)) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
}

Result<Budget> parse_budget(BudgetKind kind, const GivenValue& value, std::span<const CatalogEntry> catalog) {
  Budget budget;
  budget.kind = kind;
  budget.source = value.where;
  // The last one: a pattern may hold an equals sign, a limit cannot.
  const std::size_t equals = value.text.rfind('=');
  if (equals != std::string::npos) budget.pipeline = value.text.substr(0, equals);
  if (equals == 0) return fail("the pattern before '=' is empty", value.where);
  const std::string text = equals == std::string::npos ? value.text : value.text.substr(equals + 1);
  if (kind == BudgetKind::forbidden_rule) {
    RETURN_IF_ERROR(find_rule(text, catalog, value.where));
    budget.rule = text;
    return budget;
  }
  ASSIGN_OR_RETURN(budget.limit, parse_limit(kind, text, value.where));
  return budget;
}

Result<Suppression> parse_suppression(const GivenValue& value, std::span<const CatalogEntry> catalog) {
  Suppression suppression;
  const std::size_t colon = value.text.find(':');
  suppression.rule = value.text.substr(0, colon);
  if (colon != std::string::npos) suppression.subject = value.text.substr(colon + 1);
  RETURN_IF_ERROR(find_rule(suppression.rule, catalog, value.where));
  suppression.reason = "asked for by " + value.where;
  suppression.source = value.where;
  return suppression;
}

Result<void> check_value(const OptionEntry& option, const GivenValue& value) {
  switch (option.kind) {
    case ValueKind::none:
      if (value.text == "true" || value.text == "false") return {};
      return fail("'" + value.text + "' is neither true nor false", value.where);
    case ValueKind::word:
      return check_word(value, option.words);
    case ValueKind::number:
      return check_number(option, value);
    case ValueKind::factor:
      return check_factor(option, value);
    case ValueKind::price:
      if (parse_price(value.text)) return {};
      return fail("'" + value.text + "' is not a number above 0", value.where);
    case ValueKind::share:
      if (parse_share(value.text)) return {};
      return fail("'" + value.text + "' is not a share like 2% or 0.02", value.where);
    case ValueKind::size:
      if (parse_memory_size(value.text)) return {};
      return fail("'" + value.text + "' is not a valid size", value.where, std::string(kMemorySizes));
    case ValueKind::duration:
      return check_duration(option, value);
    default:
      return {};
  }
}

Result<void> check_for_any_command(std::string_view name, const GivenValue& value) {
  std::vector<std::string_view> words;
  Result<void> last;
  for (const OptionEntry& option : option_table()) {
    if (option.name != name || !option.is_setting()) continue;
    last = check_value(option, value);
    if (last) return {};
    for (const std::string_view word : option.words) {
      if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    }
  }
  return words.empty() ? last : check_word(value, words);
}

}  // namespace doctor
