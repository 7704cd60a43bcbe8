#include "commands.h"
#include "convert/convert.h"
#include "io/gzip.h"
#include "io/trace_inputs.h"
#include "process/timings.h"
#include "report/report.h"

namespace doctor {
namespace {

/// How `convert` writes.
struct ConvertTarget {
  ConvertFormat format = ConvertFormat::chrome;
  bool is_compressed = false;
};

struct Extension {
  std::string_view ending;
  ConvertFormat format;
};

constexpr std::array<Extension, 3> kExtensions = {{
    {".json", ConvertFormat::chrome},
    {".ndjson", ConvertFormat::ndjson},
    {".csv", ConvertFormat::csv},
}};

/// The format that the user named, else that of the output's name; standard output gets a Chrome trace. Gzipped where
/// the name ends in ".gz". Errors: no such format, a name that shows none.
Result<ConvertTarget> choose_convert_target(const std::optional<std::string>& format, const std::string& output) {
  constexpr std::string_view kCompressed = ".gz";
  ConvertTarget target;
  std::string_view name = output;
  target.is_compressed = name.ends_with(kCompressed);
  if (target.is_compressed) name.remove_suffix(kCompressed.size());
  if (format) {
    const auto* const found = std::find(std::begin(kConvertFormatNames), std::end(kConvertFormatNames), *format);
    if (found == std::end(kConvertFormatNames)) {
      const std::vector<std::string_view> names(std::begin(kConvertFormatNames), std::end(kConvertFormatNames));
      return fail("unknown value '" + *format + "'", "--format", suggestion(*format, names));
    }
    target.format = static_cast<ConvertFormat>(found - std::begin(kConvertFormatNames));
    return target;
  }
  if (is_standard_output(output)) return target;
  const auto* const known =
      std::ranges::find_if(kExtensions, [&](const Extension& extension) { return name.ends_with(extension.ending); });
  if (known == kExtensions.end()) {
    return fail("the name does not say which format", output,
                "end it in .json, .ndjson or .csv (and .gz to compress it), or say --format chrome, ndjson or csv");
  }
  target.format = known->format;
  return target;
}

struct ConvertOptions {
  ReadingOptions reading;
  ConvertTarget target;
  std::string output;
  bool quiet = false;
  bool annotate = false;
};

Result<ConvertOptions> convert_options(const Request& request) {
  ASSIGN_OR_RETURN(ReadingOptions reading, reading_options_with_traces(request));
  const std::string output = request.text("output");
  ASSIGN_OR_RETURN(const ConvertTarget target, choose_convert_target(request.given("format"), output));
  ConvertOptions options{std::move(reading), target, output, request.is_set("quiet"), request.is_set("annotate")};
  if (!options.annotate) return options;
  if (target.format != ConvertFormat::chrome) {
    return fail("only a Chrome trace has tracks to add", "--annotate", "write a .json or .json.gz");
  }
  const std::vector<std::string>& traces = options.reading.traces;
  if (std::ranges::find(traces, "-") != traces.end()) {
    return fail("standard input can be read only once, and --annotate reads it twice", "-", "name the file instead");
  }
  return options;
}

/// "tfdata-doctor: FILE: not everything could be converted: 3 flow_events, 1 events_malformed".
void print_losses(const Conversion& conversion) {
  for (const ConvertedFile& converted : conversion.files) {
    if (converted.loss.complete()) continue;
    std::string losses;
    for (const auto& [reason, count] : converted.loss.counts) {
      losses += fmt::format("{}{} {}", losses.empty() ? "" : ", ", count, reason);
    }
    print_error({"left out or lost: " + losses, converted.file.path, {}, {}});
    for (const std::string& note : converted.loss.notes) print_error({note, {}, {}, {}});
  }
}

/// The diagnosis of the files as tracks. The conversion reports what cannot be read.
std::vector<AnnotationGroup> annotations_of_files(const ConvertOptions& options,
                                                  const std::vector<std::string>& files) {
  DiagnosisSetup setup = options.reading.setup;
  setup.needs = annotation_needs();
  const Analysis analysis = diagnose_watched(files, setup, options.quiet);
  return annotations_of(analysis.measurements, analysis.diagnosis);
}

/// Adds the tracks of the hosts whose events were written, on the clock of the document.
void write_annotations(const std::vector<AnnotationGroup>& groups, const Conversion& conversion, EventWriter& writer) {
  for (const AnnotationGroup& group : groups) {
    const auto file = std::ranges::find_if(
        conversion.files, [&](const ConvertedFile& converted) { return converted.file.path == group.file; });
    if (file == conversion.files.end() || !are_related(group.origin_ns, file->zero_ns)) continue;
    writer.annotate(group, (group.origin_ns - file->zero_ns) * kPicosecondsPerNanosecond);
  }
}

/// Nothing is written where nothing could be read. Errors: that, or output that cannot be written.
Result<Conversion> write_events(const ConvertOptions& options, const std::vector<std::string>& files) {
  const LogEscape escape = options.target.is_compressed                  ? LogEscape::none
                           : options.target.format == ConvertFormat::csv ? LogEscape::text
                                                                         : LogEscape::json;
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::open(options.output, escape));
  const std::unique_ptr<ByteSink> compressed = options.target.is_compressed ? gzip_sink(*file) : nullptr;
  OutputBuffer output(compressed != nullptr ? *compressed : *file);
  const std::unique_ptr<EventWriter> writer = make_event_writer(options.target.format, output);
  std::vector<AnnotationGroup> annotations;
  if (options.annotate) annotations = annotations_of_files(options, files);
  Conversion conversion;
  run_watched(files, options.quiet, [&](Progress& progress) {
    conversion = convert(files, *writer, {.threads = options.reading.setup.work.threads, .progress = &progress});
  });
  if (conversion.files.empty() && !output.has_failed()) return conversion;
  write_annotations(annotations, conversion, *writer);
  writer->end_document();
  RETURN_IF_ERROR(output.finish());
  return conversion;
}

Result<Conversion> convert_traces(const ConvertOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, resolve_inputs(options.reading.traces, options.reading.run));
  RETURN_IF_ERROR(check_output(options.output, files));
  RETURN_IF_ERROR(limit_memory(options.reading.max_memory));
  RETURN_IF_ERROR(enter_sandbox(options.reading.sandbox, {.inputs = files, .outputs = {options.output}}));
  return write_events(options, files);
}

}  // namespace

Result<int> run_convert(const Request& request) {
  ASSIGN_OR_RETURN(const ConvertOptions options, convert_options(request));
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const Conversion conversion, convert_traces(options));
  for (const Error& error : conversion.unreadable) print_error(error);
  if (!options.quiet) print_losses(conversion);
  if (options.reading.timings) {
    print_note(render_conversion_timings(conversion, std::chrono::steady_clock::now() - begin,
                                         options.reading.setup.work.threads));
  }
  return conversion.unreadable.empty() ? kExitClean : kExitFailure;
}

}  // namespace doctor
