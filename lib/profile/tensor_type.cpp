#include "profile/tensor_type.h"

#include <algorithm>
#include <array>

#include "trace/json_number.h"

namespace doctor {
namespace {

struct TensorType {
  std::string_view name;
  std::uint8_t bytes = 0;  ///< of a value; 0 if values differ in size
};

/// Indexed by number.
constexpr std::array<TensorType, 34> kTypes = {{{"", 0},
                                                {"float", 4},
                                                {"double", 8},
                                                {"int32", 4},
                                                {"uint8", 1},
                                                {"int16", 2},
                                                {"int8", 1},
                                                {"string", 0},
                                                {"complex64", 8},
                                                {"int64", 8},
                                                {"bool", 1},
                                                {"qint8", 1},
                                                {"quint8", 1},
                                                {"qint32", 4},
                                                {"bfloat16", 2},
                                                {"qint16", 2},
                                                {"quint16", 2},
                                                {"uint16", 2},
                                                {"complex128", 16},
                                                {"half", 2},
                                                {"resource", 0},
                                                {"variant", 0},
                                                {"uint32", 4},
                                                {"uint64", 8},
                                                {"float8_e5m2", 1},
                                                {"float8_e4m3fn", 1},
                                                {"float8_e4m3fnuz", 1},
                                                {"float8_e4m3b11fnuz", 1},
                                                {"float8_e5m2fnuz", 1},
                                                {"int4", 1},
                                                {"uint4", 1},
                                                {"int2", 1},
                                                {"uint2", 1},
                                                {"float4_e2m1fn", 1}}};

/// Bytes that one value of the type takes. Nothing where values differ in size, and for unknown names.
std::optional<std::uint64_t> value_bytes(std::string_view name) {
  const auto* const found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const TensorType& type) { return type.name == name; });
  return found == kTypes.end() || found->bytes == 0 ? std::nullopt : std::optional<std::uint64_t>(found->bytes);
}

/// Takes what is before the separator off the text; all of it if there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return first;
}

/// The product of the dimensions of "[?,224,224,3]".
std::optional<std::uint64_t> value_count(std::string_view shape, std::optional<std::int64_t> batch_size) {
  if (shape.size() < 2 || shape.front() != '[' || shape.back() != ']') return std::nullopt;
  shape = shape.substr(1, shape.size() - 2);
  std::uint64_t count = 1;
  for (bool is_first = true; !shape.empty(); is_first = false) {
    const std::string_view dimension = take_until(shape, ',');
    const std::optional<std::int64_t> length = is_first && dimension == "?" ? batch_size : parse_integer(dimension);
    if (!length || *length < 0) return std::nullopt;
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(*length), &count)) return std::nullopt;
  }
  return count;
}

}  // namespace

std::string_view tensor_type_name(std::int64_t number) {
  return number > 0 && number < static_cast<std::int64_t>(kTypes.size()) ? kTypes[static_cast<std::size_t>(number)].name
                                                                         : std::string_view();
}

std::optional<std::uint64_t> element_bytes(std::string_view shapes, std::string_view types,
                                           std::optional<std::int64_t> batch_size) {
  if (shapes.empty() || types.empty()) return std::nullopt;
  std::uint64_t sum = 0;
  while (!shapes.empty() && !types.empty()) {
    const std::optional<std::uint64_t> count = value_count(take_until(shapes, ' '), batch_size);
    const std::optional<std::uint64_t> each = value_bytes(take_until(types, ' '));
    std::uint64_t bytes = 0;
    if (!count || !each || __builtin_mul_overflow(*count, *each, &bytes)) return std::nullopt;
    if (__builtin_add_overflow(sum, bytes, &sum)) return std::nullopt;
  }
  return shapes.empty() && types.empty() ? std::optional(sum) : std::nullopt;
}

}  // namespace doctor
