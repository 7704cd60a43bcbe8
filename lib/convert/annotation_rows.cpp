#include "convert/event_text.h"
#include "convert/event_writer.h"
#include "text/json_page.h"

// "Trace Event Format", Google, document 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Perfetto ignores `cname`, which
// is for chrome://tracing.

namespace doctor {
namespace {

/// Arrows are matched by category, name and id.
constexpr std::string_view kArrow = R"("cat":"tfdata-doctor","name":"then waits for")";

class AnnotationWriter {
 public:
  AnnotationWriter(const AnnotationGroup& group, const AnnotationPlace& place,
                   const std::function<void(const std::string&)>& visit)
      : group_(group), place_(place), visit_(visit) {}

  void write() {
    write_process();
    for (std::size_t track = 0; track < group_.tracks.size(); ++track) write_track(track);
    for (const AnnotationArrow& arrow : group_.arrows) write_arrow(arrow);
    for (const AnnotationCounter& counter : group_.counters) write_counter(counter);
  }

 private:
  /// The label comes first: it says what all that follows is.
  void write_process() {
    write_metadata(0, "process_labels", "labels", kAnnotationLabel);
    write_metadata(0, "process_name", "name", group_.title);
    visit_(fmt::format(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":-1}}}})", place_.pid));
  }

  void write_track(std::size_t index) {
    const AnnotationTrack& track = group_.tracks[index];
    const std::uint64_t tid = tid_of(index);
    write_metadata(tid, "thread_name", "name", track.name);
    visit_(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
                       place_.pid, tid, index));
    for (const AnnotationSlice& slice : track.slices) {
      std::string row = begin('X', tid, slice.span.start);
      row += R"(,"dur":)";
      append_microseconds(row, slice.span.end - slice.span.start);
      finish(slice, row);
    }
    for (const AnnotationSlice& moment : track.moments) {
      std::string row = begin('i', tid, moment.span.start);
      row += R"(,"s":"p")";
      finish(moment, row);
    }
  }

  void write_arrow(const AnnotationArrow& arrow) {
    const std::uint64_t id = ++*place_.last_arrow;
    visit_(begin('s', tid_of(arrow.from_track), arrow.from) + fmt::format(R"(,"id":{},{}}})", id, kArrow));
    visit_(begin('f', tid_of(arrow.to_track), arrow.to) + fmt::format(R"(,"bp":"e","id":{},{}}})", id, kArrow));
  }

  void write_counter(const AnnotationCounter& counter) {
    for (const auto& [time, value] : counter.values) {
      std::string row = begin('C', 0, time);
      row += R"(,"name":)";
      append_json_string(row, counter.name);
      visit_(row + fmt::format(R"(,"args":{{"value":{}}}}})", value));
    }
  }

  /// 0 is the idle task's in chrome://tracing.
  static std::uint64_t tid_of(std::size_t track) { return track + 1; }

  std::string begin(char phase, std::uint64_t tid, Picoseconds time) const {
    std::string row = fmt::format(R"({{"ph":"{}","pid":{},"tid":{},"ts":)", phase, place_.pid, tid);
    append_microseconds(row, time + place_.shift);
    return row;
  }

  void finish(const AnnotationSlice& slice, std::string& row) {
    row += R"(,"name":)";
    append_json_string(row, slice.name);
    if (!slice.colour.empty()) row += fmt::format(R"(,"cname":"{}")", slice.colour);
    row += R"(,"args":{)";
    bool is_first = true;
    for (const auto& [name, value] : slice.arguments) {
      row += is_first ? "" : ",";
      append_json_string(row, name);
      row += ':';
      append_json_string(row, value);
      is_first = false;
    }
    row += "}}";
    visit_(row);
  }

  void write_metadata(std::uint64_t tid, std::string_view kind, std::string_view key, std::string_view text) {
    std::string row = fmt::format(R"({{"ph":"M","pid":{},)", place_.pid);
    if (tid != 0) row += fmt::format(R"("tid":{},)", tid);
    row += fmt::format(R"("name":"{}","args":{{"{}":)", kind, key);
    append_json_string(row, text);
    visit_(row + "}}");
  }

  const AnnotationGroup& group_;
  const AnnotationPlace& place_;
  const std::function<void(const std::string&)>& visit_;
};

}  // namespace

void visit_annotation_rows(const AnnotationGroup& group, const AnnotationPlace& place,
                           const std::function<void(const std::string& row)>& visit) {
  AnnotationWriter(group, place, visit).write();
}

}  // namespace doctor
