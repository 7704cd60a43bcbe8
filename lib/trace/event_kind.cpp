#include "trace/event_kind.h"

#include <algorithm>
#include <array>

#include "trace/json_number.h"

namespace doctor {

// Asked for every event: GCC does not always inline what measures a literal.
using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls): it sees no use in a literal

namespace {

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

/// Whether an event, or a type of op, is the consumer's. IteratorToStringHandle is left out: it returns a handle and
/// never waits for an element.
bool is_get_next(std::string_view name) {
  return name.starts_with("IteratorGetNext"sv);
}

/// Frames as Python's tracer in JAX and TensorFlow names them ("$dataset_ops.py:4775 __next__") and as PyTorch's does
/// ("torch/utils/data/dataloader.py(630): __next__"), which also marks each element that a loop takes.
struct Loader {
  std::string_view file;
  std::string_view library;
  std::string_view function = "__next__";
};

constexpr std::string_view kTorchElement = "enumerate(DataLoader)#";
constexpr std::string_view kTorchStep = "ProfilerStep#";

/// Of Keras 3: its generators, of which each call takes a batch, and the rest of the queue that its workers fill.
constexpr std::string_view kKerasFile = "py_dataset_adapter.py";

/// Grain puts a wrapper of its stats.py around next() of each of its iterators.
constexpr std::array<Loader, 14> kLoaders = {{{"dataset_ops.py", kTfData},
                                              {"iterator_ops.py", kTfData},
                                              {"input_lib.py", kTfData},
                                              {"data_loader.py", kGrain},
                                              {"dataset.py", kGrain},
                                              {"lazy_dataset.py", kGrain},
                                              {"prefetch.py", kGrain},
                                              {"stats.py", kGrain, "wrapper"},
                                              {"dataloader.py", kTorchLoader},
                                              {kKerasFile, kKerasDataset, "_finite_generator"},
                                              {kKerasFile, kKerasDataset, "_infinite_generator"},
                                              {kKerasFile, kKerasQueue, "_finite_enqueuer_generator"},
                                              {kKerasFile, kKerasQueue, "_infinite_enqueuer_generator"},
                                              {kKerasFile, kKerasQueue, "get"}}};

/// "data/train.py(16): __getitem__", as PyTorch's profiler names a frame of Python.
FrameName frame_of_torch(std::string_view name) {
  constexpr std::string_view kBeforeLine = ".py("sv;
  constexpr std::string_view kBeforeFunction = "): "sv;
  const std::size_t line = name.find(kBeforeLine);
  const std::size_t end = line == std::string_view::npos ? line : name.find(kBeforeFunction, line);
  if (end == std::string_view::npos) return {};
  const std::size_t begin = line + kBeforeLine.size();
  const std::size_t folder = name.rfind('/', line);
  const std::size_t file = folder == std::string_view::npos ? 0 : folder + 1;
  return {name.substr(file, begin - 1 - file), name.substr(begin, end - begin),
          name.substr(end + kBeforeFunction.size())};
}

/// What Grain itself puts around next() of its iterators and around what its threads do, whoever records Python.
constexpr std::string_view kGrainNext = "DatasetIterator.__next__";
constexpr std::string_view kGrainTask = "Prefetch._getitem";

bool is_grain_task(const FrameName& frame) {
  return frame.file == "prefetch.py"sv && frame.function == "_getitem"sv;
}

/// Of frames of no loader's next(). A task of a pool is set when its result is there, whatever the workers are.
EventKind kind_of_frame(std::string_view name) {
  const FrameName frame = frame_name(name);
  if (frame.function == "__getitem__"sv) return EventKind::item_frame;
  if (frame.file == "pool.py"sv && frame.function == "_set"sv) return EventKind::batch_ready;
  if (frame.file == "queue.py"sv && frame.function == "put"sv) return EventKind::queue_put;
  return is_of_keras_queue(name) || is_grain_task(frame) ? EventKind::maker_frame : EventKind::python_frame;
}

constexpr std::string_view kTracing = "tf.function-graph_building";

/// Stages of XLA on any device, as versions 2.2 to 2.21 name them.
constexpr std::array<std::string_view, 9> kCompilers = {
    "XlaCompil",        "Xla Compil",    "CpuCompiler::", "GpuCompiler::",   "NVPTXCompiler::",
    "AMDGPUCompiler::", "JitCompiler::", "HLO passes",    "DeviceCompiler::"};

bool is_xla(std::string_view name) {
  return std::any_of(kCompilers.begin(), kCompilers.end(),
                     [&](std::string_view compiler) { return name.starts_with(compiler); });
}

/// Asked for every event of a Chrome trace that is nothing else: few of them begin like a compiler.
bool is_compilation(std::string_view name) {
  switch (name.empty() ? '\0' : name.front()) {
    case 't':
      return is_tracing(name);
    case 'X':
    case 'C':
    case 'G':
    case 'N':
    case 'A':
    case 'J':
    case 'H':
    case 'D':
      return is_xla(name);
    default:
      return false;
  }
}

/// What runs eagerly: `EagerLocalExecute: SaveV2`. Functions are named so too, and are no op.
constexpr std::string_view kEagerOp = "EagerLocalExecute: ";

}  // namespace

FrameName frame_name(std::string_view name) {
  if (!name.starts_with('$')) return frame_of_torch(name);
  const std::size_t colon = name.find(':');
  const std::size_t space = name.find(' ', colon);
  if (space == std::string_view::npos) return {};
  return {name.substr(1, colon - 1), name.substr(colon + 1, space - colon - 1), name.substr(space + 1)};
}

bool is_of_keras_queue(std::string_view name) {
  const FrameName frame = frame_name(name);
  return frame.file == kKerasFile && (frame.function == "get_index"sv || frame.function == "is_running"sv);
}

bool is_of_torch_workers(std::string_view name) {
  return name == "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
}

std::string_view loader_of_frame(std::string_view name) {
  if (name.ends_with(kGrainNext)) return kGrain;
  if (name.starts_with(kTorchElement)) return kTorchLoader;
  if (!name.starts_with('$')) {
    const bool is_next = name.starts_with("torch/utils/data/dataloader.py(") && name.ends_with(" __next__");
    return is_next ? kTorchLoader : std::string_view{};
  }
  const FrameName frame = frame_name(name);
  const auto found = std::find_if(kLoaders.begin(), kLoaders.end(), [&](const Loader& loader) {
    return loader.file == frame.file && loader.function == frame.function;
  });
  return found == kLoaders.end() ? std::string_view{} : found->library;
}

std::string_view subject_of_event(std::string_view name, EventKind kind) {
  return kind == EventKind::op ? op_type_of(name) : name;
}

std::string_view framework_of_event(std::string_view name) {
  if (name.starts_with("PjitFunction(")) return "JAX";
  constexpr std::array<std::string_view, 4> kOfTorch = {"aten::", kTorchElement, kTorchStep, "PyTorch Profiler ("};
  const auto begins = [&](std::string_view start) { return name.starts_with(start); };
  return std::any_of(kOfTorch.begin(), kOfTorch.end(), begins) ? kPyTorch : std::string_view{};
}

std::optional<std::int64_t> step_of_torch(std::string_view name) {
  return name.starts_with(kTorchStep) ? parse_integer(name.substr(kTorchStep.size())) : std::nullopt;
}

bool is_tracing(std::string_view name) {
  return name == kTracing;
}

bool is_output_op(std::string_view op_type) {
  if (op_type.starts_with("Write")) return op_type.ends_with("Summary");
  constexpr std::array<std::string_view, 6> kTypes = {"FlushSummaryWriter", "ImportEvent", "Save",
                                                      "SaveSlices",         "SaveV2",      "MergeV2Checkpoints"};
  return std::find(kTypes.begin(), kTypes.end(), op_type) != kTypes.end();
}

bool is_loop_iterator(std::string_view long_name) {
  return long_name.starts_with("ReduceIterator::"sv) || long_name.starts_with("SingleElementIterator::"sv);
}

std::string_view op_type_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view type = name.substr(colon + 1);
  return is_identifier(type) ? type : std::string_view{};
}

std::string_view without_element_index(std::string_view name) {
  if (name.empty() || name.back() != ']') return name;
  const std::size_t open = name.rfind('[');
  if (open == std::string_view::npos || open + 2 > name.size() - 1) return name;
  const std::string_view index = name.substr(open + 1, name.size() - open - 2);
  const bool is_number = std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? name.substr(0, open) : name;
}

EventKind classify_event(std::string_view name) {
  if (name.starts_with("Iterator::"sv) || is_loop_iterator(name)) return EventKind::iterator;
  // An op is what its type says: nodes that take the element are named "IteratorGetNext_4/_41:_Recv".
  if (is_get_next(name) && op_type_of(name).empty()) return EventKind::get_next;
  if (name.starts_with("InstantiatedCapturedFunction::"sv)) return EventKind::captured_function;
  if (name == "ExecutorState::Process") return EventKind::executor;
  if (name.starts_with("ThreadpoolListener::"sv)) {
    if (name == "ThreadpoolListener::Record") return EventKind::region_queued;
    if (name == "ThreadpoolListener::StartRegion") return EventKind::region_start;
    if (name == "ThreadpoolListener::StopRegion") return EventKind::region_stop;
    return EventKind::other;
  }
  if (name.ends_with("Produce")) return EventKind::produce;
  if (name.ends_with("Consume")) return EventKind::consume;
  if (name.starts_with("MakeIterator"sv)) return EventKind::make_iterator;
  if (name.starts_with("TFE_Py_"sv)) return EventKind::python_call;
  if (name == "TFE_DeleteTensorHandle") return EventKind::release;
  if (name.starts_with("EagerExecute"sv)) return EventKind::eager_execute;
  // `EagerLocalExecute: f` wraps a whole function; it is not an op.
  if (name.starts_with("EagerL"sv)) {
    const bool is_output = name.starts_with(kEagerOp) && is_output_op(name.substr(kEagerOp.size()));
    return is_output ? EventKind::output : EventKind::other;
  }
  if (!loader_of_frame(name).empty()) return EventKind::next_frame;
  if (name.starts_with(kTorchStep)) return EventKind::step;
  if (name.starts_with('$') || !frame_of_torch(name).file.empty()) return kind_of_frame(name);
  if (name == kGrainTask) return EventKind::maker_frame;
  // What "(wait for completion)" waits for runs on other threads, and is an event there.
  if (name == "ThunkExecutor::Execute") return EventKind::program_run;
  const std::string_view type = op_type_of(name);
  if (is_get_next(type)) return EventKind::get_next;
  if (!type.empty()) return EventKind::op;
  return is_compilation(name) ? EventKind::compilation : EventKind::other;
}

}  // namespace doctor
