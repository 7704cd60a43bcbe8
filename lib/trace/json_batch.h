#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "trace/json_event.h"

namespace doctor {

/// How much of a text was understood as a list of events.
struct ParsedBatch {
  std::size_t consumed = 0;      ///< bytes up to the end of the last valid event; the text's size if all is well
  bool is_end_of_array = false;  ///< the `]` of the array lies within the text; `consumed` ends after it
  bool has_structure = false;    ///< false: not even the strings and brackets of the text could be found
};

/// Parses pieces of an event array. It reuses its buffers from piece to piece; each thread needs one.
class JsonBatchParser {
 public:
  JsonBatchParser();
  ~JsonBatchParser();

  /// Bytes that must be readable after the text; their values do not matter.
  static const std::size_t kPadding;

  /// Appends the events of `text` ("{…},{…}") to `batch`, whose views refer to the text. `splits_arguments` as in
  /// JsonReadOptions.
  ParsedBatch parse(std::string_view text, bool splits_arguments, JsonEventBatch& batch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doctor
