#include "trace/memory_samples.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/parse.h"
#include "trace/file_beside.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSamplesFile = "memory.csv";
constexpr std::string_view kSampleColumns = "time_ns,step,rss_bytes,available_bytes,total_bytes,other_cores";
constexpr std::size_t kSampleColumnCount = 6;

// What is more is not from a machine of today.
constexpr std::uint64_t kMostMemoryBytes = std::uint64_t{1} << 50U;
constexpr std::uint64_t kLastSampledStep = std::uint64_t{1} << 50U;
constexpr double kMostOtherCores = 1U << 20U;

using Words = std::array<std::string_view, kSampleColumnCount>;

std::optional<Words> words_of(std::string_view line) {
  Words words;
  for (std::size_t column = 0; column + 1 < kSampleColumnCount; ++column) {
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    words[column] = line.substr(0, comma);
    line.remove_prefix(comma + 1);
  }
  words.back() = line;
  return words;
}

template <typename Number>
std::optional<Number> number_in(std::string_view word, Number most) {
  const std::optional<Number> number = parse_whole<Number>(word);
  return number && *number >= Number{} && *number <= most ? number : std::nullopt;
}

std::optional<MemorySample> sample_of(std::string_view line) {
  const std::optional<Words> words = words_of(line);
  if (!words) return std::nullopt;
  const auto time = number_in<std::int64_t>((*words)[0], INT64_MAX);
  const auto step = number_in((*words)[1], kLastSampledStep);
  const auto rss = number_in((*words)[2], kMostMemoryBytes);
  const auto available = number_in((*words)[3], kMostMemoryBytes);
  const auto total = number_in((*words)[4], kMostMemoryBytes);
  const std::optional<double> cores = number_in((*words)[5], kMostOtherCores);
  if (!time || !step || !rss || !available || !total || (!cores && !(*words)[5].empty())) return std::nullopt;
  return MemorySample{*time, *step, *rss, *available, *total, cores};
}

std::string_view take_line(std::string_view& text) {
  const std::size_t length = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return line;
}

}  // namespace

Result<MemorySamples> parse_memory_samples(std::string_view csv) {
  if (take_line(csv) != kSampleColumns) return fail(fmt::format("does not begin with '{}'", kSampleColumns), {});
  MemorySamples read;
  while (!csv.empty()) {
    const std::optional<MemorySample> sample = sample_of(take_line(csv));
    const bool is_next = sample && (read.samples.empty() || (read.samples.back().time_ns <= sample->time_ns &&
                                                             read.samples.back().step <= sample->step));
    if (is_next && read.samples.size() < kMostMemorySamples) {
      read.samples.push_back(*sample);
    } else {
      ++read.unusable;
    }
  }
  return read;
}

std::string memory_samples_path(const std::string& trace) {
  return (fs::path(trace).parent_path() / kSamplesFile).string();
}

MemorySamples memory_samples_beside(const std::string& trace) {
  return contents_beside(trace, memory_samples_path(trace), kLargestMemoryFile, parse_memory_samples);
}

}  // namespace doctor
