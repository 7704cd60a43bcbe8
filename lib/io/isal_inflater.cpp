#include "io/gzip.h"

#ifdef DOCTOR_HAVE_ISAL

#include <isa-l.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace doctor {
namespace {

constexpr std::size_t kLongestMatch = 258;  // RFC 1951

class IsalInflater final : public Inflater {
 public:
  IsalInflater() { restart(); }

  void restart() override {
    ::isal_inflate_init(&state_);
    checksum_ = 0;
    corrupt_ = false;
  }

  Step inflate(std::string_view input, char* output, std::size_t capacity) override {
    Step step;
    if (!corrupt_) step = inflate_step(input, output, capacity);
    if (corrupt_) step.produced += drain(output + step.produced, capacity - step.produced);
    if (corrupt_ && held_output() == 0) step.state = State::corrupt;
    checksum_ = ::crc32_gzip_refl(checksum_, reinterpret_cast<const unsigned char*>(output), step.produced);
    return step;
  }

  std::uint32_t checksum() const override { return checksum_; }

 private:
  Step inflate_step(std::string_view input, char* output, std::size_t capacity) {
    const std::uint32_t available = clamped_length(input.size());
    const std::uint32_t room = clamped_length(capacity);
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(input.data()));  // ISA-L does not write to it
    state_.avail_in = available;
    state_.next_out = reinterpret_cast<std::uint8_t*>(output);
    state_.avail_out = room;
    const int code = ::isal_inflate(&state_);
    corrupt_ = code != ISAL_DECOMP_OK;

    Step step{static_cast<std::ptrdiff_t>(available - state_.avail_in), room - state_.avail_out, State::more};
    if (corrupt_ && code != ISAL_INVALID_BLOCK) step.produced -= withhold_unwritten(step.produced);
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      step.state = State::end;
      step.consumed -= state_.read_in_length / 8;
    }
    return step;
  }

  std::size_t held_output() const {
    return static_cast<std::size_t>(std::max(0, state_.tmp_out_valid - state_.tmp_out_processed));
  }

  /// On an invalid symbol or distance ISA-L has already counted the match that it then does not write: up to
  /// kLongestMatch bytes at the end are whatever memory held before. Returns how many of them lie in the output.
  std::size_t withhold_unwritten(std::size_t produced) {
    const std::size_t from_held = std::min(held_output(), kLongestMatch);
    state_.tmp_out_valid -= static_cast<std::int32_t>(from_held);
    return std::min(produced, kLongestMatch - from_held);
  }

  /// After a fault ISA-L returns without handing out all that it has inflated: the rest lies in its own buffer.
  std::size_t drain(char* output, std::size_t capacity) {
    const std::size_t count = std::min(capacity, held_output());
    std::memcpy(output, state_.tmp_out_buffer + state_.tmp_out_processed, count);
    state_.tmp_out_processed += static_cast<std::int32_t>(count);
    return count;
  }

  inflate_state state_;
  std::uint32_t checksum_ = 0;
  bool corrupt_ = false;
};

}  // namespace

std::unique_ptr<Inflater> isal_inflater() {
  return std::make_unique<IsalInflater>();
}

}  // namespace doctor

#else

namespace doctor {

std::unique_ptr<Inflater> isal_inflater() {
  return nullptr;
}

}  // namespace doctor

#endif
