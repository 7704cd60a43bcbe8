// "Differences from XProf" in docs/accuracy.md: each row of its tables names a behaviour that a test fixes.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "built_paths.h"
#include "measure/steps/step_table.h"
#include "pipeline.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"

namespace doctor::differences_test {
namespace {

const std::filesystem::path kRoot = source_dir();

std::string whole_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The first cells of the section's tables, without their heads.
std::vector<std::string> rows_of_document() {
  const std::string page = whole_file(kRoot / "docs" / "accuracy.md");
  const std::size_t begin = page.find("\n## Differences from XProf\n");
  REQUIRE(begin != std::string::npos);
  std::istringstream document(page.substr(begin, page.find("\n## ", begin + 1) - begin));
  std::vector<std::string> rows;
  for (std::string line; std::getline(document, line);) {
    if (!line.starts_with("| ") || line.starts_with("| |")) continue;
    rows.push_back(line.substr(2, line.find(" |") - 2));
  }
  return rows;
}

/// Titles of the tests that fail where a row of the document is no longer so, by the beginning of the row.
const std::map<std::string, std::string> kTests = {
    {"trace without known markers", "without markers the cadence of GetNext tells the steps"},
    {"`next()` outside of the step marker", "markers that leave the calls out are told"},
    {"training loop inside a `tf.function`", "without markers the cadence of GetNext tells the steps"},
    {"Keras steps that the profiler cut", "steps without a number count where no numbered one is"},
    {"GPU traces of TF 2.2 to 2.10", "the average step is that of the host's markers, whatever numbers these have"},
    {"JAX, whose loop runs ahead of the device",
     "the average step is that of the host's markers, whatever numbers these have"},
    {"cut first and last step of a GPU trace", "averages leave out the first and the last of more than five steps"},
    {"first and last of more than five steps", "averages leave out the first and the last of more than five steps"},
    {"share of input", "overview, input page and steps give one share"},
    {"Input", "an op that hands its call to another thread does not wait for input"},
    {"Host compute", "ops of tf.data's functions are no work of the step"},
    {"All others", "each moment of a step belongs to one part, and the parts sum to its length"},
    {"Compilation", "ops of tf.data's functions are no work of the step"},
    {"Kernel launch", "a host with a device launches in runs of the executor, but for ops on the CPU"},
    {"copies between host and device (GPU)", "what a busy device hides costs nothing, and copies to it are input"},
    {"waits of a step (GPU hosts)", "on a GPU host without markers the devices tell the step"},
    {"occurrences of ops that use the compute pool", "ops ran as often and as long as in XProf's table"},
    {"idle time of the host", "the page: by name and by type, with and without idle time"},
    {"ops shown", "the page says how many rows are missing, and when there are none"},
    {"names of ops on a TPU", "the table of ops has what the HLO says, and nothing twice"},
    {"TPU trace without markers and `Steps`", "without markers and calls a program's runs are the steps"},
    {"allocators of a TPU", "the allocators of a TPU are told apart by the device"},
    {"ops of a TPU as kernels", "ops of XLA are no kernels, and the page says where they are"},
    {"waits for copies on a TPU", "what each op of a TPU does to a step"},
    {"kernels in CUDA graphs", "kernels of libraries in a CUDA graph are the calls of its computation"},
    {"fusions whose HLO has no name", "kernels that XLA launches have their framework's ops"},
    {"occurrences of an op of XLA", "kernels, copies and memsets of an op of XLA count"},
    {"floating-point operations and bytes of ops on a GPU", "kernels, copies and memsets of an op of XLA count"},
    {"preparing the host's arrays for a copy", "what JAX prepares for its copies to a GPU is input of the step"},
    {"ops that could use TensorCores", "kernels and ops of TensorCores"},
    {"ops of kernels before TF 2.11", "kernels have their ops, by any argument"},
    {"ops with a dash in their name", "an op's name may hold a dash"},
    {"kernels that use TensorCores", "precision and TensorCores are told by names"},
    {"16-bit precision", "precision and TensorCores are told by names"},
    {"kernels shown", "the page says how many rows are missing, and when there are none"},
    {"moment of a peak that is reached several times", "of several moments with as much in use the latest counts"},
    {"what is held at such a peak", "of several moments with as much in use the latest counts"},
    {"allocations of earlier steps", "the peak, when it was and who held it"},
    {"\"unused preallocated device memory\"", "the peak, when it was and who held it"},
    {"step of the peak", "the peak of an allocator, its step and who holds it"},
    {"timeline", "a timeline keeps its peak and its ends, in any order of the changes"},
    {"self time of asynchronous iterators", "self time does not count waiting"},
    {"functions of asynchronous iterators", "the input page has the work of functions, and its shares are parts"},
    {"shares of the rows", "no share of the input page is above 1, and those of the work sum to 1"},
    {"files read below", "the category of an iterator follows from its kind and from those above it"},
    {"`FixedLengthRecordV2`, `TFRecordV2`", "the category of an iterator follows from its kind"},
    {"sources in memory, `Prefetch`, frames", "the category of an iterator follows from its kind"},
    {"category times where data are enqueued", "each moment of a step belongs to one part"},
    {"iterators in several epochs or files", "epochs and files are one iterator, inputs of a Zip are not"},
};

TEST_CASE("each difference from XProf has a test") {
  std::string tests;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "tests")) {
    if (entry.path().extension() == ".cpp") tests += whole_file(entry.path());
  }
  const std::vector<std::string> rows = rows_of_document();
  CHECK(rows.size() >= kTests.size());
  for (const std::string& row : rows) {
    CAPTURE(row);
    // The longest beginning: "Input" is the beginning of other rows, too.
    std::string title;
    std::size_t longest = 0;
    for (const auto& [beginning, test] : kTests) {
      if (!row.starts_with(beginning) || beginning.size() < longest) continue;
      longest = beginning.size();
      title = test;
    }
    CHECK_MESSAGE(!title.empty(), "no test is named for this row");
    // A title that does not fit its line stands on the next one.
    const bool is_there = tests.find("TEST_CASE(\"" + title) != std::string::npos ||
                          tests.find("TEST_CASE(\n    \"" + title) != std::string::npos;
    CHECK_MESSAGE(is_there, "no test is called '", title, "'");
  }
}

/// Microseconds of an average step.
double input_of_a_step(const SyntheticTrace& trace) {
  const TemporaryDirectory directory;
  const std::vector<std::string> files = {directory.write("eager.xplane.pb", trace.to_xspace())};
  DiagnosisSetup setup;
  setup.needs.profile = ProfileParts();
  const Analysis analysis = diagnose_files(files, setup);
  const StepSummary summary = summarize_steps({&analysis.measurements.hosts.at(0).steps, 1});
  return summary.parts[static_cast<std::size_t>(StepPart::input)] / 1e6;
}

TEST_CASE("an op that hands its call to another thread does not wait for input") {
  SyntheticTrace trace;
  for (int step = 0; step < 10; ++step) {
    const double start = 100 + 10'000.0 * step;
    trace.add("python", "train", start, 9'000).ids["step_num"] = static_cast<std::uint64_t>(step);
    trace.add("python", "IteratorGetNext:IteratorGetNext", start + 10, 5'000);  // suspended for most of it
    trace.add("get_next", "IteratorGetNextOp::DoCompute", start + 20, 50);
    trace.iterator("get_next", "Iterator::Root", 1, 0, start + 21, 48);
  }
  CHECK(input_of_a_step(trace) == doctest::Approx(50));
}

}  // namespace
}  // namespace doctor::differences_test
