#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "diagnose/catalog.h"
#include "io/byte_source.h"
#include "measure/measure.h"
#include "report/report.h"
#include "shown_page.h"
#include "trace/format.h"
#include "tree/iterator_forest.h"

// Recorded Chrome traces as documents: a test rewrites them and diagnoses them again, in memory.

namespace doctor {

using Json = nlohmann::ordered_json;

/// A recorded trace and the name of its file, without the folder.
struct RecordedJson {
  std::string name;
  Json document;
};

inline std::string read_whole(ByteSource& source) {
  std::string bytes;
  std::string buffer(std::size_t{1} << 20, '\0');
  while (true) {
    const Result<std::size_t> count = source.read(buffer.data(), buffer.size());
    REQUIRE(count);
    if (*count == 0) return bytes;
    bytes.append(buffer, 0, *count);
  }
}

/// All *.trace.json.gz below a folder of testdata, by name.
inline std::vector<RecordedJson> recorded_json(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(source_dir()) / "testdata" / folder)) {
    if (entry.path().string().ends_with(".trace.json.gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  std::vector<RecordedJson> traces;
  for (const std::filesystem::path& file : files) {
    const auto source = open_source(file.string());
    REQUIRE(source);
    traces.push_back({file.lexically_relative(std::filesystem::path(source_dir()) / "testdata" / folder).string(),
                      Json::parse(read_whole(**source))});
  }
  return traces;
}

/// What is printed for a document: `report` without the file, which has no size to compare, and `tree`.
struct Pages {
  Json report;
  Json tree;
};

inline Pages diagnose_document(const Json& document, const ThresholdSettings& thresholds = {}) {
  const std::string bytes = document.dump();
  const auto source = memory_source(bytes, "trace");
  const Result<Trace> trace = read_trace(*source);
  REQUIRE(trace);
  Measurements measurements;
  measurements.hosts.push_back(measure(*trace, build_tree(*trace)));
  const Diagnosis diagnosis = diagnose(measurements, all_rules(), thresholds);
  Pages pages = {Json::parse(render_json(measurements, diagnosis)), page_document(kTreePage, measurements, diagnosis)};
  for (Json* page : {&pages.report, &pages.tree}) {
    if (page->contains("trace")) (*page)["trace"].erase("files");
  }
  return pages;
}

inline bool has_time(const Json& event) {
  return event.contains("ts") && event.value("ph", "") != "M";
}

/// Times of an event in picoseconds. Documents hold microseconds whose last digits are those of a double.
inline std::int64_t picoseconds_of(const Json& event, const char* key) {
  return event.contains(key) ? std::llround(event[key].get<double>() * 1e6) : 0;
}

inline std::int64_t end_of(const Json& event) {
  return picoseconds_of(event, "ts") + picoseconds_of(event, "dur");
}

}  // namespace doctor
