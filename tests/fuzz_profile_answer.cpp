#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "capture/profile_messages.h"
#include "collected_events.h"

namespace {

struct Outcome {
  std::string trace;
  std::string error;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome take(std::string_view body, std::size_t piece) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  doctor::MemorySink sink;
  doctor::ProfileAnswer answer(sink, kMostBytes);
  doctor::Result<void> result;
  while (result && !body.empty()) {
    result = answer.take(body.substr(0, piece));
    body.remove_prefix(std::min(piece, body.size()));
  }
  if (result) result = answer.finish();
  if (!result && result.error().what.empty()) __builtin_trap();
  if (answer.trace_bytes() != sink.bytes.size()) __builtin_trap();
  return {sink.bytes, result ? std::string() : result.error().what};
}

}  // namespace

// Any bytes as the body of an answer: how they are cut into pieces changes nothing, and the trace is a part of them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const Outcome whole = take(body, size + 1);
  if (whole.trace.size() > size) __builtin_trap();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
    if (take(body, piece) != whole) __builtin_trap();
  }
  if (doctor::decode_grpc_message(body).size() > size) __builtin_trap();
  return 0;
}
