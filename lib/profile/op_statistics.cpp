#include "profile/op_statistics.h"

#include <tuple>

#include "profile/xla_op.h"
#include "text/escape.h"

namespace doctor {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_alphanumeric(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

/// [A-Za-z0-9.][A-Za-z0-9_.\/>-]*
bool is_node_name(std::string_view text) {
  if (text.empty() || !(is_alphanumeric(text.front()) || text.front() == '.')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || std::string_view("_.\\/>-").find(c) != std::string_view::npos;
  });
}

/// [A-Z_][A-Za-z0-9_]*
bool is_op_type(std::string_view text) {
  if (text.empty() || !((text.front() >= 'A' && text.front() <= 'Z') || text.front() == '_')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || c == '_'; });
}

/// A primitive of JAX: its type, lower case and perhaps with parameters in brackets, ends the name.
bool is_jax_op(std::string_view name, std::string_view type) {
  const std::size_t open = type.find('[');
  const std::string_view primitive = type.substr(0, open);
  const bool is_word = !primitive.empty() && std::all_of(primitive.begin(), primitive.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_word || (open != std::string_view::npos && type.back() != ']')) return false;
  const std::size_t slash = name.rfind('/');
  return name.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with(primitive);
}

/// Copies between host and device: their names begin with their type in any case ("MEMCPYHtoD").
constexpr std::array<std::string_view, 4> kCopies = {"MemcpyHToD", "MemcpyDToH", "MemcpyDToD", "MemcpyHToH"};

}  // namespace

std::optional<OpName> parse_op_name(std::string_view event_name) {
  for (const std::string_view type : kCopies) {
    if (starts_with_ignoring_case(event_name, type)) return OpName{event_name, type};
  }
  const std::size_t colon = event_name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view name = event_name.substr(0, colon);
  const std::string_view type = event_name.substr(colon + 1);
  if (name == "Iterator") return OpName{event_name, "Dataset"};
  if (is_node_name(name) && is_op_type(type)) return OpName{name, type};
  if (is_jax_op(name, type)) return OpName{name, type.substr(0, type.find('['))};
  return std::nullopt;
}

std::uint32_t OpTableBuilder::op_of(const OpName& name, bool is_on_device, std::string_view framework_op) {
  constexpr std::size_t kMostOps = std::size_t{1} << 16;  // more than any model has: no file fills the memory with ops
  constexpr OpName kOthers = {"…", "…"};
  if (std::max({name.name.size(), name.type.size(), framework_op.size()}) > kLongestName) {
    return op_of({shortened_name(name.name), shortened_name(name.type)}, is_on_device, shortened_name(framework_op));
  }
  key_.assign(is_on_device ? "D" : "H").append(name.type).append(1, ':').append(name.name);
  if (!framework_op.empty()) key_.append(1, '\0').append(framework_op);
  const bool is_one_too_many = table_.ops.size() >= kMostOps && name.name != kOthers.name && !ids_.contains(key_);
  if (is_one_too_many) return op_of(kOthers, is_on_device);
  const auto [place, is_new] = ids_.try_emplace(key_, static_cast<std::uint32_t>(table_.ops.size()));
  if (is_new) {
    OpStatistics& op = table_.ops.emplace_back();
    op.name = name.name;
    op.type = name.type;
    op.is_on_device = is_on_device;
    op.framework_op = framework_op;
  }
  return place->second;
}

void OpTableBuilder::take(const TraceEvent& event) {
  if (event.line->kind != LineKind::activity) return;
  if (event.line->plane->kind == PlaneKind::device) return take_on_device(event);
  const std::optional<std::uint32_t> op = ops_of_names_.of(event, [&]() -> std::optional<std::uint32_t> {
    const std::optional<OpName> name = parse_op_name(event.name);
    return name ? std::optional(op_of(*name, false)) : std::nullopt;
  });
  if (op) threads_.add(*event.line, {event.start, event.duration, *op});
}

/// A kernel counts for the op that launched it, and so do copies within an op of XLA; a TF1 timeline has the op in
/// place of its kernels. Streams run one kernel after another: nothing nests.
void OpTableBuilder::take_on_device(const TraceEvent& event) {
  if (!device_of_stream(*event.line)) return;
  if (is_xla_op_line(*event.line)) return take_xla_op(event);
  const Picoseconds end = event.start + event.duration;
  const auto [device, is_first] = devices_.try_emplace(event.line->plane->index, Interval{event.start, end});
  if (!is_first) {
    device->second.start = std::min(device->second.start, event.start);
    device->second.end = std::max(device->second.end, end);
  }
  std::optional<OpName> name = xla_op_of_gpu_event(event);
  const std::string_view op = name ? std::string_view{} : op_of_gpu_event(event);
  if (!name) name = parse_op_name(op.empty() ? event.name : op);
  if (!name) return;
  OpStatistics& statistics = table_.ops[op_of(*name, true)];
  ++statistics.occurrences;
  statistics.total += event.duration;
  statistics.self += event.duration;
}

/// Ops of XLA nest: a `while` holds what runs in it.
void OpTableBuilder::take_xla_op(const TraceEvent& event) {
  const XlaOp op = parse_xla_op(event);
  const std::uint32_t index = op_of({op.name, op.category}, true, op.framework_op);
  OpStatistics& statistics = table_.ops[index];
  if (statistics.source.empty()) statistics.source = shortened_name(op.source);
  statistics.flops += op.flops;
  statistics.bytes += op.bytes;
  xla_lines_.add(*event.line, {op.start, op.duration, index});
}

void OpTableBuilder::ThreadWalk::take(const Run& run) {
  const Picoseconds end = run.start + run.duration;
  if (!has_begun_) first_start_ = last_end_ = run.start;
  has_begun_ = true;
  while (!open_.empty() && open_.back().end < end) open_.pop_back();
  while (!open_.empty() && open_.back().end <= run.start && run.duration > 0) open_.pop_back();
  std::vector<OpStatistics>& ops = builder_->table_.ops;
  if (!open_.empty()) ops[open_.back().op].self -= run.duration;
  OpStatistics& op = ops[run.op];
  ++op.occurrences;
  op.total += run.duration;
  op.self += run.duration;
  open_.push_back({end, run.op});
  last_end_ = std::max(last_end_, end);
}

void OpTableBuilder::end_line(const EventLine& line) {
  threads_.end_line(line);
  xla_lines_.end_line(line);
}

void OpTableBuilder::end_file() {
  threads_.end_file();
  xla_lines_.end_file();
  for (const auto& [plane, span] : devices_) table_.device_time += span.end - span.start;
  devices_.clear();
  ops_of_names_.clear();
}

OpTable OpTableBuilder::finish() {
  end_file();
  std::sort(table_.ops.begin(), table_.ops.end(), [](const OpStatistics& a, const OpStatistics& b) {
    return std::tuple(a.is_on_device, b.self, std::string_view(a.type), std::string_view(a.name)) <
           std::tuple(b.is_on_device, a.self, std::string_view(b.type), std::string_view(b.name));
  });
  return std::move(table_);
}

}  // namespace doctor
