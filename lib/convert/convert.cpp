#include "convert/convert.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "io/byte_source.h"
#include "io/file_progress.h"
#include "trace/format.h"

namespace doctor {
namespace {

/// Files of one run are minutes apart, TF1 timelines of one job may be weeks. What is farther away has another clock,
/// and would not fit 64 bits of picoseconds much longer.
constexpr std::int64_t kFarthestOriginNs = std::int64_t{26} * 24 * 3600 * 1'000'000'000;

/// Hands the events of one file to the writer.
class FileEvents final : public EventSink {
 public:
  FileEvents(EventFile& file, std::optional<std::int64_t>& origin_ns, EventWriter& writer)
      : file_(file), origin_ns_(origin_ns), writer_(writer) {}

  void begin(const EventHeader& header) override {
    file_.header = header;
    if (!origin_ns_) origin_ns_ = header.origin_ns;
    file_.origin_ns = *origin_ns_;
    std::int64_t distance = 0;
    has_clock_ = !__builtin_sub_overflow(header.origin_ns, *origin_ns_, &distance) && distance > -kFarthestOriginNs &&
                 distance < kFarthestOriginNs;
    file_.shift = has_clock_ ? distance * kPicosecondsPerNanosecond : 0;
    writer_.begin_file(file_);
  }
  void take(const TraceEvent& event) override { writer_.add(event); }
  bool is_done() const override { return writer_.has_failed(); }

  bool has_clock() const { return has_clock_; }

 private:
  EventFile& file_;
  std::optional<std::int64_t>& origin_ns_;
  EventWriter& writer_;
  bool has_clock_ = true;
};

Result<ConvertedFile> convert_file(const std::string& path, std::size_t index, std::optional<std::int64_t>& origin_ns,
                                   EventWriter& writer, const WorkOptions& work) {
  const Result<std::unique_ptr<ByteSource>> source = open_source(path);
  if (!source) return Unexpected(source.error());
  const Result<const Format*> format = format_of(**source);
  if (!format) return Unexpected(format.error());
  EventFile file{(*source)->name(), index, {}, 0, 0};
  FileEvents events(file, origin_ns, writer);
  Result<EventTotals> totals = (*format)->read_events(**source, events, WantedPlanes::all, work);
  if (!totals) return Unexpected(std::move(totals.error()));
  ConvertedFile converted{{file.path, std::string((*format)->name), (*source)->stored_size()},
                          totals->event_count,
                          std::move(totals->loss)};
  if (!events.has_clock()) {
    converted.loss.add("clock_unrelated");
    converted.loss.notes.push_back(
        fmt::format("{}: its clock is too far from that of the first file; both begin at 0", file.path));
  }
  return converted;
}

}  // namespace

Conversion convert(std::span<const std::string> files, EventWriter& writer, const WorkOptions& work) {
  Conversion conversion;
  std::optional<std::int64_t> origin_ns;
  FileProgress progress(work.progress, files);
  if (work.progress != nullptr) work.progress->stage = "read";
  for (std::size_t index = 0; index < files.size() && !writer.has_failed(); ++index) {
    progress.begin_file(index);
    Result<ConvertedFile> converted = convert_file(files[index], conversion.files.size(), origin_ns, writer, work);
    if (converted) {
      conversion.files.push_back(std::move(*converted));
    } else {
      conversion.unreadable.push_back(std::move(converted.error()));
    }
    progress.end_file(files[index]);
  }
  return conversion;
}

}  // namespace doctor
