// The ops of a trace: which events are ops, and their times by nesting.

#include "profile/op_statistics.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "measure/measurements.h"
#include "report/page.h"
#include "trace/string_table.h"
#include "written_events.h"

namespace doctor::op_statistics_test {
namespace {

const OpStatistics* find(const OpTable& table, std::string_view name) {
  for (const OpStatistics& op : table.ops) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

OpTable table_of(const WrittenEvents& events) {
  OpTableBuilder builder;
  events.feed(builder);
  return builder.finish();
}

TEST_CASE("which events are ops, and of which type") {
  struct Case {
    std::string_view event;
    std::string_view name;
    std::string_view type;  ///< empty: no op
  };
  for (const Case& one : std::vector<Case>{
           {"linear/MatMul:MatMul", "linear/MatMul", "MatMul"},
           {"MatMul:_MklMatMul", "MatMul", "_MklMatMul"},
           {"Iterator::Root::Map", "Iterator::Root::Map", "Dataset"},
           {"jit(f)/jit(main)/add:add", "jit(f)/jit(main)/add", "add"},
           {"jit(f)/reduce_sum[axes=(0,)]:reduce_sum[axes=(0,)]", "jit(f)/reduce_sum[axes=(0,)]", "reduce_sum"},
           {"MEMCPYHtoD", "MEMCPYHtoD", "MemcpyHToD"},
           {"MEMCPYDtoH (gpu:0)", "MEMCPYDtoH (gpu:0)", "MemcpyDToH"},
           {"ExecutorState::Process", {}, {}},
           {"EagerExecute: MatMul", {}, {}},
           {"train 3", {}, {}},
           {"x:lower_case", {}, {}},
           {"two words:MatMul", {}, {}},
           {":MatMul", {}, {}},
           {"MatMul:", {}, {}},
           {"", {}, {}},
       }) {
    CAPTURE(one.event);
    const std::optional<OpName> op = parse_op_name(one.event);
    REQUIRE(op.has_value() == !one.type.empty());
    if (!op) continue;
    CHECK(op->name == one.name);
    CHECK(op->type == one.type);
  }
}

TEST_CASE("self time leaves out ops inside of an op, and only on its own thread") {
  WrittenEvents events;
  const EventLine& thread = events.line("/host:CPU", "python");
  const EventLine& other = events.line("/host:CPU", "worker");
  events.add(thread, "call:While", 0, 100);
  events.add(thread, "EagerKernelExecute", 5, 95);  // no op
  events.add(thread, "a:MatMul", 10, 40);
  events.add(thread, "b:Cast", 20, 25);
  events.add(thread, "a:MatMul", 40, 60);
  events.add(other, "a:MatMul", 50, 90);
  events.add(thread, "tail:Sum", 90, 120);  // overlaps the end of its neighbour: not inside
  const OpTable table = table_of(events);
  REQUIRE(find(table, "call") != nullptr);
  CHECK(find(table, "call")->total == 100);
  CHECK(find(table, "call")->self == 50);
  CHECK(find(table, "a")->occurrences == 3);
  CHECK(find(table, "a")->total == 90);
  CHECK(find(table, "a")->self == 85);
  CHECK(find(table, "b")->self == 5);
  CHECK(find(table, "tail")->self == 30);
  CHECK(table.host_time == 120 + 40);
  CHECK(table.ops.front().name == "a");  // most self time first
}

TEST_CASE("ops beyond the most that are told apart are one") {
  constexpr int kMostOps = 65'536;
  WrittenEvents events;
  const EventLine& thread = events.line("/host:CPU", "python");
  for (int op = 0; op < kMostOps + 10; ++op) events.add(thread, fmt::format("op{}:Cast", op), op, op + 1);
  events.add(thread, "op7:Cast", 100'000, 100'002);
  const OpTable table = table_of(events);
  CHECK(table.ops.size() == kMostOps + 1);
  CHECK(find(table, "op7")->occurrences == 2);
  REQUIRE(find(table, "…") != nullptr);
  CHECK(find(table, "…")->occurrences == 10);
  CHECK(find(table, "…")->total == 10);
}

TEST_CASE("an op's name ends where it is longer than any real one") {
  WrittenEvents events;
  const EventLine& thread = events.line("/host:CPU", "python");
  const std::string common(kLongestName, 'x');
  events.add(thread, common + "1:Cast", 0, 1);
  events.add(thread, common + "2:Cast", 1, 2);
  const OpTable table = table_of(events);
  REQUIRE(table.ops.size() == 1);
  CHECK(table.ops[0].name == shortened_name(common + "1"));
  CHECK(table.ops[0].occurrences == 2);
}

TEST_CASE("the order of a thread's events and the same span twice change nothing") {
  WrittenEvents events;
  const EventLine& thread = events.line("/host:CPU", "python");
  events.add(thread, "inner:Cast", 20, 30);
  events.add(thread, "outer:While", 10, 50);
  events.add(thread, "instant:Const", 10, 10);
  events.add(thread, "twin:Cast", 20, 30);
  const OpTable table = table_of(events);
  CHECK(find(table, "outer")->self == 30);
  // Of two that cover the same time one is inside the other.
  CHECK(find(table, "inner")->self + find(table, "twin")->self == 10);
  CHECK(find(table, "instant")->occurrences == 1);
}

TEST_CASE("kernels count for the op that launched them, and derived lines not at all") {
  WrittenEvents events;
  const EventLine& stream = events.line("/device:GPU:0", "Stream #14");
  const EventLine& derived = events.line("/device:GPU:0", "TensorFlow Ops");
  events.add(stream, "volta_sgemm", 0, 30, {{"tf_op", "dense/MatMul:MatMul"}});
  events.add(stream, "splitk", 40, 50, {{"tf_op", "dense/MatMul:MatMul"}});
  events.add(stream, "dense/BiasAdd:BiasAdd", 50, 55);  // as a TF1 timeline has it
  events.add(stream, "void tensorflow::functor::Fill<float>", 60, 100);
  events.add(derived, "dense/MatMul:MatMul", 0, 50, {{"tf_op", "dense/MatMul:MatMul"}});
  const OpTable table = table_of(events);
  REQUIRE(table.ops.size() == 2);
  CHECK(table.ops[1].name == "dense/BiasAdd");
  CHECK(table.ops[0].is_on_device);
  CHECK(table.ops[0].occurrences == 2);
  CHECK(table.ops[0].self == 40);
  CHECK(table.device_time == 100);
}

TEST_CASE("kernels, copies and memsets of an op of XLA count for it") {
  WrittenEvents events;
  const EventLine& stream = events.line("/device:GPU:0", "Stream #14");
  const auto of_xla = [](const std::string& hlo_op, const std::string& name) {
    std::vector<WrittenEvents::Text> arguments = {{"tf_op", "XlaModule:"}, {"hlo_op", hlo_op}};
    if (!name.empty()) arguments.push_back({"name", name});
    return arguments;
  };
  events.add(stream, "sm90_xmma_fprop", 0, 30, of_xla("cudnn-conv.4", "jit(f)/conv_general_dilated"));
  events.add(stream, "Memset 3", 30, 31, of_xla("cudnn-conv.4", "jit(f)/conv_general_dilated"));
  events.add(stream, "MemcpyD2D", 40, 45, of_xla("loop_dynamic_slice_fusion", "jit(f)/jit(take)/scatter-add"));
  events.add(stream, "memcpy128", 50, 54, of_xla("command_buffer_4", ""));
  events.add(stream, "MemcpyH2D", 60, 63);  // of no op
  const OpTable table = table_of(events);
  REQUIRE(table.ops.size() == 3);
  CHECK(table.ops[0].name == "jit(f)/conv_general_dilated");
  CHECK(table.ops[0].type == "conv_general_dilated");
  CHECK(table.ops[0].occurrences == 2);
  CHECK(table.ops[0].self == 31);
  CHECK(table.ops[0].flops == 0);
  CHECK(find(table, "jit(f)/jit(take)/scatter-add")->type == "scatter");
  CHECK(find(table, "command_buffer_4")->type == "Unknown");
}

TEST_CASE("an op's name may hold a dash") {
  const std::optional<OpName> op = parse_op_name("conv2d/Conv2D-0-TransposeNHWCToNCHW-LayoutOptimizer:Transpose");
  REQUIRE(op);
  CHECK(op->name == "conv2d/Conv2D-0-TransposeNHWCToNCHW-LayoutOptimizer");
  CHECK(op->type == "Transpose");
}

TEST_CASE("a line that ends early gives the same as one that ends with the file") {
  WrittenEvents events;
  const EventLine& thread = events.line("/host:CPU", "python");
  events.add(thread, "a:While", 0, 100);
  events.add(thread, "b:Cast", 10, 20);
  OpTableBuilder builder;
  events.feed(builder);
  builder.end_line(thread);
  builder.end_line(thread);
  const OpTable table = builder.finish();
  CHECK(table.ops[0].self == 90);
  CHECK(table.host_time == 100);
}

TEST_CASE("threads of another file are other threads") {
  WrittenEvents events;
  events.add(events.line("/host:CPU", "python"), "a:While", 0, 100);
  OpTableBuilder builder;
  events.feed(builder);
  builder.end_file();
  events.feed(builder);
  const OpTable table = builder.finish();
  CHECK(table.ops[0].self == 200);
  CHECK(table.host_time == 200);
}

Measurements measured_with(const OpTable& table) {
  Measurements measurements;
  measurements.hosts.emplace_back().profile.emplace().ops = table;
  return measurements;
}

TEST_CASE("the page: by name and by type, with and without idle time") {
  OpTable table;
  table.ops = {{"a/MatMul", "MatMul", false, 2, 60, 60},
               {"b/MatMul", "MatMul", false, 1, 20, 20},
               {"Iterator::Root", "Dataset", false, 1, 20, 20},
               {"k", "Conv2D", true, 5, 10, 10}};
  table.host_time = 200;
  table.device_time = 40;
  const Measurements measurements = measured_with(table);

  OpsChoice choice;
  DataTable page = ops_table(measurements, choice);
  REQUIRE(page.rows.size() == 4);
  CHECK(page.rows[0][1] == Cell("device"));
  CHECK(page.rows[1][3] == Cell("a/MatMul"));
  CHECK(page.rows[1][6] == Cell(std::int64_t{30}));
  CHECK(page.rows[1][9] == Cell(0.6));
  CHECK(page.rows[3][10] == Cell(1.0));

  choice.by = OpGrouping::type;
  page = ops_table(measurements, choice);
  REQUIRE(page.rows.size() == 3);
  CHECK(page.rows[1][2] == Cell("MatMul"));
  CHECK(page.rows[1][3] == Cell(std::int64_t{3}));

  choice = {};
  choice.with_idle = true;
  page = ops_table(measurements, choice);
  REQUIRE(page.rows.size() == 6);
  CHECK(page.rows[0][2] == Cell("IDLE"));
  CHECK(page.rows[0][7] == Cell(std::int64_t{30}));
  CHECK(page.rows[2][7] == Cell(std::int64_t{100}));
  CHECK(page.rows[2][9] == Cell(0.5));

  choice = {};
  choice.with_iterators = false;
  CHECK(ops_table(measurements, choice).rows.size() == 3);
}

}  // namespace

}  // namespace doctor::op_statistics_test
