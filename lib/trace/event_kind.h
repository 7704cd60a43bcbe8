#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace doctor {

/// The meaning of an event for the diagnosis, determined by its name alone.
enum class EventKind : std::uint8_t {
  other,  ///< counted, not kept
  /// `Iterator::…`: one GetNext call of one tf.data iterator, also inside of an op that goes over a dataset by itself,
  /// see is_loop_iterator()
  iterator,
  get_next,           ///< `IteratorGetNext…`: the consumer's op
  captured_function,  ///< `InstantiatedCapturedFunction::Run[Async]…`: a user function is called
  produce,            ///< `<Transformation>Produce`: makes the element `element_id` on a background thread
  consume,            ///< `<Transformation>Consume`: takes the element `element_id`
  executor,           ///< `ExecutorState::Process`: runs ops of the function whose id it carries
  make_iterator,      ///< `MakeIterator…`: the pipeline starts inside the window
  region_queued,      ///< `ThreadpoolListener::Record`: a closure enters the queue of a pool
  region_start,       ///< `ThreadpoolListener::StartRegion`: a pool thread begins a closure
  region_stop,        ///< `ThreadpoolListener::StopRegion`
  python_call,        ///< `TFE_Py_…`: Python calls into TensorFlow
  eager_execute,      ///< `EagerExecute…`: the call runs its op, with Python's lock released
  release,            ///< `TFE_DeleteTensorHandle`: Python frees a tensor, or an iterator with its threads
  op,                 ///< `node_name:OpType`
  compilation,        ///< a tf.function is traced to a graph, or XLA compiles; see is_tracing()
  output,             ///< an op that writes summaries or checkpoints, run eagerly; see is_output_op()
  next_frame,         ///< Python's frame of next() on an iterator of a loader; see loader_of_frame()
  maker_frame,        ///< Python's frame of a task that makes elements ahead of next(); see is_of_keras_queue()
  queue_put,          ///< Python's frame of a put() into a queue
  batch_ready,        ///< Python's frame in which a pool of workers hands over what a task made
  item_frame,         ///< Python's frame of a `__getitem__`
  python_frame,       ///< any other of Python's frames: kept inside of the three above
  program_run,        ///< XLA runs a program, or a part of one, on the CPU
  step,               ///< a step marker (it has the argument `step_num`, or its line or PyTorch's name says so)
};

/// The kind of an event by its name as the trace has it (short or long form). Prefixes are matched, never the bare word
/// "Iterator", which names of CUDA and PyTorch contain too. Returns `step` for PyTorch's markers alone: others are
/// recognised by their arguments.
EventKind classify_event(std::string_view name);

/// Tests whether a long name belongs to an op that goes over a whole dataset and asks for its elements without a
/// GetNext op: `ReduceIterator::…` of Dataset.reduce() and of `for x in dataset` in a tf.function,
/// `SingleElementIterator::…` of get_single_element().
bool is_loop_iterator(std::string_view long_name);

/// Tests whether the first reading only counts events of this kind (Trace::compile_and_output_count).
inline bool is_for_second_reading(EventKind kind) {
  return kind == EventKind::compilation || kind == EventKind::output;
}

/// Loaders of Keras: a PyDataset (Sequence) whose batches are made in next(), and one whose batches workers make ahead.
inline constexpr std::string_view kKerasDataset = "Keras' PyDataset";
inline constexpr std::string_view kKerasQueue = "the queue of Keras' PyDataset";

inline constexpr std::string_view kTfData = "tf.data";
inline constexpr std::string_view kGrain = "Grain";
inline constexpr std::string_view kTorchLoader = "PyTorch's DataLoader";

/// The library whose elements a frame of kind `next_frame` takes: kTfData, kGrain, kTorchLoader, or a loader of
/// Keras.
std::string_view loader_of_frame(std::string_view name);

/// Tests whether a frame of kind `maker_frame` is of a task of Keras' workers, or of what asks whether their queue is
/// open.
bool is_of_keras_queue(std::string_view name);

/// "$train.py:16 __getitem__", or PyTorch's "data/train.py(16): __getitem__", in its parts; empty where a name is not
/// of these forms.
struct FrameName {
  std::string_view file;  ///< without its folder
  std::string_view line;
  std::string_view function;
};
FrameName frame_name(std::string_view name);

/// Tests whether a name is PyTorch's of an element that worker processes made.
bool is_of_torch_workers(std::string_view name);

/// Tests whether events of this kind are about something that their name says; see subject_of_event().
inline bool has_subject(EventKind kind) {
  return kind == EventKind::iterator || kind == EventKind::op || kind == EventKind::next_frame ||
         kind == EventKind::maker_frame || kind == EventKind::item_frame || kind == EventKind::python_frame;
}

/// The long name of an iterator, the type of an op, the whole name of a frame.
std::string_view subject_of_event(std::string_view name, EventKind kind);

/// The framework whose traces have devices that this tool does not read.
inline constexpr std::string_view kPyTorch = "PyTorch";

/// The only framework whose profiler writes events of this name: "JAX", "PyTorch"; empty for all other names.
std::string_view framework_of_event(std::string_view name);

/// The number of the step that PyTorch's profiler marks: 551 of "ProfilerStep#551"; nullopt for all other names.
std::optional<std::int64_t> step_of_torch(std::string_view name);

/// Tests whether an event of kind `compilation` traces a Python function to a graph.
bool is_tracing(std::string_view name);

/// Tests whether ops of this type write summaries (TensorBoard) or checkpoints: "WriteScalarSummary", "SaveV2".
bool is_output_op(std::string_view op_type);

/// The `OpType` of `node_name:OpType`; empty if `name` is not of that form (exactly one colon, an identifier after it).
std::string_view op_type_of(std::string_view name);

/// A part of an iterator's long name, or a prefix of the name, without the element index at its end: "Zip[1]" -> "Zip".
std::string_view without_element_index(std::string_view name);

}  // namespace doctor
