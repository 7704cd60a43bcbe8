#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "input_file.h"
#include "program.h"

namespace bench {

/// simdjson's first stage over a trace, window by window: where the brackets, strings and numbers are, and whether the
/// text is UTF-8.
class StructureScan {
 public:
  StructureScan() : text_(kWindow + simdjson::SIMDJSON_PADDING) {
    const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(kWindow, 1, stage_);
    if (error != simdjson::SUCCESS) throw std::runtime_error("simdjson has no memory");
  }

  /// Where the next bytes of the document go, and how many of them.
  char* room() { return text_.data() + carried_; }
  std::size_t room_size() const { return kWindow - carried_; }

  /// `size` bytes were put into the room. Scans as far as events are complete and carries the rest over.
  void take(std::size_t size, bool is_last) {
    const std::string_view text(text_.data(), carried_ + size);
    const std::size_t boundary = is_last ? std::string_view::npos : text.rfind("},{");
    const std::size_t end = boundary == std::string_view::npos ? text.size() : boundary + 1;
    if (end > 0) count(end);
    scanned_.bytes += size;
    carried_ = text.size() - end;
    std::memmove(text_.data(), text_.data() + end, carried_);
  }

  const Scanned& scanned() const { return scanned_; }

 private:
  void count(std::size_t size) {
    const auto* const text = reinterpret_cast<const std::uint8_t*>(text_.data());
    if (stage_->stage1(text, size, simdjson::stage1_mode::regular) != simdjson::SUCCESS) {
      throw std::runtime_error("not a trace on one line");
    }
    scanned_.structures += stage_->n_structural_indexes;
  }

  std::vector<char> text_;
  std::size_t carried_ = 0;
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage_;
  Scanned scanned_;
};

}  // namespace bench
