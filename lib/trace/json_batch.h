#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "trace/json_event.h"

namespace doctor {

/// How far a piece of text was understood as a list of events.
struct ParsedBatch {
  std::size_t consumed = 0;      ///< bytes up to the end of the last event that stands; the text's size if all is well
  bool is_end_of_array = false;  ///< the `]` of the array lies within the text; `consumed` ends after it
  bool has_structure = false;    ///< false: not even the strings and brackets of the text could be found
};

/// Parses pieces of an event array. Holds buffers that are used again from piece to piece; one per thread.
class JsonBatchParser {
 public:
  JsonBatchParser();
  ~JsonBatchParser();

  /// Bytes that must be readable after the text; their values do not matter.
  static const std::size_t kPadding;

  /// Appends the events of `text` ("{…},{…}") to `batch`, whose views point into the text. `splits_arguments` as in
  /// JsonReadOptions.
  ParsedBatch parse(std::string_view text, bool splits_arguments, JsonEventBatch& batch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doctor
