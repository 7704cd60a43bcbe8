#pragma once

#include <functional>
#include <unordered_map>

#include "base/hash.h"
#include "io/byte_source.h"
#include "trace/event_reader.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_wire.h"

namespace doctor {

/// What an event of a stream says of the op of XLA that it belongs to.
struct LaunchedByXla {
  std::uint64_t program = 0;
  std::string_view hlo_op;            ///< "loop_add_fusion.3"; of the nodes of a CUDA graph the graph's name
  std::uint32_t hlo_op_number = 0;    ///< EventArgument::text_number
  std::string_view kernel;            ///< the event's name
  std::optional<std::uint64_t> node;  ///< of a CUDA graph
};

/// The framework's names of the ops of XLA's programs, from the HLO that the profiler stores beside the events of a
/// GPU.
class XlaPrograms {
 public:
  /// Adds a program by an HloProto; what is damaged of it is left out.
  void add(std::uint64_t program, std::string_view hlo);

  bool empty() const { return programs_.empty(); }

  /// Tests whether LaunchedByXla is made of this argument.
  static bool names_op(std::string_view argument) {
    return argument == "hlo_op" || argument == "program_id" || argument == "cuda_graph_node_id";
  }

  /// Notes a node of a CUDA graph. True if it is new.
  bool add_node(const LaunchedByXla& launched);

  /// Names the nodes, once all are noted. A graph runs a part of a computation in its order, with kernels that are
  /// called like the first op of their code, and those of cuBLAS and cuDNN, which have names of their own. So its
  /// kernels of one kind are the computation's ops of that kind where there are as many.
  void name_nodes();

  /// The op that an event of a stream belongs to, as "jit(f)/while/body/dot_general" or, where the framework gives the
  /// type too, "model/dense/MatMul:MatMul"; empty if it is not known. A node of a graph that has no name has that of
  /// its kernel's code.
  std::string_view op_of(const LaunchedByXla& launched) const;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return static_cast<std::size_t>(fnv1a_64(text)); }
  };
  template <typename Value>
  using ByName = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

  /// An instruction that runs by itself.
  struct Op {
    std::string framework_op;  ///< empty where there is none
    std::string of_node;       ///< the same, or the op of the HLO
    std::string kind;          ///< "loop_add_fusion"; of calls of libraries kLibrary
  };
  struct Graph {
    std::map<std::uint32_t, std::string> kernels;  ///< by the place of their nodes
    std::map<std::uint32_t, std::size_t> ops;      ///< indices of the ops
  };
  struct Program {
    std::vector<Op> ops;                              ///< by computation, in the order of its schedule
    std::map<std::size_t, std::size_t> computations;  ///< end of each in `ops` by its begin
    ByName<std::size_t> by_name;                      ///< indices by the HLO's names
    ByName<std::size_t> by_kernel;                    ///< by what a kernel of its code is called
    ByName<Graph> graphs;

    void name_nodes(Graph& graph) const;
    std::optional<std::size_t> main_computation(const Graph& graph) const;
    std::optional<std::string_view> kind_of_kernel(std::string_view kernel) const;
  };

  std::unordered_map<std::uint64_t, Program> programs_;
};

/// A table by metadata id. Ids are small and dense in practice, but a file may hold any int64.
template <typename Value>
class MetadataTable {
 public:
  Value& operator[](std::uint64_t id) {
    if (id >= kDense) return sparse_[id];
    if (id >= dense_.size()) dense_.resize(id + 1);
    dense_size_ = dense_.size();
    return dense_[id];
  }
  const Value* find(std::uint64_t id) const {
    if (id < dense_size_) return dense_.data() + id;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  /// Calls `visit(id, Value&)` for all values, including the empty ones between small ids.
  template <typename Visit>
  void visit_all(Visit visit) {
    for (std::size_t id = 0; id < dense_.size(); ++id) visit(id, dense_[id]);
    for (auto& [id, value] : sparse_) visit(id, value);
  }

 private:
  static constexpr std::uint64_t kDense = 1 << 16;
  std::vector<Value> dense_;
  std::size_t dense_size_ = 0;  ///< kept, because it takes a division and is asked for with every event
  std::unordered_map<std::uint64_t, Value> sparse_;
};

/// An entry of `event_metadata`.
struct EventMetadata {
  std::size_t number = 0;  ///< over all planes, from 1
  std::string name;
  std::size_t plain_size = 0;  ///< size of the name; for a host, without_encoded_arguments()
  std::string display_name;
  std::vector<std::string> stats;  ///< statistics that every event of this name carries, in wire format

  std::string_view plain_name() const { return std::string_view(name).substr(0, plain_size); }
};

/// The use of the events of one name.
struct NameUse {
  EventUse use;
  bool is_skipped = false;            ///< no event of this name can be used
  bool has_wanted_statistics = true;  ///< false: none of its events has a statistic that is used
  bool is_named = false;
};

/// An entry of `stat_metadata`.
struct StatMetadata {
  std::string name;
  ArgumentGroups groups = 0;
  std::uint32_t number = 0;  ///< over all planes, from 1
};

/// The group of the arguments of a GPU's events by which this reader names the op of XLA that launched them.
inline constexpr ArgumentGroups kNamesXlaOp = 1 << 15;

struct PlaneMetadata {
  EventPlane plane;
  MetadataTable<EventMetadata> events;  ///< empty if names are not handed on
  MetadataTable<NameUse> uses;          ///< by the same ids
  NameUse unnamed;                      ///< of events whose id no name has
  MetadataTable<StatMetadata> stats;
  std::vector<ArgumentGroups> usual_groups;  ///< of the statistics whose ids have one byte, or two
  std::uint64_t name_count = 0;
  std::uint64_t name_bytes = 0;  ///< two planes of one name never have as many names with as many bytes
  /// True if the plane has a name that no profiler gives it: bytes that are not text, a second name, or the name of
  /// something other than a host beside names of iterators, which only hosts have. A damaged length makes such planes
  /// of a sound file, and their content would then be taken for another kind of plane, or for none.
  bool is_misnamed = false;
  const XlaPrograms* programs = nullptr;  ///< that run on it; null where the file has none, or the plane is not a GPU
};

/// The first walk over an XSpace: it collects the names, and asks the sink what it uses.
class MetadataReader final : public PlaneVisitor {
 public:
  MetadataReader(EventSink& sink, WantedPlanes wanted) : sink_(sink), wanted_(wanted) {}

  std::deque<PlaneMetadata> planes;  ///< in file order; lines point to them
  EventHeader header;

  XlaPrograms& programs() { return programs_; }

  void host_name(std::string_view name) override { header.hosts.emplace_back(name); }
  void begin_plane() override { planes.emplace_back().plane.index = planes.size() - 1; }
  void plane_name(std::string_view name) override;
  void event_metadata(const MetadataEntry& entry) override;
  void stat_metadata(const MetadataEntry& entry) override;
  void plane_stat(std::string_view stat) override;

  /// Completes the header after the walk.
  void finish_header(const XSpaceClock& clock);
  void ask_sink();
  /// Adds what makes the file as a whole doubtful.
  void add_doubts(const ByteSource& source, Loss& loss) const;

 private:
  /// A number in the plane about the recording. The name of its statistic may come later.
  struct RecordingStat {
    std::size_t plane = 0;
    std::uint64_t name = 0;  ///< metadata id of its name
    std::int64_t value = 0;
  };

  std::int64_t recording_time(std::string_view name) const;
  void read_programs();
  void ask_sink(PlaneMetadata& plane);
  ArgumentGroups groups_of(const PlaneMetadata& plane, std::string_view argument) const;
  std::vector<std::string> repeated_planes() const;

  EventSink& sink_;
  WantedPlanes wanted_;
  std::size_t name_count_ = 0;
  std::uint32_t stat_count_ = 0;
  XlaPrograms programs_;
  std::vector<RecordingStat> recording_stats_;
};

}  // namespace doctor
