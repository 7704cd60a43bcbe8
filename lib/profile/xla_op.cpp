#include "profile/xla_op.h"

#include "trace/trace_builder.h"

namespace doctor {
namespace {

/// "copy-done" of "copy-done.4" and of "%copy-done.4 = f32[5]…".
std::string_view word_of(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789");
  if (digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '.')
    name = name.substr(0, digits);
  return name;
}

/// The name in the long form of an op, which is its whole line of HLO: "%broadcast.2 = f32[5,1024]{1,0} broadcast(…)".
std::string_view short_name_of(std::string_view text) {
  text = text.substr(0, text.find(" = "));
  if (text.starts_with('%')) text.remove_prefix(1);
  return text;
}

std::string_view framework_op_of(const TraceEvent& event) {
  std::string_view op = event.find_text("tf_op");
  return op.substr(0, op.rfind(':'));
}

double number_of(const TraceEvent& event, std::string_view argument) {
  const EventArgument* const found = event.find(argument);
  if (found == nullptr) return 0;
  if (found->type == ArgumentType::real) return found->real;
  return static_cast<double>(found->as_integer().value_or(0));
}

template <std::size_t kCount>
bool begins_with_any(std::string_view text, const std::array<std::string_view, kCount>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

GpuActivity activity_of(std::string_view category) {
  static constexpr std::array<std::string_view, 4> kHolders = {"while", "conditional", "call", "async-start"};
  static constexpr std::array<std::string_view, 3> kTransferWaits = {"copy-done", "async-done", "copy-start"};
  if (category.starts_with("infeed")) return GpuActivity::infeed;
  if (category.starts_with("outfeed") || category == "host send-done" || category == "host send") {
    return GpuActivity::outfeed;
  }
  if (category == "host recv-done" || category == "host recv") return GpuActivity::infeed;
  if (begins_with_any(category, kTransferWaits)) return GpuActivity::copy_wait;
  return begins_with_any(category, kHolders) ? GpuActivity::other : GpuActivity::kernel;
}

/// What exchanges data with other devices, and waits for them.
bool is_collective(std::string_view category) {
  static constexpr std::array<std::string_view, 8> kCollectives = {
      "all-reduce", "all-gather", "all-to-all", "collective-", "reduce-scatter", "megacore", "send", "recv"};
  return begins_with_any(category, kCollectives);
}

bool is_sixteen_bit(std::string_view shape) {
  if (shape.starts_with('(')) shape.remove_prefix(1);
  return shape.starts_with("bf16[") || shape.starts_with("f16[");
}

}  // namespace

bool is_xla_op_line(const EventLine& line) {
  if (line.plane->kind != PlaneKind::device || line.kind != LineKind::activity) return false;
  return line.name == "XLA Ops" || line.name == "Sparse Core Ops";
}

bool is_xla_module_line(const EventLine& line) {
  if (line.plane->kind != PlaneKind::device) return false;
  return line.name == "XLA Modules" || line.name == "Sparse Core Modules";
}

XlaOp parse_xla_op(const TraceEvent& event) {
  XlaOp op;
  op.name = event.short_name.empty() ? short_name_of(event.name) : event.short_name;
  op.category = event.find_text("hlo_category");
  if (op.category.empty()) op.category = word_of(op.name);
  op.framework_op = framework_op_of(event);
  op.source = event.find_text("source");
  op.flops = number_of(event, "flops");
  op.bytes = number_of(event, "bytes_accessed");
  const std::optional<std::int64_t> start = event.find_integer("device_offset_ps");
  const std::optional<std::int64_t> duration = event.find_integer("device_duration_ps");
  const bool is_known = start && duration && time_fault(*start, *duration) == nullptr;
  op.start = is_known ? *start : event.start;
  op.duration = is_known ? *duration : event.duration;
  return op;
}

GpuEvent understand_xla_op(const TraceEvent& event) {
  const XlaOp op = parse_xla_op(event);
  GpuEvent understood;
  understood.activity = activity_of(op.category);
  understood.name = op.name;
  understood.op_name = op.framework_op;
  understood.is_half_precision = is_sixteen_bit(event.find_text("shape_with_layout"));
  understood.is_collective = is_collective(op.category);
  return understood;
}

GpuEvent understand_device_event(const TraceEvent& event, KernelNames& names) {
  return is_xla_op_line(*event.line) ? understand_xla_op(event) : understand_gpu_event(event, names);
}

}  // namespace doctor
