#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/trace/xspace/hlo.pb.h"
#include "lib/trace/xspace/xspace.pb.h"
#include "synthetic_trace.h"

/// Traces of GPU hosts for tests: a host, recorded or written by hand, and device planes as TensorFlow writes them,
/// with streams, the statistics of CUPTI and the lines that XProf derives from them. Times are microseconds since the
/// origin of the host's trace.
class GpuTrace {
 public:
  /// The line ids of derived lines, from 0xdeadbeef on (tsl/profiler/utils/trace_utils.h).
  static constexpr std::int64_t kStepLine = -559038737;
  static constexpr std::int64_t kNameScopeLine = -559038735;
  static constexpr std::int64_t kOpLine = -559038734;

  struct Kernel {
    std::string name = "void Eigen::internal::EigenMetaKernel<float>";
    std::string op;  ///< "model/dense/MatMul:MatMul"; no statistic if empty
    std::string details = "regs:32 static_shared:0 dynamic_shared:1024 grid:160,1,1 block:256,1,1 occ_pct:50";
    std::string equation;
    std::string op_argument = "tf_op";             ///< before TF 2.11 "annotation", with "level 0" beside
    std::uint64_t correlation = 0;                 ///< of the host's call of the driver; 0: one that no call has
    std::map<std::string, std::string> more = {};  ///< further statistics, by name
  };

  /// A kernel that program 7 of XLA launched for an op of its HLO; `op` is what all ops that are fused share of their
  /// framework's names. Without it, the node of a CUDA graph, of that number.
  static Kernel xla_kernel(const std::string& name, const std::string& hlo_op, const std::string& op = {},
                           unsigned node = 0) {
    Kernel kernel;
    kernel.name = name;
    kernel.op = "XlaModule:";
    kernel.more = {{"hlo_op", hlo_op}, {"hlo_module", "jit_train_step"}, {"program_id", "7"}, {"name", op}};
    if (op.empty()) kernel.more["cuda_graph_node_id"] = std::to_string((49ULL << 32) + node);
    return kernel;
  }

  explicit GpuTrace(doctor::xspace::XSpace host, std::string device = "/device:GPU:0")
      : space_(std::move(host)), device_(std::move(device)) {
    for (const doctor::xspace::XPlane& plane : space_.planes()) {
      if (plane.name() != "/host:CPU") continue;
      for (const doctor::xspace::XLine& line : plane.lines()) {
        if (line.events_size() > 0 && origin_ns_ == 0) origin_ns_ = line.timestamp_ns();
      }
    }
  }

  /// Over a recorded trace of a host.
  static GpuTrace over(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    doctor::xspace::XSpace host;
    if (bytes.str().empty() || !host.ParseFromString(bytes.str())) throw std::runtime_error(path + " is no XSpace");
    return GpuTrace(std::move(host));
  }

  /// The device is named, and nothing that ran on it was recorded.
  GpuTrace& without_events() {
    streams_[device_];
    return *this;
  }

  /// What follows is of this device.
  GpuTrace& on(const std::string& device) {
    device_ = device;
    return *this;
  }

  GpuTrace& kernel(double start_us, double duration_us, const Kernel& kernel,
                   const std::string& stream = "14(Compute)") {
    Written written{kernel.name, start_us, duration_us, {}, kernel.correlation, {}};
    written.texts = {
        {"kernel_details", kernel.details}, {kernel.op_argument, kernel.op}, {"equation", kernel.equation}};
    written.texts.insert(kernel.more.begin(), kernel.more.end());
    streams_[device_][stream].push_back(written);
    if (!kernel.op.empty() && kernel.more.empty()) {
      derived_[device_][kOpLine].push_back({kernel.op, start_us, duration_us, {}, 0, {}});
      derived_[device_][kNameScopeLine].push_back(
          {kernel.op.substr(0, kernel.op.find('/')), start_us, duration_us, {}, 0, {}});
    }
    return *this;
  }
  GpuTrace& kernel(double start_us, double duration_us) { return kernel(start_us, duration_us, Kernel{}); }

  /// `direction`: "H2D", "D2H", "D2D", "P2P".
  /// `correlation`: of the host's call of the driver; 0: one that no call has.
  GpuTrace& copy(const std::string& direction, double start_us, double duration_us, std::uint64_t bytes,
                 std::uint64_t correlation = 0) {
    const std::string name = "Memcpy" + direction;
    Written written{name, start_us, duration_us, {}, correlation, {}};
    written.texts = {
        {"memcpy_details", fmt::format("kind_src:pageable kind_dst:device size:{} dest:0 async:1", bytes)}};
    streams_[device_]["15(" + name + ")"].push_back(written);
    return *this;
  }

  /// The HLO of program 7, whose ops run in the reverse order: calls of cuBLAS, and fusions, the op inside of which is
  /// no kernel of its own.
  GpuTrace& program(const std::vector<std::pair<std::string, std::string>>& ops) {
    doctor::xspace::HloProto hlo;
    doctor::xspace::HloModuleProto& module = *hlo.mutable_hlo_module();
    doctor::xspace::HloComputationProto& fused = *module.add_computations();
    fused.set_id(1);
    doctor::xspace::HloInstructionProto& inner = *fused.add_instructions();
    inner.set_name("inner");
    inner.mutable_metadata()->set_op_name("jit(train_step)/inner");
    doctor::xspace::HloComputationProto& entry = *module.add_computations();
    entry.set_id(2);
    for (const auto& [name, op] : ops) {
      doctor::xspace::HloInstructionProto& instruction = *entry.add_instructions();
      instruction.set_id(100 + entry.instructions_size());
      instruction.set_name(name);
      const bool is_call = name.starts_with("cublas");
      instruction.set_opcode(is_call ? "custom-call" : "fusion");
      if (is_call) instruction.set_custom_call_target("__cublas$lt$matmul");
      if (!is_call) instruction.add_called_computation_ids(1);
      instruction.mutable_metadata()->set_op_name(op);
    }
    doctor::xspace::InstructionSequence& order = (*module.mutable_schedule()->mutable_sequences())[2];
    for (int place = entry.instructions_size(); place > 0; --place) order.add_instruction_ids(100 + place);
    doctor::xspace::XPlane& plane = *space_.add_planes();
    plane.set_name("/host:metadata");
    (*plane.mutable_stat_metadata())[1].set_name("Hlo Proto");
    (*plane.mutable_stat_metadata())[2].set_name("program_id");
    doctor::xspace::XEventMetadata& program = (*plane.mutable_event_metadata())[1];
    program.set_name("jit_train_step(7)");
    doctor::xspace::XStat& bytes = *program.add_stats();
    bytes.set_metadata_id(1);
    bytes.set_bytes_value(hlo.SerializeAsString());
    doctor::xspace::XStat& id = *program.add_stats();
    id.set_metadata_id(2);
    id.set_uint64_value(7);
    return *this;
  }

  GpuTrace& step(std::int64_t number, double start_us, double duration_us) {
    derived_[device_][kStepLine].push_back({std::to_string(number), start_us, duration_us, {}, 0, {}});
    return *this;
  }

  /// As the profiler writes it: named by its own count, with the host's name for the step beside ("train 500").
  GpuTrace& step(std::int64_t group, const std::string& step_name, double start_us, double duration_us) {
    derived_[device_][kStepLine].push_back(
        {std::to_string(group), start_us, duration_us, {{"step_name", step_name}}, 0, group});
    return *this;
  }

  doctor::xspace::XSpace to_message() const;

  /// The same bytes for the same trace.
  std::string to_xspace() const {
    std::string bytes;
    {
      google::protobuf::io::StringOutputStream stream(&bytes);
      google::protobuf::io::CodedOutputStream coded(&stream);
      coded.SetSerializationDeterministic(true);
      to_message().SerializeToCodedStream(&coded);
    }
    return bytes;
  }

 private:
  struct Written {
    std::string name;
    double start_us = 0;
    double duration_us = 0;
    std::map<std::string, std::string> texts;
    std::uint64_t correlation = 0;
    std::optional<std::int64_t> group;
  };

  /// Names and numbers of the metadata of one plane.
  struct Metadata {
    std::map<std::string, std::int64_t> events;
    std::map<std::string, std::int64_t> stats;
  };

  void write_line(const std::vector<Written>& events, Metadata& metadata, doctor::xspace::XLine& line) const;

  doctor::xspace::XSpace space_;
  std::string device_;
  std::int64_t origin_ns_ = 0;
  std::map<std::string, std::map<std::string, std::vector<Written>>> streams_;
  std::map<std::string, std::map<std::int64_t, std::vector<Written>>> derived_;
  mutable std::uint64_t correlation_ = 0;  ///< of events that no call of the driver has
};

inline void GpuTrace::write_line(const std::vector<Written>& events, Metadata& metadata,
                                 doctor::xspace::XLine& line) const {
  const auto id_of = [](std::map<std::string, std::int64_t>& ids, const std::string& name) {
    return ids.try_emplace(name, static_cast<std::int64_t>(ids.size()) + 1).first->second;
  };
  line.set_timestamp_ns(origin_ns_);
  for (const Written& event : events) {
    doctor::xspace::XEvent& written = *line.add_events();
    written.set_metadata_id(id_of(metadata.events, event.name));
    written.set_offset_ps(std::llround(event.start_us * 1e6));
    written.set_duration_ps(std::llround(event.duration_us * 1e6));
    if (event.group) {
      doctor::xspace::XStat& group = *written.add_stats();
      group.set_metadata_id(id_of(metadata.stats, "group_id"));
      group.set_int64_value(*event.group);
    } else if (!event.texts.empty()) {
      doctor::xspace::XStat& correlation = *written.add_stats();
      correlation.set_metadata_id(id_of(metadata.stats, "correlation_id"));
      correlation.set_uint64_value(event.correlation != 0 ? event.correlation : ++correlation_);
    }
    for (const auto& [name, text] : event.texts) {
      if (text.empty()) continue;
      doctor::xspace::XStat& stat = *written.add_stats();
      stat.set_metadata_id(id_of(metadata.stats, name));
      stat.set_ref_value(static_cast<std::uint64_t>(id_of(metadata.stats, text)));
    }
  }
}

inline doctor::xspace::XSpace GpuTrace::to_message() const {
  doctor::xspace::XSpace space = space_;
  correlation_ = 0;
  for (const auto& [device, streams] : streams_) {
    doctor::xspace::XPlane& plane = *space.add_planes();
    plane.set_name(device);
    Metadata metadata;
    for (const auto& [stream, events] : streams) {
      doctor::xspace::XLine& line = *plane.add_lines();
      line.set_id(std::stoll(stream));
      line.set_name("Stream #" + stream);
      write_line(events, metadata, line);
    }
    const auto derived = derived_.find(device);
    if (derived != derived_.end()) {
      for (const auto& [id, events] : derived->second) {
        doctor::xspace::XLine& line = *plane.add_lines();
        line.set_id(id);
        line.set_name(id == kStepLine ? "Steps" : id == kOpLine ? "TensorFlow Ops" : "TensorFlow Name Scope");
        write_line(events, metadata, line);
      }
    }
    for (const auto& [name, id] : metadata.events) {
      (*plane.mutable_event_metadata())[id].set_id(id);
      (*plane.mutable_event_metadata())[id].set_name(name);
    }
    for (const auto& [name, id] : metadata.stats) {
      (*plane.mutable_stat_metadata())[id].set_id(id);
      (*plane.mutable_stat_metadata())[id].set_name(name);
    }
  }
  return space;
}
