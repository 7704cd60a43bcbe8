// The table of GPU kernels: against XProf's on a trace of the field, and how kernels and their ops are told.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "built_paths.h"
#include "converted_trace.h"
#include "gpu_trace.h"
#include "pipeline.h"
#include "profile/device_profile.h"
#include "temporary_directory.h"

namespace doctor::kernel_statistics_test {
namespace {

const std::string kField = source_dir() + "/testdata/field/";

HostMeasurement measured(const std::string& file) {
  const std::vector<std::string> files = {file};
  return diagnose_files(files, {}).measurements.hosts.at(0);
}

std::vector<KernelRow> kernels_of(const GpuTrace& trace) {
  const TemporaryDirectory directory;
  return measured(directory.write("gpu.xplane.pb", trace.to_xspace())).device_profile.kernels;
}

std::string in_words(const Dimensions& dimensions) {
  return fmt::format("{},{},{}", dimensions[0], dimensions[1], dimensions[2]);
}

/// XProf 2.24 reads no op from the annotations that TensorFlow wrote before 2.11, so it has one row for all ops.
std::vector<KernelRow> without_ops(const std::vector<KernelRow>& rows) {
  KernelStatistics statistics;
  for (KernelRow row : rows) {
    row.op_name.clear();
    row.is_op_tensor_core_eligible = false;
    statistics.add(row);
  }
  return statistics.take();
}

TEST_CASE("the kernels of a trace of the field are XProf's, row by row") {
  const std::vector<KernelRow> with_ops = measured(kField + "gpu_multi_worker.xplane.pb.gz").device_profile.kernels;
  CHECK(std::none_of(with_ops.begin(), with_ops.end(), [](const KernelRow& row) { return row.op_name.empty(); }));
  const std::vector<KernelRow> rows = without_ops(with_ops);
  std::ifstream file(kField + "gpu_multi_worker.kernel_stats.json");
  const nlohmann::json peer = nlohmann::json::parse(file);
  REQUIRE(rows.size() == peer["rows"].size());
  for (std::size_t index = 0; index < rows.size(); ++index) {
    const KernelRow& row = rows[index];
    std::map<std::string, nlohmann::json> theirs;
    for (std::size_t column = 0; column < peer["columns"].size(); ++column) {
      theirs[peer["columns"][column]] = peer["rows"][index][column];
    }
    CAPTURE(index);
    CHECK(theirs["rank"] == index + 1);
    CHECK(theirs["kernel_name"] == row.kernel_name);
    CHECK(theirs["registers_per_thread"] == row.launch.registers_per_thread);
    CHECK(theirs["shmem_bytes"] == row.launch.shared_bytes());
    CHECK(theirs["block_dim"] == in_words(row.launch.block));
    CHECK(theirs["grid_dim"] == in_words(row.launch.grid));
    CHECK(theirs["occupancy_pct"] == row.launch.occupancy_percent.value_or(0));
    CHECK(theirs["is_op_tensor_core_eligible"] == row.is_op_tensor_core_eligible);
    CHECK(theirs["is_kernel_using_tensor_core"] == row.uses_tensor_cores);
    CHECK(theirs["op_name"] == row.op_name);
    CHECK(theirs["occurrences"] == row.occurrences);
    // Theirs are cut to whole nanoseconds.
    const auto is_near = [&](const char* column, double picoseconds) {
      return std::abs(theirs[column].get<double>() - picoseconds / 1e6) < 0.001;
    };
    CHECK(is_near("total_duration_us", static_cast<double>(row.total)));
    CHECK(is_near("avg_duration_us", row.average()));
    CHECK(is_near("min_duration_us", static_cast<double>(row.min)));
    CHECK(is_near("max_duration_us", static_cast<double>(row.max)));
  }
}

TEST_CASE("the precision of a trace of the field is XProf's") {
  Picoseconds half = 0;
  Picoseconds full = 0;
  for (const DeviceActivity& device : measured(kField + "gpu_multi_worker.xplane.pb.gz").device_profile.devices) {
    half += device.half_precision;
    full += device.full_precision;
  }
  // device_compute_16bit_percent of its overview: 30.5%.
  CHECK(static_cast<double>(half) / static_cast<double>(half + full) == doctest::Approx(0.305).epsilon(0.001));
}

TEST_CASE("kernels are told apart by how they were launched and for which op, and added up over devices") {
  GpuTrace trace(SyntheticTrace{}.to_message());
  const GpuTrace::Kernel gemm = {"volta_h884gemm", "model/dense/MatMul:MatMul", "regs:8 block:1,2,3 grid:4,5,6", {}};
  GpuTrace::Kernel other_grid = gemm;
  other_grid.details = "regs:8 block:1,2,3 grid:4,5,7";
  GpuTrace::Kernel other_op = gemm;
  other_op.op = "model/dense_1/MatMul:MatMul";
  trace.kernel(0, 10, gemm).kernel(20, 30, gemm).kernel(60, 5, other_grid).kernel(70, 2, other_op);
  trace.on("/device:GPU:1").kernel(0, 20, gemm);
  trace.copy("H2D", 100, 1000, 4);
  const std::vector<KernelRow> rows = kernels_of(trace);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].kernel_name == "volta_h884gemm");
  CHECK(rows[0].op_name == "model/dense/MatMul");
  CHECK(rows[0].launch.block == Dimensions{1, 2, 3});
  CHECK(rows[0].launch.grid == Dimensions{4, 5, 6});
  CHECK(rows[0].occurrences == 3);
  CHECK(rows[0].total == 60 * kPicosecondsPerMicrosecond);
  CHECK(rows[0].min == 10 * kPicosecondsPerMicrosecond);
  CHECK(rows[0].max == 30 * kPicosecondsPerMicrosecond);
  CHECK(rows[0].average() == doctest::Approx(20e6));
  CHECK(rows[0].uses_tensor_cores);
  CHECK(rows[0].is_op_tensor_core_eligible);
  CHECK(rows[1].launch.grid == Dimensions{4, 5, 7});
  CHECK(rows[2].op_name == "model/dense_1/MatMul");
}

TEST_CASE("what is below a nanosecond was not recorded") {
  GpuTrace trace(SyntheticTrace{}.to_message());
  trace.kernel(0, 0).kernel(10, 0.0005).kernel(20, 0.001);
  const std::vector<KernelRow> rows = kernels_of(trace);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].occurrences == 1);
}

TEST_CASE("how a kernel was launched, in the forms of all versions") {
  struct Case {
    std::string details;
    std::uint32_t registers;
    std::uint64_t shared_bytes;
    Dimensions block;
    Dimensions grid;
    double occupancy;
  };
  const std::vector<Case> cases = {
      {"regs:38 shm:0 grid:160,1,1 block:1024,1,1", 38, 0, {1024, 1, 1}, {160, 1, 1}, 0},
      {"regs:32 static_shared:16 dynamic_shared:16384 grid:2,1,1 block:32,4,1 occ_pct:62.5",
       32,
       16400,
       {32, 4, 1},
       {2, 1, 1},
       62.5},
      {"regs:32\nstatic_shared:16\ndynamic_shared:1\ngrid:2,1,1\nblock:32,4,1", 32, 17, {32, 4, 1}, {2, 1, 1}, 0},
      {"regs:many grid:1,2 block:1,2,3,4 occ_pct: regs", 0, 0, {1, 1, 1}, {1, 1, 1}, 0},
      {"regs:99999999999 grid:-1,1,1", 0, 0, {1, 1, 1}, {1, 1, 1}, 0},
      {"", 0, 0, {1, 1, 1}, {1, 1, 1}, 0},
  };
  for (const Case& expected : cases) {
    CAPTURE(expected.details);
    const LaunchParameters launch = parse_kernel_details(expected.details);
    CHECK(launch.registers_per_thread == expected.registers);
    CHECK(launch.shared_bytes() == expected.shared_bytes);
    CHECK(launch.block == expected.block);
    CHECK(launch.grid == expected.grid);
    CHECK(launch.occupancy_percent.value_or(0) == expected.occupancy);
  }
}

TEST_CASE("kernels and ops of TensorCores") {
  CHECK(is_tensor_core_kernel("volta_h884gemm_64x32_ldg8_nn"));
  CHECK(is_tensor_core_kernel("turing_fp16_s1688cudnn_fp16_256x64"));
  CHECK(is_tensor_core_kernel("sm80_xmma_gemm_f16f16"));
  for (const char* const hopper : {"sm90_xmma_wgrad_indexed_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc",
                                   "nvjet_sm90_tst_128x128_64x6_1x2_h_bz_NTT", "flash_fwd_wgmma_kernel",
                                   "fprop_sm90_gmma_f16", "cutlass3x_sm90_tensorop_s64x128x16gemm_bf16"}) {
    CAPTURE(hopper);
    CHECK(is_tensor_core_kernel(hopper));
  }
  CHECK_FALSE(is_tensor_core_kernel("void cask::xmma::init_device_kernel<xmma::implicit_gemm::wgrad_indexed::Params>"));
  CHECK_FALSE(is_tensor_core_kernel("volta_sgemm_128x64_nn"));
  CHECK_FALSE(is_tensor_core_kernel(""));
  struct Op {
    std::string name;
    std::string type;
    bool is_eligible;
  };
  const std::vector<Op> ops = {{"model/conv/Conv2D", "Conv2D", true},
                               {"model/dense/MatMul", "MatMul", true},
                               {"MatMul", "", false},  // as XProf: a name of its own says nothing
                               {"gradient_tape/model/dense/MatMul/MatMul_1", "MatMul", true},
                               {"model/dense/BiasAdd", "_FusedMatMul", true},
                               {"model/attention/BatchMatMulV2", "BatchMatMulV2", true},
                               {"model/relu/Relu", "Relu", false},
                               {"model/MatMul/Relu", "Relu", false},
                               {"jit(f)/while/body/conv_general_dilated", "conv_general_dilated", true},
                               {"jit(f)/dot_general", "dot_general", true},
                               {"jit(f)/dot_general/add", "add", false}};
  for (const Op& op : ops) {
    CAPTURE(op.name);
    CHECK(is_tensor_core_eligible(op.name, op.type) == op.is_eligible);
  }
  GpuTrace trace(SyntheticTrace{}.to_message());
  trace.kernel(0, 3, {"sgemm", "model/product/Einsum:Einsum", "regs:1", "ab,bc->ac"});
  trace.kernel(10, 2, {"sgemm", "model/sum/Einsum:Einsum", "regs:1", "ab->a"});
  trace.kernel(20, 1, {"volta_h884gemm", "model/new/Op:Op", "regs:1", {}});
  const std::vector<KernelRow> rows = kernels_of(trace);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].is_op_tensor_core_eligible);
  CHECK_FALSE(rows[1].is_op_tensor_core_eligible);
  CHECK(rows[2].is_op_tensor_core_eligible);
}

struct NamedKernel {
  std::string name;    ///< of the kernel
  std::string hlo_op;  ///< as the event has it
  std::string shared;  ///< what the event has of the framework's names; empty: the node of a CUDA graph
  std::string op;      ///< what is expected, with the HLO
  std::string type;
  std::string without_hlo;  ///< what is expected of the event alone
  bool is_eligible = false;
};

const std::vector<NamedKernel> kNamedKernels = {
    {"sm90_xmma_fprop", "cudnn-conv.4", "jit(f)/conv_general_dilated", "jit(f)/conv_general_dilated",
     "conv_general_dilated", "jit(f)/conv_general_dilated", true},
    // A fusion is named by what its ops share; the program has its root.
    {"loop_add_fusion_3", "loop_add_fusion.3", "jit(f)/while/body", "jit(f)/while/body/add_any", "add_any",
     "jit(f)/while/body", false},
    {"loop_add_fusion_3", "while.1::loop_add_fusion.3", "jit(f)", "jit(f)/while/body/add_any", "add_any", "jit(f)",
     false},
    // The program has no name, what is fused shares one.
    {"loop_convert_fusion", "loop_convert_fusion", "jit(f)/div", "jit(f)/div", "div", "jit(f)/div", false},
    {"wrapped_transpose", "wrapped_transpose", "p['stem']", "p['stem']", "p", "p['stem']", false},
    // Nodes of a CUDA graph have no name; a kernel is called like the first op of its code.
    {"gemm_fusion_dot_1", "command_buffer_31", "", "jit(f)/dot_general", "dot_general", "command_buffer_31", true},
    {"loop_broadcast_fusion_2", "command_buffer_31", "", "loop_broadcast_fusion.2", "Unknown", "command_buffer_31",
     false},
    {"inner", "command_buffer_31", "", "command_buffer_31", "Unknown", "command_buffer_31", false},
    {"memcpy128", "command_buffer_31", "", "command_buffer_31", "Unknown", "command_buffer_31", false},
};

GpuTrace one_kernel(const NamedKernel& kernel, bool has_program) {
  GpuTrace trace(SyntheticTrace{}.to_message());
  if (has_program) {
    trace.program({{"cudnn-conv.4", "jit(f)/conv_general_dilated"},
                   {"loop_add_fusion.3", "jit(f)/while/body/add_any"},
                   {"loop_convert_fusion", ""},
                   {"wrapped_transpose", "p['stem']"},
                   {"gemm_fusion_dot.1", "jit(f)/dot_general"},
                   {"loop_broadcast_fusion.2", ""}});
  }
  return trace.kernel(10, 5, GpuTrace::xla_kernel(kernel.name, kernel.hlo_op, kernel.shared));
}

TEST_CASE("kernels that XLA launches have their framework's ops, from the program or from the event") {
  for (const NamedKernel& kernel : kNamedKernels) {
    CAPTURE(kernel.name);
    CAPTURE(kernel.hlo_op);
    const TemporaryDirectory directory;
    const std::string file = directory.write("gpu.xplane.pb", one_kernel(kernel, true).to_xspace());
    const std::string json =
        directory.write("gpu.trace.json", convert_test::converted({file}, ConvertFormat::chrome).text);
    DiagnosisSetup setup;
    setup.needs.profile = ProfileParts();
    for (const std::string& path : {file, json}) {
      const std::vector<std::string> files = {path};
      const HostMeasurement host = diagnose_files(files, setup).measurements.hosts.at(0);
      REQUIRE(host.device_profile.kernels.size() == 1);
      CHECK(host.device_profile.kernels[0].op_name == kernel.op);
      CHECK(host.device_profile.kernels[0].is_op_tensor_core_eligible == kernel.is_eligible);
      REQUIRE(host.profile);
      REQUIRE(host.profile->ops.ops.size() == 1);
      CHECK(host.profile->ops.ops[0].name == kernel.op);
      CHECK(host.profile->ops.ops[0].type == kernel.type);
      CHECK(host.profile->ops.ops[0].self == 5 * kPicosecondsPerMicrosecond);
    }
    const std::vector<KernelRow> rows = kernels_of(one_kernel(kernel, false));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].op_name == kernel.without_hlo);
  }
}

/// A CUDA graph of a fusion and what cuBLAS runs, whose calls come in the reverse order of the HLO.
GpuTrace graph_with(const std::vector<std::string>& library_kernels) {
  GpuTrace trace(SyntheticTrace{}.to_message());
  trace.program(
      {{"cublas-gemm.2", "jit(f)/transpose"}, {"cublas-gemm.1", "jit(f)/dot_general"}, {"fusion.1", "jit(f)/add"}});
  for (int step = 0; step < 2; ++step) {
    trace.kernel(step * 100, 1, GpuTrace::xla_kernel("fusion_1", "command_buffer_1", {}, 1));
    unsigned node = 1;
    for (const std::string& kernel : library_kernels) {
      ++node;
      trace.kernel(step * 100 + node, 1, GpuTrace::xla_kernel(kernel, "command_buffer_1", {}, node));
    }
  }
  return trace;
}

std::map<std::string, std::string> ops_by_kernel(const GpuTrace& trace) {
  std::map<std::string, std::string> ops;
  for (const KernelRow& row : kernels_of(trace)) {
    CHECK(row.occurrences == 2);
    ops[row.kernel_name] = row.op_name;
  }
  return ops;
}

TEST_CASE("kernels of libraries in a CUDA graph are the calls of its computation, in the order of running") {
  using Ops = std::map<std::string, std::string>;
  CHECK(ops_by_kernel(graph_with({"nvjet_a", "memcpy128", "splitKreduce", "sm80_gemm_b"})) ==
        Ops{{"fusion_1", "jit(f)/add"},
            {"memcpy128", "command_buffer_1"},
            {"nvjet_a", "jit(f)/dot_general"},
            {"sm80_gemm_b", "jit(f)/transpose"},
            {"splitKreduce", "command_buffer_1"}});
  // As many kernels as calls, or it is not known which is which.
  CHECK(ops_by_kernel(graph_with({"nvjet_a"})) == Ops{{"fusion_1", "jit(f)/add"}, {"nvjet_a", "command_buffer_1"}});
}

TEST_CASE("an op that the framework launched keeps its name, whatever it compiled") {
  GpuTrace::Kernel kernel = GpuTrace::xla_kernel("loop_add_fusion", "loop_add_fusion", "add");
  kernel.op = "cluster_1/XlaRun:XlaRun";
  GpuTrace trace(SyntheticTrace{}.to_message());
  CHECK(kernels_of(trace.kernel(0, 1, kernel)).at(0).op_name == "cluster_1/XlaRun");
}

}  // namespace
}  // namespace doctor::kernel_statistics_test
