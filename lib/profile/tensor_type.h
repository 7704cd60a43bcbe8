#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace doctor {

/// The name of a tensor type by its number, as traces write types: "float" for 1. Empty for a number that TensorFlow
/// 2.21 does not have. Source: tensorflow/core/framework/types.proto.
std::string_view tensor_type_name(std::int64_t number);

/// The bytes of an element whose components have these shapes and types, as iterators of TF 2.13 and later write them:
/// "[?,224,224,3] [?]" and "uint8 int64". An unknown first dimension is taken to be `batch_size`. nullopt if the size
/// of a component is not known.
std::optional<std::uint64_t> element_bytes(std::string_view shapes, std::string_view types,
                                           std::optional<std::int64_t> batch_size);

}  // namespace doctor
