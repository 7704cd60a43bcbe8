// Files as `convert` writes them.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "collected_events.h"
#include "convert/convert.h"
#include "pipeline.h"
#include "synthetic_trace.h"
#include "temporary_directory.h"
#include "tree/iterator_forest.h"

namespace doctor::convert_test {

using Json = nlohmann::ordered_json;

struct Converted {
  std::string text;
  Conversion conversion;
};

inline Converted converted(const std::vector<std::string>& files, ConvertFormat format, const WorkOptions& work = {}) {
  MemorySink sink;
  OutputBuffer output(sink);
  const auto writer = make_event_writer(format, output);
  Converted result;
  result.conversion = convert(files, *writer, work);
  writer->end_document();
  REQUIRE(output.finish().has_value());
  CHECK(sink.is_finished);
  result.text = sink.bytes;
  return result;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace doctor::convert_test
