#pragma once

#include "base/hash.h"
#include "trace/event_reader.h"
#include "trace/json_number.h"
#include "trace/trace_sink.h"
#include "trace/xspace/xspace_names.h"
#include "trace/xspace/xspace_usual_event.h"
#include "trace/xspace/xspace_windows.h"

namespace doctor {

/// A piece of the file, and the line of each of its parts.
struct EventPiece {
  EventWindow window;
  std::vector<const EventLine*> lines;
};

/// Takes the pieces of a file in order and makes its lines, which live as long as this.
class PieceTaker {
 public:
  PieceTaker(const MetadataReader& metadata, XSpaceWindows& windows, bool is_for_trace)
      : metadata_(metadata), windows_(windows), is_for_trace_(is_for_trace) {}

  bool take(EventPiece& piece);

 private:
  const MetadataReader& metadata_;
  XSpaceWindows& windows_;
  const bool is_for_trace_;
  std::deque<EventLine> lines_;
};

inline bool PieceTaker::take(EventPiece& piece) {
  piece.lines.clear();
  if (!windows_.take(piece.window)) return false;
  for (const LinePart& part : piece.window.parts) {
    if (part.line == lines_.size()) {
      EventLine& line = lines_.emplace_back();
      line.plane = &metadata_.planes[part.plane].plane;
      line.name = part.line_name;
      // Only conversions have lines of a host that repeat others.
      line.kind = is_for_trace_ ? LineKind::activity : kind_of_line(*line.plane, line.name);
      line.id = part.line_id;
      line.index = part.line;
      line.has_thread_id = true;
    }
    piece.lines.push_back(&lines_.back());
  }
  return true;
}

// What the loop over the events of an XSpace hands arguments and events to, one for each kind of sink.

/// The value of a statistic.
struct StatValue {
  ArgumentType type = ArgumentType::text;
  bool is_reference = false;  ///< `number` is the id of a statistic whose name is the text
  std::uint64_t number = 0;   ///< an integer, or the bits of a real number
  std::string_view text;
};

/// What an event of a stream says of the op that it belongs to; nullopt if XLA did not launch it.
inline std::optional<LaunchedByXla> launched_by_xla(std::span<const EventArgument> arguments, std::string_view kernel) {
  LaunchedByXla launched;
  launched.kernel = kernel;
  std::optional<std::int64_t> program;
  for (const EventArgument& argument : arguments) {
    if ((argument.groups & kNamesXlaOp) == 0) continue;
    if (argument.name == "hlo_op") {
      launched.hlo_op = argument.text;
      launched.hlo_op_number = argument.text_number;
    }
    if (argument.name == "program_id") program = argument.as_integer();
    if (argument.name != "cuda_graph_node_id") continue;
    if (const std::optional<std::int64_t> node = argument.as_integer())
      launched.node = static_cast<std::uint64_t>(*node);
  }
  if (launched.hlo_op.empty() || !program) return std::nullopt;
  launched.program = static_cast<std::uint64_t>(*program);
  return launched;
}

/// Takes events for any sink.
class SinkTaker {
 public:
  static constexpr bool kIsForTrace = false;

  explicit SinkTaker(EventSink& sink) : sink_(sink) {}

  void begin() { arguments_.clear(); }
  static constexpr bool defers() { return false; }
  void defer(std::uint64_t /*id*/) {}
  void take(const PlaneMetadata& plane, const StatMetadata& name, const StatValue& value);
  /// An argument as the name of an event has it.
  void take_encoded(std::string_view name, std::string_view text, ArgumentGroups looked_at);
  void end_event(const EventLine& line, const PlaneMetadata& plane, const NameUse& use, const EventHead& head,
                 Picoseconds start, Picoseconds duration);
  void end_line(const EventLine& line) { sink_.end_line(line); }
  bool is_done() const { return sink_.is_done(); }
  bool uses_line(const EventLine& line) const { return sink_.uses_line(line); }

 private:
  /// The op of an event whose texts have these numbers.
  struct KnownOp {
    std::uint64_t program = 0;
    std::uint64_t node = 0;
    std::size_t kernel = 0;
    std::uint32_t hlo_op = 0;  ///< 0: none is known
    std::string_view op;
  };

  void name_op(const XlaPrograms& programs, const TraceEvent& event);
  std::string_view op_of(const XlaPrograms& programs, const LaunchedByXla& launched, std::size_t kernel);

  EventSink& sink_;
  std::vector<EventArgument> arguments_;
  std::vector<KnownOp> known_ops_;  ///< by a hash of the numbers: the same few ops run in each step
};

[[gnu::always_inline]] inline void SinkTaker::take(const PlaneMetadata& plane, const StatMetadata& name,
                                                   const StatValue& value) {
  EventArgument& argument = arguments_.emplace_back();
  argument.name = name.name;
  argument.groups = name.groups;
  argument.type = value.type;
  argument.text = value.text;
  argument.integer = static_cast<std::int64_t>(value.number);
  argument.unsigned_integer = value.number;
  if (value.type == ArgumentType::real) argument.real = std::bit_cast<double>(value.number);
  if (!value.is_reference) return;
  const StatMetadata* const referred = plane.stats.find(value.number);
  argument.text = referred == nullptr ? std::string_view{} : referred->name;
  argument.text_number = referred == nullptr ? 0 : referred->number;
}

inline void SinkTaker::take_encoded(std::string_view name, std::string_view text, ArgumentGroups looked_at) {
  const ArgumentGroups groups = sink_.groups_of(name);
  if ((groups & looked_at) == 0) return;
  EventArgument& argument = arguments_.emplace_back();
  argument.groups = groups;
  argument.name = name;
  argument.text = text;
}

[[gnu::always_inline]] inline void SinkTaker::end_event(const EventLine& line, const PlaneMetadata& plane,
                                                        const NameUse& use, const EventHead& head, Picoseconds start,
                                                        Picoseconds duration) {
  const EventMetadata* const metadata = plane.events.find(head.metadata_id);
  TraceEvent event;
  event.line = &line;
  event.meaning = event.short_meaning = use.use.meaning;
  event.start = start;
  event.duration = duration;
  if (metadata != nullptr) {
    event.name = metadata->plain_name();
    event.name_number = metadata->number;
    event.short_name = metadata->display_name;
  }
  if (plane.programs != nullptr) name_op(*plane.programs, event);
  event.arguments = arguments_;
  sink_.take(event);
}

/// The argument `name` is the op as far as all that is fused with it shares its name, and absent from the nodes of a
/// CUDA graph. The program has the whole.
inline void SinkTaker::name_op(const XlaPrograms& programs, const TraceEvent& event) {
  const std::optional<LaunchedByXla> launched = launched_by_xla(arguments_, event.name);
  const std::string_view op = launched ? op_of(programs, *launched, event.name_number) : std::string_view{};
  if (op.empty()) return;
  auto name = std::find_if(arguments_.begin(), arguments_.end(),
                           [](const EventArgument& argument) { return argument.name == "name"; });
  if (name == arguments_.end()) {
    EventArgument& added = arguments_.emplace_back();
    added.name = "name";
    added.groups = sink_.device_groups_of(added.name);
    name = arguments_.end() - 1;
  }
  name->text = op;
  name->text_number = 0;
}

inline std::string_view SinkTaker::op_of(const XlaPrograms& programs, const LaunchedByXla& launched,
                                         std::size_t kernel) {
  constexpr std::size_t kKnownOps = 1024;
  if (launched.hlo_op_number == 0) return programs.op_of(launched);
  known_ops_.resize(kKnownOps);
  const std::uint64_t node = launched.node.value_or(0);
  std::uint64_t hash = hash_with(hash_with(kEmptyHash, launched.hlo_op_number), node);
  hash = hash_with(hash_with(hash, kernel), launched.program);
  KnownOp& known = known_ops_[(hash ^ hash >> 32) % kKnownOps];
  const bool is_known = known.hlo_op == launched.hlo_op_number && known.node == node && known.kernel == kernel &&
                        known.program == launched.program;
  if (!is_known) known = {launched.program, node, kernel, launched.hlo_op_number, programs.op_of(launched)};
  return known.op;
}

/// Notes the nodes of CUDA graphs, each of which runs in each step.
class GraphNodes final : public EventSink {
 public:
  explicit GraphNodes(XlaPrograms& programs) : programs_(programs) {}

  void take(const TraceEvent& event) override {
    ++count_;
    const std::optional<LaunchedByXla> launched = launched_by_xla(event.arguments, event.name);
    if (launched && programs_.add_node(*launched)) last_new_ = count_;
  }
  /// After as many events without a new one as came with them.
  bool is_done() const override { return count_ > 2 * last_new_ + kFewest; }

 private:
  static constexpr std::uint64_t kFewest = 1000;

  XlaPrograms& programs_;
  std::uint64_t count_ = 0;
  std::uint64_t last_new_ = 0;
};

/// Takes events for a trace, without a TraceEvent for each: there are millions. Nearly all events of an instance carry
/// the same attributes, of which the last values count: only the last event with each list of them is read.
class PartTaker {
 public:
  static constexpr bool kIsForTrace = true;

  /// The latest event of an instance with a certain list of attributes, which are not read yet.
  struct Deferred {
    const PlaneMetadata* plane = nullptr;
    std::string_view event;
    std::uint32_t instance = kNoRow;
    std::uint64_t signature = 0;  ///< of the names of the attributes and their order
    Picoseconds seen = 0;
  };

  explicit PartTaker(EventSink& part) : part_(static_cast<TracePart&>(part)) {}

  void begin() {
    part_.begin_event();
    signature_ = 0;
  }
  bool has_mark() const { return part_.has_step_number(); }
  /// Takes an integer that is neither an attribute nor refers to a text.
  void take_number(ArgumentGroups group, std::uint64_t number) { part_.take_number(group, number); }
  /// Notes an attribute without its value (FNV-1a).
  void defer(std::uint64_t id) { signature_ = (signature_ ^ id) * 0x100'0000'01b3u; }
  bool defers() const { return !part_.with_history(); }
  std::vector<Deferred>& deferred() { return deferred_; }
  void keep_attributes(const Deferred& deferred) { part_.keep_attributes(deferred.instance, deferred.seen); }
  void take(const PlaneMetadata& plane, const StatMetadata& name, const StatValue& value);
  void take_encoded(std::string_view /*name*/, std::string_view /*text*/, ArgumentGroups /*looked_at*/) {}
  void end_event(const EventLine& line, const PlaneMetadata& plane, const NameUse& use, const EventHead& head,
                 Picoseconds start, Picoseconds duration) {
    const std::uint32_t instance = part_.end_event(line, start, duration, use.use.meaning, use.use.meaning);
    if (instance != kNoRow && signature_ != 0) note({&plane, head.bytes, instance, signature_, start});
  }
  void end_line(const EventLine& /*line*/) {}
  bool is_done() const { return false; }
  static constexpr bool uses_line(const EventLine& /*line*/) { return true; }

 private:
  /// Places in deferred_ of the last two lists of an instance. If every second event carries one attribute more, they
  /// alternate.
  using LastTwo = std::array<std::uint32_t, 2>;

  void note(const Deferred& event);

  TracePart& part_;
  std::uint64_t signature_ = 0;  ///< of the event that is taken; 0: it has no attribute
  std::vector<Deferred> deferred_;
  std::vector<LastTwo> last_;  ///< by instance
};

inline void PartTaker::note(const Deferred& event) {
  if (event.instance >= last_.size()) last_.resize(event.instance + 1, {kNoRow, kNoRow});
  LastTwo& last = last_[event.instance];
  for (const std::uint32_t place : last) {
    if (place == kNoRow || deferred_[place].signature != event.signature) continue;
    if (event.seen >= deferred_[place].seen) deferred_[place] = event;
    return;
  }
  last = {last[1], static_cast<std::uint32_t>(deferred_.size())};
  deferred_.push_back(event);
}

[[gnu::always_inline]] inline void PartTaker::take(const PlaneMetadata& plane, const StatMetadata& name,
                                                   const StatValue& value) {
  const StatMetadata* const referred = value.is_reference ? plane.stats.find(value.number) : nullptr;
  const std::string_view text = referred == nullptr ? value.text : std::string_view(referred->name);
  if (TracePart::is_attribute(name.groups)) {
    const bool is_real = value.type == ArgumentType::real;
    const std::int64_t number =
        is_real ? to_integer(std::bit_cast<double>(value.number)) : static_cast<std::int64_t>(value.number);
    const bool has_range = name.groups == TracePart::kRangedAttribute;
    part_.take_attribute({name.name, value.type == ArgumentType::text, has_range, text, number});
  } else if (name.groups == TracePart::kDatasetName) {
    if (value.type != ArgumentType::text) return;
    part_.take_dataset_name(referred == nullptr ? fnv1a_64(text) : referred->number, text);
  } else if (value.type == ArgumentType::integer || value.type == ArgumentType::unsigned_integer) {
    part_.take_number(name.groups, value.number);
  } else if (const auto token = value.type == ArgumentType::text ? parse_token(text) : std::nullopt) {
    part_.take_number(name.groups, *token);
  }
}

}  // namespace doctor
