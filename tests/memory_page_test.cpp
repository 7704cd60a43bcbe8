// `show memory`: allocators with their peaks, the buffers of tf.data, and what it says where there is nothing to show.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline.h"
#include "shown_page.h"
#include "temporary_directory.h"
#include "text/columns.h"
#include "text/json_page.h"
#include "written_allocator.h"

namespace doctor::memory_page_test {
namespace {

Analysis analysed(const std::vector<std::string>& files) {
  DiagnosisSetup setup;
  setup.needs = kMemoryPage.needs({});
  return diagnose_files(files, setup);
}

OrderedJson page_of(const Analysis& analysis) {
  return page_document(kMemoryPage, analysis);
}

/// A loop of two numbered steps on a GPU: the weights from before, activations in each step.
SyntheticTrace gpu_job() {
  SyntheticTrace trace;
  for (std::uint64_t step = 7; step < 9; ++step) {
    trace.add("python", "train", 100 * static_cast<double>(step), 90).ids["step_num"] = step;
  }
  WrittenAllocator gpu(trace, "GPU_0_bfc", 4'000'000, 1'000'000);
  gpu.allocate("python", 710, 16, 250'000, {"=conv", "[8,8]", "output", 1});
  gpu.free("python", 780, 16);
  gpu.allocate("python", 810, 32, 500'000, {"model/dense", "[16]", "temp", 1});
  gpu.allocate("python", 820, 48, 500'000, {"=conv", "[8,8]", "output", 1});
  gpu.free("python", 880, 32);
  return trace;
}

/// Root > Prefetch > BatchV2 > ShuffleV3 > Range, as TF 2.13 and later write it.
SyntheticTrace pipeline_with_buffers() {
  SyntheticTrace trace;
  for (int step = 0; step < 4; ++step) {
    const double start = 1000.0 * step;
    trace.add("python", "IteratorGetNextOp::DoCompute", start, 100);
    trace.iterator("python", "Iterator::Root", 1, 0, start + 1, 90).numbers = {{"ram_budget_megabytes", 1000},
                                                                               {"cpu_budget", 2}};
    auto& prefetch = trace.iterator("python", "Iterator::Root::Prefetch", 2, 1, start + 2, 80);
    prefetch.numbers = {{"buffer_limit", 4}, {"buffered_elements", 1 + step % 3}, {"buffered_bytes_MB", 0}};
    prefetch.texts = {{"autotune", "false"}, {"name", "PrefetchDataset:3"}, {"shapes", "[?,10]"}, {"types", "float"}};
    auto& batch = trace.iterator("producer", "Iterator::Root::Prefetch::BatchV2", 3, 2, start + 3, 70);
    batch.numbers = {{"batch_size", 25}};
    auto& shuffle = trace.iterator("producer", "Iterator::Root::Prefetch::BatchV2::ShuffleV3", 4, 3, start + 4, 60);
    shuffle.numbers = {{"buffer_size", 1000}, {"buffered_elements", 500}, {"buffered_bytes_MB", 100}};
    shuffle.texts = {{"name", "ShuffleDatasetV3:1"}, {"shapes", "<unknown>"}, {"types", "string"}};
  }
  return trace;
}

TEST_CASE("the peak of an allocator, its step and who holds it") {
  const TemporaryDirectory directory;
  const OrderedJson page = page_of(analysed({directory.write("a.xplane.pb", gpu_job().to_xspace())}));
  CHECK(page["schema"] == "tfdata-doctor.memory/1");
  CHECK(page["note"].is_null());
  REQUIRE(page["allocators"].size() == 1);
  const OrderedJson& gpu = page["allocators"][0];
  CHECK(gpu["host"] == "host-1");
  CHECK(gpu["allocator"] == "GPU_0_bfc");
  CHECK(gpu["capacity_bytes"] == 4'000'000);
  const OrderedJson& peak = gpu["peak"];
  CHECK(peak["bytes"] == 2'000'000);
  CHECK(peak["time_us"] == 120.0);  // the first event is at 700 us
  CHECK(peak["step"] == 8);
  CHECK(peak["unseen_bytes"] == 1'000'000);
  CHECK(peak["least_followed_bytes"].is_null());
  REQUIRE(peak["allocations"].size() == 2);
  CHECK(peak["allocations"][0]["op_name"] == "=conv");
  CHECK(peak["allocations"][0]["share"] == 0.25);
  REQUIRE(gpu["timeline"].size() == 5);
  CHECK(gpu["timeline"][3]["most_bytes"] == 2'000'000);
  CHECK(page["pipelines"].empty());
}

TEST_CASE("the page for a person") {
  const TemporaryDirectory directory;
  const Analysis analysis = analysed({directory.write("a.xplane.pb", gpu_job().to_xspace())});
  const std::string page = page_text(kMemoryPage, analysis, {.style = {.width = 80}, .top = 1});
  CHECK(
      page.starts_with("allocator GPU_0_bfc on host-1\n  Peak      2.00 MB of 4.00 MB\n"
                       "  When      120 us after the start, in step 8\n"));
  CHECK(page.find("1.00 MB (50%) in use from before the window") != std::string::npos);
  CHECK(page.find("=conv") != std::string::npos);
  CHECK(page.find("model/dense") == std::string::npos);
  CHECK(page.find("1 of 2 rows; --top 0 shows all") != std::string::npos);
  CHECK(page.ends_with("no tf.data iterator in this trace\n"));
}

TEST_CASE("what tf.data's buffers hold, by shapes where these are known, else by what the runtime counts") {
  const TemporaryDirectory directory;
  const OrderedJson page = page_of(analysed({directory.write("a.xplane.pb", pipeline_with_buffers().to_xspace())}));
  REQUIRE(page["pipelines"].size() == 1);
  const OrderedJson& pipeline = page["pipelines"][0];
  CHECK(pipeline["ram_budget_mb"] == 1000);
  REQUIRE(pipeline["buffers"].size() == 2);
  const OrderedJson& prefetch = pipeline["buffers"][0];
  CHECK(prefetch["stage"] == "Dataset.prefetch");
  CHECK(prefetch["given"] == "fixed");
  CHECK(prefetch["limit"] == 4);
  CHECK(prefetch["elements"] == 3);  // the most that were seen
  CHECK(prefetch["element_bytes"] == 25 * 10 * 4);
  CHECK(prefetch["bytes"] == 3000);
  CHECK(prefetch["full_bytes"] == 4000);
  const OrderedJson& shuffle = pipeline["buffers"][1];
  CHECK(shuffle["element_bytes"] == 200'000);
  CHECK(shuffle["bytes"] == 100'000'000);
  CHECK(shuffle["full_bytes"] == 100'000'000);  // it gives elements and is not full: its input has no others
  CHECK(shuffle["budget_share"] == 0.1);
}

/// 50 samples of a process that takes 1 GB and 10 MB more with each step.
std::string samples_of_a_growing_process() {
  std::string csv = "time_ns,step,rss_bytes,available_bytes,total_bytes,other_cores\n";
  for (std::uint64_t step = 1; step <= 50; ++step) {
    csv += fmt::format("{},{},{},5000000000,16000000000,0.5\n", step * 100'000'000, step,
                       1'000'000'000 + step * 10'000'000);
  }
  return csv;
}

TEST_CASE("the memory of the process, from the samples beside the trace") {
  const TemporaryDirectory directory;
  const std::string trace = directory.write("a.xplane.pb", pipeline_with_buffers().to_xspace());
  CHECK(page_of(analysed({trace}))["processes"].empty());
  directory.write("memory.csv", samples_of_a_growing_process());
  const Analysis analysis = analysed({trace});
  const OrderedJson page = page_of(analysis);
  REQUIRE(page["processes"].size() == 1);
  const OrderedJson& process = page["processes"][0];
  CHECK(process["last_rss_bytes"] == 1'500'000'000);
  CHECK(process["buffers_bytes"] == 100'003'000);
  CHECK(process["when_full_bytes"] == 1'500'001'000);
  CHECK(process["growth"]["bytes_per_step"] == 1e7);
  CHECK(process["growth"]["steps_left"] == 500.0);
  CHECK(process["growth"]["buffer"].is_null());  // shuffles are filled in the first step
  CHECK(process["over_time"].size() == 50);
  const std::string text = page_text(kMemoryPage, analysis, {.style = {.width = 200}, .top = 1});
  CHECK(text.find("1.01 GB at the begin, 1.50 GB at the end, 1.50 GB at most") != std::string::npos);
  CHECK(text.find("10.0 MB a step from step 2 to 50, and the 5.00 GB left are used up in 500 more, in step 550") !=
        std::string::npos);
  CHECK(text.find("0.5 cores busy with other programs") != std::string::npos);
  // Of several traces in the folder, which of them it is about is not known.
  const std::string other = directory.write("b.xplane.pb", pipeline_with_buffers().to_xspace());
  CHECK(page_of(analysed({trace, other}))["processes"].empty());
  directory.write("memory.csv", "nothing of the kind");
  const Analysis damaged = analysed({trace});
  CHECK(page_text(kMemoryPage, damaged, {.style = {.width = 200}, .top = 1}).find("memory.csv does not begin with") !=
        std::string::npos);
}

TEST_CASE("a buffer that fills says in how many steps it is full") {
  const TemporaryDirectory directory;
  SyntheticTrace trace = pipeline_with_buffers();
  std::int64_t elements = 500;
  for (SyntheticTrace::Event& event : trace.events) {
    if (event.numbers.contains("buffer_size")) event.numbers["buffered_elements"] = (elements += 50);
  }
  const Analysis analysis = analysed({directory.write("a.xplane.pb", trace.to_xspace())});
  const OrderedJson shuffle = page_of(analysis)["pipelines"][0]["buffers"][1];
  CHECK(shuffle["elements_per_step"] == 37.5);  // 150 over four steps
  CHECK(shuffle["steps_until_full"] == 8.0);
  directory.write("memory.csv", samples_of_a_growing_process());
  const Analysis sampled = analysed({directory / "a.xplane.pb"});
  CHECK(page_of(sampled)["pipelines"][0]["buffers"][1]["full_at_step"] == 58);  // 8 after step 50
  CHECK(page_of(sampled)["pipelines"][0]["buffers"][0]["full_at_step"].is_null());
  const std::string text = page_text(kMemoryPage, sampled, {.style = {.width = 200}, .top = 1});
  CHECK(text.find("8 steps, step 58") != std::string::npos);
}

TEST_CASE("what the trace does not say is unknown") {
  const TemporaryDirectory directory;
  SyntheticTrace trace = pipeline_with_buffers();
  for (SyntheticTrace::Event& event : trace.events) {
    event.numbers.erase("buffered_elements");
    event.numbers.erase("buffered_bytes_MB");
    event.numbers.erase("ram_budget_megabytes");
    event.texts.clear();
  }
  const Analysis analysis = analysed({directory.write("a.xplane.pb", trace.to_xspace())});
  const OrderedJson shuffle = page_of(analysis)["pipelines"][0]["buffers"][1];
  CHECK(shuffle["limit"] == 1000);
  for (const std::string key : {"elements", "element_bytes", "buffered_mb", "bytes", "full_bytes", "budget_share"}) {
    CAPTURE(key);
    CHECK(shuffle[key].is_null());
  }
  const std::string page = page_text(kMemoryPage, analysis);
  CHECK(page.find("unknown") != std::string::npos);
  CHECK(page.find("the trace does not say how much memory tf.data may use") != std::string::npos);
}

TEST_CASE("a trace without allocations says why, and what to do") {
  const TemporaryDirectory directory;
  const SyntheticTrace trace = pipeline_with_buffers();
  const Analysis xspace = analysed({directory.write("a.xplane.pb", trace.to_xspace())});
  const Analysis json = analysed({directory.write("a.trace.json", trace.to_chrome_json())});
  CHECK(page_text(kMemoryPage, xspace).find("host_tracer_level") != std::string::npos);
  CHECK(page_text(kMemoryPage, json).find(".xplane.pb") != std::string::npos);
  CHECK(page_of(json)["allocators"].empty());
  CHECK_FALSE(page_of(json)["note"].is_null());
}

TEST_CASE("CSV has a line for each holder, and no name is a formula") {
  const TemporaryDirectory directory;
  const Analysis analysis = analysed({directory.write("a.xplane.pb", gpu_job().to_xspace()),
                                      directory.write("b.xplane.pb", pipeline_with_buffers().to_xspace())});
  const std::string csv = page_csv(kMemoryPage, analysis);
  CHECK(csv.starts_with("host,memory,holder,region_type,data_type,shape,count,bytes_each,bytes,share\n"));
  CHECK(csv.find(",GPU_0_bfc,model/dense,temp,float,[16],1,500000,500000,0.25\n") != std::string::npos);
  CHECK(csv.find("(unseen)") != std::string::npos);
  CHECK(csv.find("=conv") != std::string::npos);
  CHECK(csv.find(",=conv") == std::string::npos);
  CHECK(csv.find(",3,1000,3000,") != std::string::npos);
}

TEST_CASE("a chart fills its height for the greatest value, and shows what is more than nothing") {
  CHECK(area_chart({0, 1, 50, 100}, 2) == std::vector<std::string>{"   █", " ▁██"});
  CHECK(area_chart({0, 0}, 1) == std::vector<std::string>{"  "});
  CHECK(area_chart({}, 1) == std::vector<std::string>{""});
}

}  // namespace
}  // namespace doctor::memory_page_test
