#include <array>
#include <iterator>
#include <unordered_set>

#include "trace/wire.h"
#include "trace/xspace/hlo_fields.h"
#include "trace/xspace/xspace_names.h"

namespace doctor {
namespace {

using namespace message_fields;

/// Calls `visit` for each field of this number that holds bytes.
template <typename Visit>
void visit_messages(std::string_view bytes, std::uint32_t number, const Visit& visit) {
  WireMessage message(bytes);
  for (WireField field; message.next(field);) {
    if (field.is(number, WireType::bytes)) visit(field.bytes());
  }
}

/// Calls `visit` for each of the numbers of a packed field.
template <typename Visit>
void visit_packed(std::string_view numbers, const Visit& visit) {
  std::size_t position = 0;
  while (position < numbers.size()) {
    const std::optional<std::uint64_t> number = read_varint(numbers, position);
    if (!number) return;
    visit(*number);
  }
}

struct Instruction {
  std::string_view name;
  std::string_view opcode;
  std::string_view target;  ///< of a custom call
  std::string_view called;  ///< ids of computations, packed
  std::string_view op_name;
  std::string_view op_type;
  std::uint64_t id = 0;

  /// The framework's op, with its type if that is given.
  std::string op() const {
    std::string text(op_name);
    if (!text.empty() && !op_type.empty()) text.append(1, ':').append(op_type);
    return text;
  }
};

Instruction read_instruction(std::string_view bytes) {
  Instruction read;
  WireMessage message(bytes);
  for (WireField field; message.next(field);) {
    if (field.is(HloInstructionProto::id, WireType::varint)) read.id = field.number;
    if (field.type() != WireType::bytes) continue;
    if (field.field() == HloInstructionProto::name) read.name = field.bytes();
    if (field.field() == HloInstructionProto::opcode) read.opcode = field.bytes();
    if (field.field() == HloInstructionProto::custom_call_target) read.target = field.bytes();
    if (field.field() == HloInstructionProto::called_computation_ids) read.called = field.bytes();
    if (field.field() != HloInstructionProto::metadata) continue;
    visit_messages(field.bytes(), OpMetadata::op_name, [&](std::string_view name) { read.op_name = name; });
    visit_messages(field.bytes(), OpMetadata::op_type, [&](std::string_view type) { read.op_type = type; });
  }
  return read;
}

std::uint64_t id_of_computation(std::string_view computation) {
  std::uint64_t id = 0;
  WireMessage message(computation);
  for (WireField field; message.next(field);) {
    if (field.is(HloComputationProto::id, WireType::varint)) id = field.number;
  }
  return id;
}

/// A fusion's own computation is one kernel: its ops do not run by themselves.
void add_fused(std::string_view computation, std::unordered_set<std::uint64_t>& fused) {
  visit_messages(computation, HloComputationProto::instructions, [&](std::string_view bytes) {
    const Instruction instruction = read_instruction(bytes);
    if (instruction.opcode != "fusion") return;
    visit_packed(instruction.called, [&](std::uint64_t id) { fused.insert(id); });
  });
}

/// Places in the order of running, by the instruction's id.
using Schedule = std::unordered_map<std::uint64_t, std::size_t>;

Schedule read_schedule(std::string_view module) {
  constexpr std::uint32_t kValue = 2;  // of an entry of a map
  Schedule schedule;
  visit_messages(module, HloModuleProto::schedule, [&](std::string_view all) {
    visit_messages(all, HloScheduleProto::sequences, [&](std::string_view entry) {
      visit_messages(entry, kValue, [&](std::string_view sequence) {
        visit_messages(sequence, InstructionSequence::instruction_ids, [&](std::string_view ids) {
          visit_packed(ids, [&](std::uint64_t id) { schedule.try_emplace(id, schedule.size()); });
        });
      });
    });
  });
  return schedule;
}

/// The instructions of a computation that run, in their order.
std::vector<Instruction> in_order(std::string_view computation, const Schedule& schedule) {
  std::vector<std::pair<std::size_t, Instruction>> placed;
  visit_messages(computation, HloComputationProto::instructions, [&](std::string_view bytes) {
    const Instruction instruction = read_instruction(bytes);
    if (instruction.opcode == "parameter" || instruction.opcode == "get-tuple-element") return;
    const auto place = schedule.find(instruction.id);
    placed.emplace_back(place == schedule.end() ? SIZE_MAX : place->second, instruction);
  });
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Instruction> ordered;
  for (const auto& [place, instruction] : placed) ordered.push_back(instruction);
  return ordered;
}

constexpr std::string_view kLibrary = "cuBLAS or cuDNN";

/// "loop_add_fusion" of "loop_add_fusion.3": ops of one kind may share a kernel.
std::string_view kind_of(const Instruction& instruction) {
  if (instruction.target.starts_with("__cublas") || instruction.target.starts_with("__cudnn")) return kLibrary;
  const std::size_t digits = instruction.name.find_last_not_of("0123456789");
  const bool is_numbered = digits != std::string_view::npos && instruction.name[digits] == '.';
  return instruction.name.substr(0, is_numbered ? digits : std::string_view::npos);
}

/// The kernels that a call of cuBLAS or cuDNN has one of, and not those that prepare or end its work.
bool is_of_library(std::string_view kernel) {
  static constexpr std::array<std::string_view, 5> kParts = {"nvjet", "gemm", "gemv", "xmma", "cutlass"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return kernel.find(part) != std::string_view::npos; });
}

/// The graph's own count of its nodes: the upper half of an id is the graph, of which each device has its own.
std::uint32_t place_of(std::uint64_t node) {
  return static_cast<std::uint32_t>(node);
}

}  // namespace

void XlaPrograms::add(std::uint64_t id, std::string_view hlo) {
  Program& program = programs_[id];
  visit_messages(hlo, HloProto::hlo_module, [&](std::string_view module) {
    const Schedule schedule = read_schedule(module);
    std::unordered_set<std::uint64_t> fused;
    visit_messages(module, HloModuleProto::computations,
                   [&](std::string_view computation) { add_fused(computation, fused); });
    visit_messages(module, HloModuleProto::computations, [&](std::string_view computation) {
      if (fused.contains(id_of_computation(computation))) return;
      const std::size_t begin = program.ops.size();
      for (const Instruction& instruction : in_order(computation, schedule)) {
        std::string kernel(instruction.name);
        std::replace_if(
            kernel.begin(), kernel.end(), [](char c) { return c == '.' || c == '-'; }, '_');
        program.by_kernel.try_emplace(std::move(kernel), program.ops.size());
        program.by_name.try_emplace(std::string(instruction.name), program.ops.size());
        std::string op = instruction.op();
        std::string of_node = op.empty() ? std::string(instruction.name) + ":Unknown" : op;
        program.ops.push_back({std::move(op), std::move(of_node), std::string(kind_of(instruction))});
      }
      if (program.ops.size() > begin) program.computations[begin] = program.ops.size();
    });
  });
}

bool XlaPrograms::add_node(const LaunchedByXla& launched) {
  const auto program = programs_.find(launched.program);
  if (program == programs_.end() || !launched.node) return false;
  ByName<Graph>& graphs = program->second.graphs;
  auto graph = graphs.find(launched.hlo_op);
  if (graph == graphs.end()) graph = graphs.try_emplace(std::string(launched.hlo_op)).first;
  return graph->second.kernels.try_emplace(place_of(*launched.node), launched.kernel).second;
}

void XlaPrograms::name_nodes() {
  for (auto& [id, program] : programs_) {
    for (auto& [name, graph] : program.graphs) program.name_nodes(graph);
  }
}

/// The begin of the computation that most kernels of the graph are named after; nullopt if none is.
std::optional<std::size_t> XlaPrograms::Program::main_computation(const Graph& graph) const {
  std::map<std::size_t, std::size_t> counts;
  for (const auto& [place, kernel] : graph.kernels) {
    const auto op = by_kernel.find(kernel);
    if (op != by_kernel.end()) ++counts[std::prev(computations.upper_bound(op->second))->first];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::nullopt : std::optional(most->first);
}

std::optional<std::string_view> XlaPrograms::Program::kind_of_kernel(std::string_view kernel) const {
  const auto op = by_kernel.find(kernel);
  if (op != by_kernel.end()) return ops[op->second].kind;
  return is_of_library(kernel) ? std::optional(kLibrary) : std::nullopt;
}

void XlaPrograms::Program::name_nodes(Graph& graph) const {
  const std::optional<std::size_t> begin = main_computation(graph);
  if (!begin) return;
  std::map<std::string_view, std::vector<std::size_t>> ops_of_kind;
  for (std::size_t op = *begin; op < computations.at(*begin); ++op) ops_of_kind[ops[op].kind].push_back(op);
  std::map<std::string_view, std::vector<std::uint32_t>> nodes_of_kind;
  for (const auto& [place, kernel] : graph.kernels) {
    if (const std::optional<std::string_view> kind = kind_of_kernel(kernel)) nodes_of_kind[*kind].push_back(place);
  }
  for (const auto& [kind, nodes] : nodes_of_kind) {
    const std::vector<std::size_t>& of_kind = ops_of_kind[kind];
    for (std::size_t index = 0; index < nodes.size() && nodes.size() == of_kind.size(); ++index) {
      graph.ops[nodes[index]] = of_kind[index];
    }
  }
}

std::string_view XlaPrograms::op_of(const LaunchedByXla& launched) const {
  const auto found = programs_.find(launched.program);
  if (found == programs_.end()) return {};
  const Program& program = found->second;
  // Of nested annotations the innermost: "while.3::fusion.7".
  const std::size_t outer = launched.hlo_op.rfind("::");
  const auto op = program.by_name.find(launched.hlo_op.substr(outer == std::string_view::npos ? 0 : outer + 2));
  if (op != program.by_name.end()) return program.ops[op->second].framework_op;
  const auto graph = launched.node ? program.graphs.find(launched.hlo_op) : program.graphs.end();
  if (graph != program.graphs.end()) {
    const auto node = graph->second.ops.find(place_of(*launched.node));
    if (node != graph->second.ops.end()) return program.ops[node->second].of_node;
  }
  const auto kernel = program.by_kernel.find(launched.kernel);
  return kernel == program.by_kernel.end() ? std::string_view{} : std::string_view(program.ops[kernel->second].of_node);
}

}  // namespace doctor
