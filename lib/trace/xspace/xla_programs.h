#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"

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

}  // namespace doctor
