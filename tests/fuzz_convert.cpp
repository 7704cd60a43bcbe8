// A trace that TensorFlow might write as an XSpace, converted to a Chrome trace: it is diagnosed the same
// (docs/convert.md). Any other trace is converted without a crash, by whichever writer.

#include <cstddef>
#include <cstdint>
#include <string>

#include "collected_events.h"
#include "convert/convert.h"
#include "convert/event_writer.h"
#include "fuzz_analysis.h"
#include "fuzz_traces.h"
#include "report/report.h"

namespace {

using namespace doctor;

std::string converted(const std::string& path, ConvertFormat format) {
  MemorySink sink;
  OutputBuffer output(sink);
  const std::unique_ptr<EventWriter> writer = make_event_writer(format, output);
  const Conversion conversion = convert(std::vector<std::string>{path}, *writer, {});
  if (conversion.files.empty()) return {};
  writer->end_document();
  expect(output.finish().has_value(), "memory could not be written");
  return sink.bytes;
}

/// The report without what is of the file: its name and its format.
std::string report_of(const std::string& path) {
  Analysis analysis = fuzz_analysis(path);
  for (HostMeasurement& host : analysis.measurements.hosts) {
    for (TraceFile& file : host.files) file = {};
  }
  return render_json(analysis.measurements, analysis.diagnosis);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzBytes bytes(data, size);
  const unsigned way = bytes.below(4);
  if (way == 0) {
    const FuzzFile file(FuzzedTrace(bytes, FuzzedWorld::sound).to_xspace());
    const std::string chrome = converted(file.path(), ConvertFormat::chrome);
    if (chrome.empty()) return 0;
    expect_json(chrome);
    const std::string before = report_of(file.path());
    const std::string after = report_of(FuzzFile(chrome).path());
    if (before != after) std::fprintf(stderr, "%s\n---\n%s\n", before.c_str(), after.c_str());
    expect(before == after, "the converted trace is diagnosed otherwise");
    return 0;
  }
  const FuzzFile file(fuzzed_trace(bytes));
  const std::string text = converted(file.path(), static_cast<ConvertFormat>(way - 1));
  if (way == 1 && !text.empty()) expect(OrderedJson::accept(text), "a Chrome trace that is not JSON");
  return 0;
}
