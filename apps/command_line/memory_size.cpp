#include "command_line/memory_size.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace doctor {
namespace {

struct SizeUnit {
  std::string_view name;
  double bytes;
};

constexpr double kKilo = 1e3;
constexpr double kKibi = 1024;

// GNU's meaning of the letters: alone and with "iB" powers of 1024, with "B" of 1000.
constexpr std::array<SizeUnit, 14> kUnits = {{
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

constexpr double kMostBytes = 9e18;  // fits a signed number of 64 bits, which is more than any machine has

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

}  // namespace

std::optional<std::uint64_t> parse_memory_size(std::string_view text) {
  double number = 0;
  const char* const text_end = text.data() + text.size();
  // Fixed: an exponent is no way to write a size.
  const auto [end, error] = std::from_chars(text.data(), text_end, number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  const std::string unit_name = in_lower_case({end, static_cast<std::size_t>(text_end - end)});
  const auto* const unit =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const SizeUnit& known) { return known.name == unit_name; });
  if (unit == kUnits.end()) return std::nullopt;
  const double bytes = number * unit->bytes;
  if (!(bytes >= 1 && bytes <= kMostBytes)) return std::nullopt;  // nan, too
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace doctor
