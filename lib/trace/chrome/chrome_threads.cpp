#include "trace/chrome/chrome_threads.h"

#include <fmt/format.h>

#include "trace/annotations.h"

namespace doctor {
namespace {

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view leading_name(std::string_view text) {
  return text.substr(
      0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_name_character) - text.begin()));
}

/// "/device:GPU:0" for PyTorch's label "GPU 0"; empty for its "CPU" and all other labels.
std::string labelled_device(std::string_view label) {
  const std::size_t blank = std::min(label.find(' '), label.size());
  const std::string_view type = label.substr(0, blank);
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const bool is_device = !type.empty() && std::all_of(type.begin(), type.end(), is_capital);
  const std::optional<std::int64_t> index =
      is_device ? parse_integer(label.substr(std::min(blank + 1, label.size()))) : std::nullopt;
  return index ? fmt::format("/device:{}:{}", type, *index) : std::string();
}

/// A trace may have a hundred thousand processes of as many devices.
void add_once(std::vector<std::string>& list, std::set<std::string, std::less<>>& known, std::string_view text) {
  if (known.contains(text)) return;
  known.emplace(text);
  list.emplace_back(text);
}

}  // namespace

std::optional<std::string> accelerator_of(std::string_view process_name) {
  constexpr std::string_view kDevice = "/device:";
  constexpr std::string_view kOldGpu = "/gpu:";
  if (const std::size_t found = process_name.find(kDevice); found != std::string_view::npos) {
    const std::string_view rest = process_name.substr(found + kDevice.size());
    const std::string_view type = leading_name(rest);
    if (type.empty() || type == "CPU" || type == "cpu") return std::nullopt;
    std::string device = std::string(kDevice) + std::string(type);
    if (rest.substr(type.size()).starts_with(':')) {
      const std::string_view index = leading_name(rest.substr(type.size() + 1));
      if (!index.empty()) device += ":" + std::string(index);
    }
    return device;
  }
  if (const std::size_t found = process_name.find(kOldGpu); found != std::string_view::npos) {
    return "/device:GPU:" + std::string(leading_name(process_name.substr(found + kOldGpu.size())));
  }
  return std::nullopt;
}

std::string_view host_of(std::string_view process_name) {
  const std::size_t found = process_name.find(" /host:");
  return found == std::string_view::npos ? std::string_view{} : process_name.substr(0, found);
}

PlaneKind kind_of_process(std::string_view process_name) {
  if (accelerator_of(process_name)) return PlaneKind::device;
  const std::string_view host = host_of(process_name);
  if (!host.empty()) process_name.remove_prefix(host.size() + 1);
  return process_name.starts_with("/host:") ? kind_of_plane(process_name) : PlaneKind::host;
}

ChromeProcess& ChromeThreads::known_process(std::uint64_t id) {
  ChromeProcess& process = processes_[id];
  process.id = id;
  return process;
}

ChromeThread& ChromeThreads::find_thread(std::uint64_t process, std::uint64_t thread) {
  const auto [place, is_new] = threads_.try_emplace({process, thread});
  ChromeThread& found = place->second;
  if (!is_new) return found;
  ChromeProcess& its_process = known_process(process);
  found.process = &its_process;
  found.previous = std::exchange(its_process.last_thread, &found);
  found.id = thread;
  return found;
}

void ChromeThreads::take_metadata(const JsonEvent& event) {
  const bool is_process = event.name == "process_name";
  const bool is_label = event.name == "process_labels";
  if (!is_process && !is_label && event.name != "thread_name") return;
  std::string scratch;
  JsonMembers members(event.arguments);
  for (JsonMember member; members.next(member);) {
    if (member.key != (is_label ? "labels" : "name") || !member.is_string) continue;
    const std::string_view name = unescape_json(member.value, scratch);
    if (is_label) {
      label_process(event.process, name);
    } else if (is_process) {
      name_process(event.process, name);
    } else {
      name_thread(thread(event.process, event.thread), name);
    }
  }
}

void ChromeThreads::name_process(std::uint64_t id, std::string_view name) {
  ChromeProcess& process = known_process(id);
  if (process.is_annotation) return;
  if (const std::string_view host = host_of(name); !host.empty()) add_once(hosts_, known_hosts_, host);
  if (const std::optional<std::string> accelerator = accelerator_of(name)) {
    add_once(accelerators_, known_accelerators_, *accelerator);
  }
  process.name = name;
  if (!process.device.empty()) return;
  process.kind = kind_of_process(name);
  if (process.is_host && process.kind != PlaneKind::host) become_device(process);
}

/// What was kept of its threads is not the host's.
void ChromeThreads::become_device(ChromeProcess& process) {
  process.is_host = false;
  for (const ChromeThread* thread = process.last_thread; thread != nullptr; thread = thread->previous) {
    came_too_late_ = came_too_late_ || thread->lane != kNoLane;
  }
}

/// Never taken back, as what a thread is.
void ChromeThreads::label_process(std::uint64_t id, std::string_view label) {
  ChromeProcess& process = known_process(id);
  if (process.is_annotation) return;
  if (std::string device = labelled_device(label); !device.empty() && process.is_host) {
    process.device = std::move(device);
    process.kind = PlaneKind::device;
    become_device(process);
  }
  if (label != kAnnotationLabel) return;
  process.is_annotation = true;
  has_annotations_ = true;
  came_too_late_ = came_too_late_ || process.last_thread != nullptr;
}

void ChromeThreads::list_device(const ChromeProcess& process) {
  if (!process.device.empty()) add_once(accelerators_, known_accelerators_, process.device);
}

void ChromeThreads::name_thread(ChromeThread& thread, std::string_view name) {
  const bool was_special = thread.is_derived || thread.is_step_line;
  thread.given_name = std::make_unique<const std::string>(name);
  // Never taken back: a thread with two names would have the document read again for ever.
  thread.is_derived |= kind_of_line(name) == LineKind::derived;
  thread.is_step_line |= kind_of_line(name) == LineKind::steps;
  const bool is_special = thread.is_derived || thread.is_step_line;
  if (is_special && !was_special && thread.lane != kNoLane) came_too_late_ = true;
}

void ChromeThreads::begin_again() {
  came_too_late_ = false;
  for (auto& entry : threads_) entry.second.lane = kNoLane;
  for (auto& entry : processes_) entry.second.plane = nullptr;
}

}  // namespace doctor
