#include "profile/device_events.h"

#include "profile/profile_parts.h"
#include "profile/xla_op.h"
#include "trace/chrome/chrome_threads.h"

namespace doctor {
namespace {

/// The texts by which understand_device_event() judges.
constexpr std::array<std::string_view, 14> kMeaning = {
    {"kernel_details", "memcpy_details", "tf_op", "level 0", "annotation", "kernel_annotation", "hlo_op", "name", "op",
     "equation", "tensor_shapes", "shape", "hlo_category", "shape_with_layout"}};

/// What tells events of one meaning apart, and what pages about ops show beside it.
constexpr std::array<std::string_view, 8> kBesideMeaning = {
    "correlation_id", "group_id",       "step_name",        "source",
    "flops",          "bytes_accessed", "device_offset_ps", "device_duration_ps"};

template <typename Number>
void append_number(std::string& text, Number number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// With its size, so that no two texts become one.
void append_text(std::string& key, std::string_view text) {
  append_number(key, text.size());
  key += text;
}

/// Tells the arguments of kMeaning apart.
constexpr std::uint64_t code_of(std::string_view argument) {
  return argument.size() << 8 | static_cast<unsigned char>(argument.front());
}

constexpr bool has_distinct_codes() {
  for (std::size_t one = 0; one < kMeaning.size(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (code_of(kMeaning[one]) == code_of(kMeaning[other])) return false;
    }
  }
  return true;
}
static_assert(has_distinct_codes());

/// What understand_device_event() asks of a line.
int sort_of_line(const EventLine& line) {
  if (is_xla_op_line(line)) return 0;
  if (line.name.starts_with("Stream #")) return 1;
  return line.plane->title.ends_with(" Compute") ? 2 : 3;  // of a TF1 timeline
}

}  // namespace

ArgumentGroups DeviceEvents::groups_of(std::string_view argument) {
  if (std::find(kMeaning.begin(), kMeaning.end(), argument) != kMeaning.end()) return kDeviceMeaning;
  const bool is_beside = std::find(kBesideMeaning.begin(), kBesideMeaning.end(), argument) != kBesideMeaning.end();
  return is_beside ? kBesideDeviceMeaning : ArgumentGroups{};
}

std::optional<DeviceEvent> DeviceEvents::understand(const TraceEvent& event) {
  const Line& line = line_of(*event.line);
  if (!line.device) return std::nullopt;
  return DeviceEvent{event, *line.device, line.has_programs ? nullptr : &meaning_of(event)};
}

const DeviceEvents::Line& DeviceEvents::line_of(const EventLine& line) {
  if (&line == last_) return *line_of_last_;
  // Neighbours in a file are mostly of a few lines, and a trace may have any number.
  constexpr std::size_t kMostLines = 64;
  if (lines_.size() == kMostLines) lines_.clear();
  const auto [found, is_new] = lines_.try_emplace(&line);
  Line& known = found->second;
  if (is_new) {
    known.has_programs = is_xla_module_line(line);
    known.device = known.has_programs ? accelerator_of(line.plane->name) : device_of_stream(line);
  }
  last_ = &line;
  line_of_last_ = &known;
  return known;
}

/// False: the reader does not say which arguments matter, so that each event would seem to be another.
bool DeviceEvents::find_key(const TraceEvent& event) {
  key_.clear();
  append_number(key_, static_cast<std::uint64_t>(sort_of_line(*event.line)) << 32 | event.name_number);
  if (event.name_number == 0) {
    append_text(key_, event.name);
    append_text(key_, event.short_name);
  }
  for (const EventArgument& argument : event.arguments) {
    if (argument.groups == kAllArguments) return false;
    if ((argument.groups & kDeviceMeaning) == 0 || argument.type != ArgumentType::text) continue;
    append_number(key_, code_of(argument.name) << 32 | argument.text_number);
    if (argument.text_number == 0) append_text(key_, argument.text);
  }
  return true;
}

const GpuEvent& DeviceEvents::meaning_of(const TraceEvent& event) {
  if (!find_key(event)) return passing_ = understand_device_event(event, names_);
  const auto known = meanings_.find(key_);
  if (known != meanings_.end()) return known->second.event;
  passing_ = understand_device_event(event, names_);
  if (meanings_.size() == kMostMeanings) return passing_;
  Meaning& meaning = meanings_[key_];
  meaning = {passing_, std::string(passing_.name), std::string(passing_.op_name)};
  meaning.event.name = meaning.name;
  meaning.event.op_name = meaning.op_name;
  meaning.event.number = ++meaning_count_;
  return meaning.event;
}

void DeviceEvents::end_file() {
  lines_.clear();
  last_ = nullptr;
  meanings_.clear();
}

}  // namespace doctor
