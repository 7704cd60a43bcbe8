// Memory of the recorded process: the file beside a trace, and whether the memory grows.

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "measure/memory_growth.h"
#include "temporary_directory.h"
#include "trace/recording_facts.h"

namespace doctor::memory_samples_test {
namespace {

const std::string kHeader = "time_ns,step,rss_bytes,available_bytes,total_bytes,other_cores\n";

TEST_CASE("what the file beside a trace says") {
  const Result<MemorySamples> read = parse_memory_samples(kHeader + "5,0,700,900,1000,\n6,1,800,800,1000,1.25\n");
  REQUIRE(read);
  REQUIRE(read->samples.size() == 2);
  CHECK(read->samples[0] == MemorySample{5, 0, 700, 900, 1000, std::nullopt});
  CHECK(read->samples[1] == MemorySample{6, 1, 800, 800, 1000, 1.25});
  CHECK(read->unusable == 0);
}

TEST_CASE("lines that are no sample are counted, and end nothing") {
  for (const std::string line :
       {"", "1,2,3", "x,1,2,3,4,", "5,1,2,3,4,-1", "5,1,2,3,4,1e99", "5,1,-2,3,4,", "5,1,2,3,4,nan", "5,1,2,3,4,1,1",
        "5,1,99999999999999999999,3,4,", "5,1,9999999999999999,3,4,", " 5,1,2,3,4,", "5,1,2,3,4,0x1"}) {
    CAPTURE(line);
    const Result<MemorySamples> read = parse_memory_samples(kHeader + line + "\n7,1,2,3,4,0\n");
    REQUIRE(read);
    CHECK(read->samples.size() == 1);
    CHECK(read->unusable == 1);
  }
  const Result<MemorySamples> back = parse_memory_samples(kHeader + "7,2,2,3,4,0\n6,2,2,3,4,0\n8,1,2,3,4,0\n");
  REQUIRE(back);
  CHECK(back->samples.size() == 1);
  CHECK(back->unusable == 2);
  CHECK_FALSE(parse_memory_samples(""));
  CHECK_FALSE(parse_memory_samples("time_ns\n1\n"));
}

TEST_CASE("it is read where it lies beside the trace, and says what is wrong with it") {
  const TemporaryDirectory directory;
  const std::string trace = directory / "vm.xplane.pb";
  CHECK(memory_samples_beside(trace).path.empty());
  std::ofstream(directory / "memory.csv") << kHeader << "5,0,700,900,1000,\n";
  CHECK(memory_samples_beside(trace).samples.size() == 1);
  CHECK(memory_samples_beside("-").samples.empty());
  std::ofstream(directory / "memory.csv") << "something else\n";
  CHECK(memory_samples_beside(trace).fault.starts_with("does not begin with"));
  std::ofstream(directory / "memory.csv") << kHeader << std::string(kLargestMemoryFile, '\n');
  CHECK(memory_samples_beside(trace).fault == "is larger than 2 MB");
}

/// A sample for each step from 1 on, with these bytes.
std::vector<MemorySample> of_steps(const std::vector<std::uint64_t>& bytes) {
  std::vector<MemorySample> samples = {{0, 0, 1, 5000, 10'000}};
  for (const std::uint64_t rss : bytes) {
    const auto step = samples.size();
    samples.push_back({static_cast<std::int64_t>(step), step, rss, 5000, 10'000});
  }
  return samples;
}

TEST_CASE("growth is that of the steps after the first") {
  std::vector<std::uint64_t> bytes = {100};
  for (std::uint64_t step = 2; step <= 41; ++step) bytes.push_back(500 + 10 * step);
  const std::optional<MemoryGrowth> growth = memory_growth(of_steps(bytes), {});
  REQUIRE(growth);
  CHECK(growth->first_step == 2);
  CHECK(growth->last_step == 41);
  CHECK(growth->bytes_per_step == doctest::Approx(10));
  CHECK(growth->bytes() == doctest::Approx(390));
  CHECK(growth->is_steady);
}

TEST_CASE("memory that is taken once, or given back, does not grow steadily") {
  std::vector<std::uint64_t> once(41, 500);
  for (std::size_t step = 15; step < once.size(); ++step) once[step] = 900;
  REQUIRE(memory_growth(of_steps(once), {}));
  CHECK_FALSE(memory_growth(of_steps(once), {})->is_steady);
  std::vector<std::uint64_t> saw(41, 500);
  for (std::size_t step = 0; step < saw.size(); ++step) saw[step] += 100 * (step % 4);
  REQUIRE(memory_growth(of_steps(saw), {}));
  CHECK_FALSE(memory_growth(of_steps(saw), {})->is_steady);
}

TEST_CASE("what the process takes while the profiler keeps its events is no growth") {
  std::vector<std::uint64_t> bytes(80, 500);
  for (std::size_t step = 40; step < 60; ++step) bytes[step] = bytes[step - 1] + 100;
  for (std::size_t step = 60; step < 80; ++step) bytes[step] = bytes[59];
  std::vector<StepMarker> recorded(2);
  recorded[0].number = 41;
  recorded[1].number = 60;
  const std::optional<MemoryGrowth> growth = memory_growth(of_steps(bytes), recorded);
  REQUIRE(growth);
  CHECK(growth->last_step == 40);
  CHECK_FALSE(growth->is_steady);
  // The steps before are too few, and those after them count where they are more.
  recorded[0].number = 11;
  recorded[1].number = 78;
  CHECK_FALSE(memory_growth(of_steps(bytes), recorded));
  recorded[1].number = 30;
  REQUIRE(memory_growth(of_steps(bytes), recorded));
  CHECK(memory_growth(of_steps(bytes), recorded)->first_step == 31);
}

TEST_CASE("few samples, or samples of few steps, say nothing") {
  CHECK_FALSE(memory_growth({}, {}));
  CHECK_FALSE(memory_growth(of_steps(std::vector<std::uint64_t>(8, 5)), {}));
  std::vector<MemorySample> of_one_step(50, MemorySample{0, 3, 5, 5, 5});
  CHECK_FALSE(memory_growth(of_one_step, {}));
}

}  // namespace
}  // namespace doctor::memory_samples_test
