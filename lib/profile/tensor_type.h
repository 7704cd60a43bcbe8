#pragma once

#include <functional>

#include "profile/profile_parts.h"
#include "trace/event_reader.h"

namespace doctor {

/// The name of a tensor type by its number, as traces write types: "float" for 1. Empty for a number that TensorFlow
/// 2.21 does not have. Source: tensorflow/core/framework/types.proto.
std::string_view tensor_type_name(std::int64_t number);

/// The bytes of an element whose components have these shapes and types, as iterators of TF 2.13 and later write them:
/// "[?,224,224,3] [?]" and "uint8 int64". An unknown first dimension is taken to be `batch_size`. nullopt if the size
/// of a component is not known.
std::optional<std::uint64_t> element_bytes(std::string_view shapes, std::string_view types,
                                           std::optional<std::int64_t> batch_size);

/// The types of a dataset's elements, from the events of its iterators; see element_bytes().
struct ElementType {
  std::string shapes;  ///< "[?,224,224,3] [?]"; empty if iterators of one name say different things
  std::string types;   ///< "uint8 int64"
};

/// By the name of the dataset's node ("BatchDatasetV2:3"). Empty before TF 2.13.
using ElementTypes = std::map<std::string, ElementType, std::less<>>;

/// Gathers element types from the events of iterators.
class ElementTypesBuilder final : public EventSink {
 public:
  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view argument) const override {
    return argument == "name" || argument == "shapes" || argument == "types" ? kElementType : ArgumentGroups{};
  }
  EventUse use_of(std::string_view name) override;
  /// Ends a file: the texts of the next file have other numbers.
  void end_file() { seen_.clear(); }
  ElementTypes finish() { return std::move(types_); }

 private:
  /// The texts of an event, by their numbers.
  struct Saying {
    std::uint32_t shapes = 0;
    std::uint32_t types = 0;
  };
  static constexpr std::size_t kMostSeen = std::size_t{1} << 16;

  bool is_known(std::uint32_t node, Saying saying);

  ElementTypes types_;
  std::vector<Saying> seen_;  ///< the last ones of each node, by the number of its name
};

}  // namespace doctor
