#include "report/html/page_parts.h"
#include "report/page.h"

namespace doctor {
namespace {

constexpr double kHairlinesOfPause = 16;   // a shorter pause is not drawn: eight pixels
constexpr std::size_t kLongestLabel = 34;  // with its note as wide as a telephone

/// A part of a lane in which a thread works.
struct WorkSpan {
  double start = 0;
  double length = 0;
  double worked = 0;  ///< of the length
};

/// The thread of the loop waits in GetNext.
struct LoopWait {
  double start = 0;
  double length = 0;
  std::string words;
};

/// For this pipeline and for others, in order of time.
std::vector<LoopWait> loop_waits(const OrderedJson& window) {
  std::vector<LoopWait> waits;
  for (const OrderedJson& call : list_of(window, key::calls)) {
    waits.push_back(
        {number_of(call, key::start_us), number_of(call, key::latency_us),
         fmt::format("GetNext call {}: waits {}", words_in(call, key::number), words_in(call, key::latency_us))});
  }
  for (const OrderedJson& call : list_of(window, key::other_calls)) {
    waits.push_back(
        {number_of(call, key::start_us), number_of(call, key::duration_us),
         fmt::format("waits {} for pipeline {}", words_in(call, key::duration_us), text_of(call, key::pipeline))});
  }
  std::ranges::stable_sort(waits, [](const LoopWait& a, const LoopWait& b) { return a.start < b.start; });
  return waits;
}

/// The spans of a lane, those with a shorter pause between them as one.
std::vector<WorkSpan> joined_spans(const OrderedJson& spans, double shortest_pause) {
  std::vector<WorkSpan> joined;
  for (const OrderedJson& span : spans) {
    const WorkSpan next = {span[0].get<double>(), span[1].get<double>(), span[2].get<double>()};
    if (joined.empty() || next.start - (joined.back().start + joined.back().length) >= shortest_pause) {
      joined.push_back(next);
    } else {
      joined.back().length = next.start + next.length - joined.back().start;
      joined.back().worked += next.worked;
    }
  }
  return joined;
}

/// Pictures of one pipeline of a timeline: the loop, and each stage with the threads on which it works.
class TimelineDrawing {
 public:
  TimelineDrawing(const OrderedJson& pipeline, const std::string& pointer, const OrderedJson* report, HtmlWriter& page)
      : timeline_(pipeline), pointer_(pointer + "/stages/"), page_(page) {
    if (report == nullptr) return;
    for (const OrderedJson& reported : list_of(*report, key::pipelines)) {
      if (text_of(reported, key::id) == text_of(pipeline, key::id)) looks_ = StageLooks(reported);
    }
  }

  void add_window(const OrderedJson& window, std::string_view title, double axis_length = 0) {
    page_.element("h3", title);
    LanePicture picture;
    picture.length = std::max(axis_length, number_of(window, key::duration_us));
    add_lanes(window, picture);
    picture.lanes.push_back(loop_lane(window));
    picture.description =
        fmt::format("{}: the training loop {}; under it what each stage does", title, picture.lanes.back().note);
    add_picture(picture, page_);
    if (const double left_out = number_of(window, key::lanes_left_out); left_out > 0) {
      add_note(fmt::format("{} more threads are left out.", format_number(left_out)), page_);
    }
  }

  /// The longest calls as strips on one axis.
  void add_calls(const std::vector<const OrderedJson*>& calls) {
    if (calls.empty()) return;
    page_.open("details");
    page_.element("summary", "The longest calls: who held them");
    LanePicture picture;
    for (const OrderedJson* const call : calls) {
      picture.length = std::max(picture.length, number_of(*call, key::latency_us));
    }
    for (const OrderedJson* const call : calls) {
      PictureLane lane = {"call " + words_in(*call, key::number), words_in(*call, key::latency_us), {}};
      for (const OrderedJson& stretch : list_of(*call, key::stretches)) {
        if (number_of(stretch, key::duration_us) < picture.length / kWindowHairlines) continue;
        lane.boxes.push_back(box_of(stretch, number_of(*call, key::start_us)));
      }
      picture.lanes.push_back(std::move(lane));
    }
    picture.description = "The longest GetNext calls on one axis, each from its start, and who held it when";
    add_picture(picture, page_);
    PageTable table = {
        "who held the longest calls", {{"call"}, {"stage"}, {"by"}, {"time", true}, {"share", true}}, {}};
    for (const OrderedJson* const call : calls) {
      for (const OrderedJson& held : list_of(*call, key::held_by)) {
        table.rows.push_back({words_in(*call, key::number), name_of(held),
                              describe_segment_kind(text_of(held, key::kind)), words_in(held, key::time_us),
                              words_in(held, key::share)});
      }
    }
    add_table(table, page_);
    page_.close();
  }

 private:
  const OrderedJson& stage(std::size_t index) const { return list_of(timeline_, key::stages)[index]; }

  /// A stretch of a call, or a lane: both name their stage by its index.
  std::string look_of(const OrderedJson& held) const {
    const std::optional<double> index = known_number(held, key::stage);
    const std::string kind = text_of(held, key::kind);
    if (!index || kind == "handoff" || kind == "unseen" || kind == "outside") return "gap";
    return looks_.of(text_of(stage(static_cast<std::size_t>(*index)), key::long_name));
  }

  std::string name_of(const OrderedJson& held) const {
    const std::optional<double> index = known_number(held, key::stage);
    return index ? shortened(text_of(stage(static_cast<std::size_t>(*index)), key::name)) : "GetNext";
  }

  std::string reference_of(const OrderedJson& held) const {
    const std::optional<double> index = known_number(held, key::stage);
    return index ? pointer_ + fmt::format("{}", *index) : std::string();
  }

  PictureBox box_of(const OrderedJson& stretch, double window_start) const {
    const double length = number_of(stretch, key::duration_us);
    return {number_of(stretch, key::start_us) - window_start, length, look_of(stretch),
            fmt::format("{}: {}, {}", name_of(stretch), describe_segment_kind(text_of(stretch, key::kind)),
                        format_microseconds(length)),
            reference_of(stretch)};
  }

  /// The part of a stretch that lies in the window.
  std::optional<PictureBox> box_inside(const OrderedJson& stretch, const OrderedJson& window) const {
    PictureBox box = box_of(stretch, number_of(window, key::start_us));
    const double end = std::min(box.start + box.length, number_of(window, key::duration_us));
    box.start = std::max(0.0, box.start);
    box.length = end - box.start;
    return box.length > 0 ? std::optional(std::move(box)) : std::nullopt;
  }

  /// The consumer's thread: waits in GetNext, runs the rest of the time.
  PictureLane loop_lane(const OrderedJson& window) const {
    const double start = number_of(window, key::start_us);
    const double end = start + number_of(window, key::duration_us);
    double waited = 0;
    double done = start;
    PictureLane lane = {"the training loop", {}, {}};
    const auto add_run = [&](double until) {
      if (until > done) lane.boxes.push_back({done - start, until - done, "runs", "the step runs", {}});
    };
    for (const LoopWait& wait : loop_waits(window)) {
      // Of calls at the same time each counts only where no other is drawn.
      const double begin = std::max(done, wait.start);
      const double until = std::min(end, wait.start + wait.length);
      if (until <= begin) continue;
      add_run(begin);
      lane.boxes.push_back({begin - start, until - begin, "waits", wait.words, {}});
      waited += until - begin;
      done = until;
    }
    // Calls that are left out wait, too: what is not known is not painted.
    if (number_of(window, key::calls_left_out) == 0) add_run(end);
    lane.note = fmt::format("waits {} of {}", format_microseconds(waited), format_microseconds(end - start));
    return lane;
  }

  /// Under each stage the threads on which it works, hollow; on its first lane, filled, when the loop waits for it.
  void add_lanes(const OrderedJson& window, LanePicture& picture) const {
    const double start = number_of(window, key::start_us);
    const double shortest = number_of(window, key::duration_us) / kWindowHairlines;
    std::map<std::size_t, std::vector<const OrderedJson*>> lanes_of_stage;
    for (const OrderedJson& lane : list_of(window, key::lanes)) {
      lanes_of_stage[static_cast<std::size_t>(number_of(lane, key::stage))].push_back(&lane);
    }
    std::map<std::size_t, std::vector<const OrderedJson*>> held;
    for (const OrderedJson& call : list_of(window, key::calls)) {
      for (const OrderedJson& stretch : list_of(call, key::stretches)) {
        if (look_of(stretch) == "gap") continue;
        held[static_cast<std::size_t>(number_of(stretch, key::stage))].push_back(&stretch);
        lanes_of_stage[static_cast<std::size_t>(number_of(stretch, key::stage))];
      }
    }
    for (const auto& [index, lanes] : lanes_of_stage) {
      PictureLane first = {shortened(text_of(stage(index), key::name), kLongestLabel), {}, {}};
      double holds = 0;
      for (const OrderedJson* const stretch : held[index]) {
        const std::optional<PictureBox> box = box_inside(*stretch, window);
        if (!box) continue;
        holds += box->length;
        if (box->length >= shortest) first.boxes.push_back(*box);
      }
      first.note = holds > 0       ? "holds " + format_microseconds(holds)
                   : lanes.empty() ? "holds nothing"
                                   : "works, and nobody waits for it";
      picture.lanes.push_back(std::move(first));
      for (const OrderedJson* const lane : lanes) {
        PictureLane work;
        work.look = look_of(*lane) + " hollow";
        work.reference = reference_of(*lane);
        const std::string thread = shortened(text_of(*lane, key::thread), 32);
        const std::string what = text_of(*lane, key::work) == "function" ? "your function" : "own work";
        // One text for a lane: a page with one for each span would be twice as large.
        work.title = fmt::format("{}, {} in all, on {}", what, words_in(*lane, key::time_us), thread);
        for (const WorkSpan& span : joined_spans(list_of(*lane, key::spans), shortest * kHairlinesOfPause)) {
          // Pauses that are too short to draw are part of a span: one that holds little work must not look solid.
          const bool is_sparse = span.worked < span.length / 2;
          work.boxes.push_back({span.start - start, span.length, {}, {}, {}, is_sparse});
        }
        picture.lanes.push_back(std::move(work));
      }
    }
  }

  const OrderedJson& timeline_;
  std::string pointer_;
  HtmlWriter& page_;
  StageLooks looks_;
};

std::string title_of_window(const OrderedJson& window) {
  const std::string number = words_in(window, key::number);
  const std::string kind = text_of(window, key::kind);
  return kind == "typical_steps"  ? "Typical steps, from call " + number + " on"
         : kind == "median_call"  ? "The median call, " + number + ", and as long before it"
         : kind == "longest_call" ? "The longest call, " + number
         : kind == "step"         ? "Step " + number
                                  : "Call " + number;
}

/// Typical steps and the longest call; the median one only where no steps are typical. Of the longest calls the first
/// is drawn with all threads, the others as strips.
void draw_windows(const OrderedJson& pipeline, TimelineDrawing& drawing) {
  std::vector<const OrderedJson*> longest;
  for (const OrderedJson& window : list_of(pipeline, key::windows)) {
    const bool is_longest = text_of(window, key::kind) == "longest_call";
    for (const OrderedJson& call : list_of(window, key::calls)) {
      if (is_longest) longest.push_back(&call);
    }
    if (!is_longest || !list_of(window, key::lanes).empty()) drawing.add_window(window, title_of_window(window));
  }
  drawing.add_calls(longest);
}

}  // namespace

void add_timeline_key(HtmlWriter& page) {
  page.open("p");
  add_key("waits", "the loop waits", page);
  add_key("runs", "a step runs", page);
  add_key("hot", "the loop waits for this stage", page);
  add_key("other hollow", "a stage works, waited for or not", page);
  add_key("gap", "handed over, not visible, or outside of tf.data", page);
  page.close();
}

void add_timeline_window(const OrderedJson& pipeline, const std::string& pointer, const OrderedJson* report,
                         const OrderedJson& window, std::string_view title, double axis_length, HtmlWriter& page) {
  TimelineDrawing(pipeline, pointer, report, page).add_window(window, title, axis_length);
}

void add_timeline_section(const OrderedJson& timeline, const PageDocuments& documents, HtmlWriter& page) {
  if (list_of(timeline, key::pipelines).empty()) return;
  open_section("timeline", "Who waits for whom", page);
  const OrderedJson& pipelines = list_of(timeline, key::pipelines);
  const auto others = static_cast<std::size_t>(number_of(timeline, key::pipelines_left_out));
  const std::size_t all = pipelines.size() + others;
  for (std::size_t number = 0; number < pipelines.size(); ++number) {
    // The worst comes first; the others are for who wants to see them.
    const std::string words = pipeline_words(pipelines[number], all);
    if (number == 1) page.open("details");
    if (number == 1) page.element("summary", format_count(pipelines.size() - 1, "more pipeline"));
    if (!words.empty()) page.element("h3", words);
    TimelineDrawing drawing(pipelines[number], fmt::format("/timeline/pipelines/{}", number), documents.find("report"),
                            page);
    add_timeline_key(page);
    draw_windows(pipelines[number], drawing);
  }
  if (pipelines.size() > 1) page.close();
  if (others > 0) {
    add_note(fmt::format("Not drawn: {} more; those of the same stages that wait as long look alike. "
                         "tfdata-doctor show timeline draws them.",
                         format_count(others, "pipeline")),
             page);
  }
  page.close();
}

}  // namespace doctor
