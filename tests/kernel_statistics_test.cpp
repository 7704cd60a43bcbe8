// The table of GPU kernels: against XProf's on a trace of the field, and how kernels and their ops are told.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "built_paths.h"
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
                               {"model/MatMul/Relu", "Relu", false}};
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

}  // namespace
}  // namespace doctor::kernel_statistics_test
