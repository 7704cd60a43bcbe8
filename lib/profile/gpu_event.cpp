#include "profile/gpu_event.h"

#include <cctype>

#include "base/parse.h"
#include "text/escape.h"
#include "trace/chrome/chrome_threads.h"

namespace doctor {
namespace {

/// Parts of the names of kernels that use TensorCores: up to Ampere's those of XProf's kernel_stats_utils.cc, which
/// ends there. From Hopper on the matrix instruction is WGMMA, of a warp group; cuDNN's `sm90_xmma` and
/// cuBLAS' `nvjet` kernels are made of it, and CUTLASS calls what uses TensorCores `tensorop`.
constexpr std::array<std::string_view, 23> kTensorCoreKernels = {"16816",
                                                                 "c1688",
                                                                 "conv1x1",
                                                                 "conv2d_c1_k1",
                                                                 "h1688",
                                                                 "dgrad_1x1_stride_2x2",
                                                                 "h884",
                                                                 "direct_group",
                                                                 "hmma",
                                                                 "first_layer_wgrad_kernel",
                                                                 "i16832",
                                                                 "i8816",
                                                                 "s884",
                                                                 "s1688",
                                                                 "xmma_gemm",
                                                                 "xmma_implicit_gemm",
                                                                 "xmma_sparse_conv",
                                                                 "xmma_sparse_gemm",
                                                                 "xmma_warp_specialized_implicit_gemm",
                                                                 "sm90_xmma",
                                                                 "nvjet",
                                                                 "gmma",
                                                                 "tensorop"};

/// Fused ops end like those that they are made of. The last two are JAX's.
constexpr std::array<std::string_view, 14> kEligibleEndings = {
    {"Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D", "DepthwiseConv2dNative",
     "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput", "FusedMatMul", "/MatMul", "/CudnnRNN",
     "XlaDot", "XlaDotV2", "conv_general_dilated", "dot_general"}};

/// Versions follow these.
constexpr std::array<std::string_view, 4> kEligibleParts = {"BatchMatMul", "CudnnRNNV", "CudnnRNNForward",
                                                            "CudnnRNNBackprop"};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Takes the text up to the first of `separators` off the front.
std::string_view take_word(std::string_view& text, std::string_view separators) {
  const std::size_t end = std::min(text.find_first_of(separators), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const std::optional<Number> parsed = parse_whole<Number>(text);
  if (parsed) number = *parsed;
  return parsed.has_value();
}

void read_dimensions(std::string_view text, Dimensions& dimensions) {
  Dimensions parsed{};
  for (std::uint32_t& dimension : parsed) {
    if (!read_number(take_word(text, ","), dimension)) return;
  }
  if (text.empty()) dimensions = parsed;
}

/// The number after "size:" or "num_bytes:" of "size:4 dest:1 async:1" (TF) or "num_bytes:4\n…".
std::uint64_t bytes_of_copy(std::string_view details) {
  while (!details.empty()) {
    std::string_view value = take_word(details, " \n");
    const std::string_view key = take_word(value, ":");
    std::uint64_t bytes = 0;
    if ((key == "size" || key == "num_bytes") && read_number(value, bytes)) return bytes;
  }
  return 0;
}

/// "MemcpyH2D" (XSpace), "MEMCPYHtoD" (TF1), "Memcpy HtoD (Pageable -> Device)": recognised by its first letters;
/// nothing for what is not a copy.
std::optional<GpuActivity> copy_of(std::string_view name) {
  constexpr std::string_view kCopy = "memcpy";
  if (!starts_with_ignoring_case(name, kCopy)) return std::nullopt;
  name.remove_prefix(kCopy.size());
  if (name.starts_with(' ')) name.remove_prefix(1);
  if (name.starts_with("HtoD") || name.starts_with("H2D")) return GpuActivity::copy_to_device;
  if (name.starts_with("DtoH") || name.starts_with("D2H")) return GpuActivity::copy_to_host;
  if (name.starts_with("DtoD") || name.starts_with("D2D")) return GpuActivity::copy_on_device;
  if (name.starts_with("PtoP") || name.starts_with("P2P")) return GpuActivity::copy_between_devices;
  return GpuActivity::other;
}

bool is_housekeeping(std::string_view name) {
  constexpr std::array<std::string_view, 6> kStarts = {"memset",        "memoryalloc", "memoryfree",
                                                       "unifiedmemory", "overhead",    "cudagraph"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return starts_with_ignoring_case(name, start); });
}

/// A TF1 timeline has a process for each stream.
bool is_timeline_stream(const EventLine& line) {
  const std::string_view process = line.plane->title;
  return process.ends_with(" Compute") && contains(process, "/stream:") && !contains(process, "/stream:all");
}

/// Where TensorFlow's versions write the op that launched an event: `tf_op` since 2.11, an annotation before. JSON of
/// TensorFlow's own leaves `level 0` out. Source: GpuEventStats of XProf's gpu_event_stats.cc, and traces of 2.2
/// to 2.21.
constexpr std::array<std::string_view, 4> kOpArguments = {"tf_op", "level 0", "annotation", "kernel_annotation"};

/// "model/dense/MatMul:MatMul". Of nested annotations ("f:Call::model/dense/MatMul:MatMul") the outermost, as
/// TensorFlow does for `tf_op`; without what annotations add ("IteratorGetNext/_2:_Recv#from=IteratorGetNext,…#").
std::string_view op_in_annotation(std::string_view annotation) {
  annotation = annotation.substr(0, annotation.find("::"));
  return annotation.substr(0, annotation.find('#'));
}

OpName split_at_colon(std::string_view op) {
  const std::size_t colon = std::min(op.find(':'), op.size());
  return {op.substr(0, colon), op.substr(std::min(colon + 1, op.size()))};
}

OpName op_of(const TraceEvent& event) {
  const std::optional<OpName> xla = xla_op_of_gpu_event(event);
  return xla ? *xla : split_at_colon(op_of_gpu_event(event));
}

/// "scatter" of "jit(f)/jit(take)/scatter-add": the word that the last part of a name begins with.
std::string_view primitive_of(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('/') + 1);  // npos + 1 is 0
  const auto end =
      std::find_if_not(last.begin(), last.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return last.substr(0, static_cast<std::size_t>(end - last.begin()));
}

/// A product of two tensors: "ab,bc->ac".
bool is_product(std::string_view equation) {
  const std::size_t arrow = equation.find("->");
  const std::string_view inputs = equation.substr(0, arrow);
  return arrow != std::string_view::npos && std::count(inputs.begin(), inputs.end(), ',') == 1;
}

/// "nvjet_sm90_tst_128x128…": the letters are the types of cuBLAS' operands, t of bfloat16 and h of half.
bool is_sixteen_bit_nvjet(std::string_view kernel) {
  constexpr std::string_view kStart = "nvjet_";
  if (!kernel.starts_with(kStart)) return false;
  kernel.remove_prefix(kStart.size());
  if (kernel.starts_with("sm")) kernel.remove_prefix(std::min(kernel.find('_') + 1, kernel.size()));
  return kernel.starts_with('t') || kernel.starts_with('h');
}

bool names_sixteen_bits(std::string_view text) {
  constexpr std::array<std::string_view, 4> kTypes = {"half", "fp16", "bf16", "bfloat16"};
  return std::any_of(kTypes.begin(), kTypes.end(), [&](std::string_view type) { return contains(text, type); });
}

/// By the shapes of the op where there are some, else by the name of the kernel.
bool is_half(const TraceEvent& event, KernelNames& names) {
  std::string_view shapes = event.find_text("tensor_shapes");
  if (shapes.empty()) shapes = event.find_text("shape");  // before TF 2.4
  return shapes.empty() ? names.of(event.name).is_half_precision : names_sixteen_bits(shapes);
}

}  // namespace

std::optional<std::string> device_of_stream(const EventLine& line) {
  if (line.kind != LineKind::activity || line.plane->kind != PlaneKind::device) return std::nullopt;
  const std::string_view process = line.plane->title;
  // "/gpu:0/stream:all Compute" and "/gpu:0/memcpy Compute" repeat the streams; "/job:…/gpu:0 Compute" and "… Tensors"
  // are the host's.
  const bool is_of_timeline = process.ends_with(" Compute") || process.ends_with(" Tensors");
  if (is_of_timeline && !is_timeline_stream(line)) return std::nullopt;
  return accelerator_of(process.empty() ? line.plane->name : process);
}

std::string_view op_of_gpu_event(const TraceEvent& event) {
  for (const std::string_view argument : kOpArguments) {
    const std::string_view op = op_in_annotation(event.find_text(argument));
    if (!op.empty()) return op;
  }
  return {};
}

std::optional<OpName> xla_op_of_gpu_event(const TraceEvent& event) {
  constexpr std::string_view kNoOp = "XlaModule";  // what XLA calls every one of its programs
  constexpr std::string_view kNoType = "Unknown";
  const std::string_view hlo_op = event.find_text("hlo_op");
  if (hlo_op.empty()) return std::nullopt;
  const std::string_view launching = op_of_gpu_event(event);
  if (!launching.empty() && split_at_colon(launching).name != kNoOp) return std::nullopt;
  OpName op = split_at_colon(event.find_text("name"));
  if (op.name.empty()) return OpName{hlo_op, kNoType};
  if (op.type.empty()) op.type = primitive_of(op.name);
  if (op.type.empty()) op.type = kNoType;
  return op;
}

KernelName KernelNames::of(std::string_view name) {
  const auto known = known_.find(std::string(name));
  if (known != known_.end()) return known->second;
  const KernelName kernel = {is_tensor_core_kernel(name), names_sixteen_bits(name) || is_sixteen_bit_nvjet(name)};
  if (known_.size() < kMostNames) known_.try_emplace(std::string(name), kernel);
  return kernel;
}

GpuEvent understand_gpu_event(const TraceEvent& event, KernelNames& names) {
  const bool is_timeline = is_timeline_stream(*event.line);
  GpuEvent gpu;
  gpu.name = is_timeline && !event.short_name.empty() ? event.short_name : event.name;
  const std::string_view kernel_details = event.find_text("kernel_details");
  if (const std::optional<GpuActivity> copy = copy_of(gpu.name); copy && kernel_details.empty()) {
    gpu.activity = *copy;
    gpu.bytes = bytes_of_copy(event.find_text("memcpy_details"));
    return gpu;
  }
  // TF1 timelines, and Chrome traces that TensorFlow wrote itself, say nothing of how kernels were launched.
  const bool is_on_stream = is_timeline || event.line->name.starts_with("Stream #");
  if (kernel_details.empty() && (!is_on_stream || is_housekeeping(gpu.name))) return gpu;
  gpu.activity = GpuActivity::kernel;
  gpu.launch = parse_kernel_details(kernel_details);
  gpu.uses_tensor_cores = names.of(gpu.name).uses_tensor_cores;
  gpu.is_half_precision = is_half(event, names);
  gpu.is_collective = starts_with_ignoring_case(gpu.name, "nccl");
  const OpName op = is_timeline ? OpName{event.find_text("name"), event.find_text("op")} : op_of(event);
  gpu.op_name = op.name;
  const bool is_eligible = is_product(event.find_text("equation")) || is_tensor_core_eligible(op.name, op.type);
  gpu.is_op_tensor_core_eligible = !op.name.empty() && (is_eligible || gpu.uses_tensor_cores);
  return gpu;
}

bool is_copy_to_device(std::string_view event_name) {
  return copy_of(event_name) == GpuActivity::copy_to_device;
}

LaunchParameters parse_kernel_details(std::string_view details) {
  LaunchParameters launch;
  while (!details.empty()) {
    std::string_view value = take_word(details, " \n");
    const std::string_view key = take_word(value, ":");
    if (key == "regs") read_number(value, launch.registers_per_thread);
    if (key == "static_shared" || key == "shm") read_number(value, launch.static_shared_bytes);
    if (key == "dynamic_shared") read_number(value, launch.dynamic_shared_bytes);
    if (key == "block") read_dimensions(value, launch.block);
    if (key == "grid") read_dimensions(value, launch.grid);
    if (double percent = 0; key == "occ_pct" && read_number(value, percent)) launch.occupancy_percent = percent;
  }
  return launch;
}

bool is_tensor_core_kernel(std::string_view kernel_name) {
  return std::any_of(kTensorCoreKernels.begin(), kTensorCoreKernels.end(),
                     [&](std::string_view part) { return contains(kernel_name, part); });
}

bool is_tensor_core_eligible(std::string_view op_name, std::string_view op_type) {
  const auto is_eligible = [](std::string_view name) {
    return std::any_of(kEligibleEndings.begin(), kEligibleEndings.end(),
                       [&](std::string_view ending) { return name.ends_with(ending); }) ||
           std::any_of(kEligibleParts.begin(), kEligibleParts.end(),
                       [&](std::string_view part) { return contains(name, part); });
  };
  return is_eligible(op_name) || is_eligible(op_type) || op_type == "MatMul" || op_type == "CudnnRNN";
}

}  // namespace doctor
