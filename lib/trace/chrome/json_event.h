#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/chrome/json_number.h"
#include "trace/chrome/json_text.h"

namespace doctor {

/// One element of `traceEvents`, decoded as far as every event needs it. Views live as long as its batch. Fields:
/// "Trace Event Format" (Google, document 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU); times in microseconds.
struct JsonEvent {
  char phase = '\0';           ///< first character of `ph`; '\0' if the event has none
  std::uint64_t process = 0;   ///< `pid`: the number, or a hash where it is not a 64-bit integer
  std::uint64_t thread = 0;    ///< `tid`, likewise
  std::string_view name;       ///< without escapes
  std::string_view arguments;  ///< text of `args`, "{…}", not decoded; empty if there are none
  std::uint32_t first_member = 0;
  std::uint32_t member_count = 0;  ///< the members of `args` are members [first_member, + member_count) of the batch
  NumberText start_text = NumberText::missing;
  NumberText duration_text = NumberText::missing;
  MicrosecondTime start;     ///< `ts`
  MicrosecondTime duration;  ///< `dur`
};

/// The events of one window of a document.
struct JsonEventBatch {
  std::vector<JsonEvent> events;
  std::vector<JsonMember> members;    ///< of all events
  std::deque<std::string> unescaped;  ///< texts of names that had escapes

  std::span<const JsonMember> arguments_of(const JsonEvent& event) const {
    return std::span(members).subspan(event.first_member, event.member_count);
  }
  void clear() {
    events.clear();
    members.clear();
    unescaped.clear();
  }
};

}  // namespace doctor
