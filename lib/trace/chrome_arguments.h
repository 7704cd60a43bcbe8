#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event_kind.h"
#include "trace/trace_builder.h"

namespace doctor {

/// The arguments of an event that mean something to the diagnosis. Views live until the next decode().
struct ChromeArguments {
  std::string_view long_name;
  std::string_view dataset_name;
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> parent_id;
  std::optional<std::uint64_t> element_id;
  std::optional<std::int64_t> step_number;
  std::vector<Attribute> attributes;  ///< of an iterator
};

/// Decodes `args` objects. TF writes every value as a string, other writers numbers as numbers: both are read.
class ChromeArgumentDecoder {
 public:
  /// Decodes what events of `kind` use from `text`, the whole object. Attribute names and texts are interned.
  const ChromeArguments& decode(std::string_view text, EventKind kind, TraceBuilder& builder);

 private:
  ChromeArguments arguments_;
  std::string long_name_text_;
  std::string dataset_name_text_;
  std::string attribute_text_;
};

}  // namespace doctor
