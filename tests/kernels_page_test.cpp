// `show kernels`: columns, order, and what it says where there is nothing to show.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpu_trace.h"
#include "pipeline.h"
#include "shown_page.h"
#include "temporary_directory.h"

namespace doctor::kernels_page_test {
namespace {

Measurements measured(const std::vector<std::string>& files) {
  return diagnose_files(files, {}).measurements;
}

GpuTrace two_kernels() {
  GpuTrace trace(SyntheticTrace{}.to_message());
  trace.kernel(0, 2, {"=volta_h884gemm", "model/MatMul:MatMul", "regs:8 shm:64 grid:4,5,6 block:1,2,3 occ_pct:50", {}});
  trace.kernel(10, 4,
               {"=volta_h884gemm", "model/MatMul:MatMul", "regs:8 shm:64 grid:4,5,6 block:1,2,3 occ_pct:50", {}});
  trace.kernel(20, 5, {"relu", "", "regs:16", {}});
  return trace;
}

TEST_CASE("the kernels of all hosts, most time first") {
  const TemporaryDirectory directory;
  const std::string trace = two_kernels().to_xspace();
  const Measurements run = measured({directory.write("a.xplane.pb", trace), directory.write("b.xplane.pb", trace)});
  const OrderedJson rows = table_json(page_rows(kKernelsPage, run));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == OrderedJson({{"rank", 1},
                                {"kernel_name", "=volta_h884gemm"},
                                {"registers_per_thread", 8},
                                {"shared_memory_bytes", 64},
                                {"block", "1,2,3"},
                                {"grid", "4,5,6"},
                                {"occupancy_percent", 50.0},
                                {"op_tensor_core_eligible", true},
                                {"kernel_uses_tensor_core", true},
                                {"op_name", "model/MatMul"},
                                {"occurrences", 4},
                                {"total_us", 12.0},
                                {"average_us", 3.0},
                                {"min_us", 2.0},
                                {"max_us", 4.0}}));
  CHECK(rows[1]["kernel_name"] == "relu");
  CHECK(rows[1]["occupancy_percent"].is_null());
  CHECK(page_text(kKernelsPage, run, {}).starts_with("#"));
}

TEST_CASE("a name that a spreadsheet would run is no formula") {
  const TemporaryDirectory directory;
  const Measurements run = measured({directory.write("a.xplane.pb", two_kernels().to_xspace())});
  CHECK(table_csv(page_rows(kKernelsPage, run)).find(",=volta") == std::string::npos);
}

TEST_CASE("an empty table says why") {
  const TemporaryDirectory directory;
  SyntheticTrace host;
  host.iterator("main", "Iterator::Root", 1, 0, 0, 10);
  GpuTrace copies(host.to_message());
  copies.copy("H2D", 0, 10, 4);
  const Measurements without_device = measured({directory.write("host.xplane.pb", host.to_xspace())});
  const Measurements without_kernel = measured({directory.write("gpu.xplane.pb", copies.to_xspace())});
  CHECK(page_rows(kKernelsPage, without_device).rows.empty());
  CHECK(page_text(kKernelsPage, without_device, {}).starts_with("The trace shows no device.\n"));
  CHECK(page_text(kKernelsPage, without_kernel, {})
            .starts_with(
                "The trace names devices, but shows no kernel on them (tfdata-doctor explain devices-not-recorded)."));
}

}  // namespace
}  // namespace doctor::kernels_page_test
