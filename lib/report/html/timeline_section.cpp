#include "report/html/page_parts.h"
#include "report/page.h"

namespace doctor {
namespace {

constexpr double kHairlinesOfPause = 8;    // a shorter pause is not drawn: 16 pixels
constexpr std::size_t kLongestLabel = 34;  // with its note as wide as a telephone
constexpr double kLeastWork = 0.005;       // of a window; a stage that does less is a hairline in it

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

/// The stretches of a lane by what they are, each with its time: "Dataset.map: your function, 31 times, 372 us in all".
void say_times(PictureLane& lane) {
  struct Kind {
    std::size_t count = 0;
    double time = 0;
  };
  std::map<std::string, Kind> kinds;
  for (const PictureBox& box : lane.boxes) {
    Kind& kind = kinds[box.title];
    ++kind.count;
    kind.time += box.length;
  }
  for (PictureBox& box : lane.boxes) {
    const Kind& kind = kinds[box.title];
    const std::string time = format_microseconds(kind.time);
    box.title += kind.count == 1 ? ", " + time : fmt::format(", {} times, {} in all", kind.count, time);
  }
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
    const std::size_t idle_stages = add_lanes(window, picture);
    picture.lanes.push_back(loop_lane(window));
    picture.description =
        fmt::format("{}: the training loop {}; under it what each stage does", title, picture.lanes.back().note);
    add_picture(picture, page_);
    add_left_out(number_of(window, key::lanes_left_out), "thread", page_);
    if (idle_stages > 0) {
      add_note(fmt::format("Not drawn: {} with next to nothing to do.", format_count(idle_stages, "stage")), page_);
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
      say_times(lane);
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
    return {number_of(stretch, key::start_us) - window_start, number_of(stretch, key::duration_us), look_of(stretch),
            fmt::format("{}: {}", name_of(stretch), describe_segment_kind(text_of(stretch, key::kind))),
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

  /// A stage in a window.
  struct DrawnStage {
    std::vector<const OrderedJson*> stretches;  ///< in which calls wait for it
    std::vector<const OrderedJson*> lanes;      ///< of the threads on which it works
  };

  std::map<std::size_t, DrawnStage> stages_of(const OrderedJson& window) const {
    std::map<std::size_t, DrawnStage> stages;
    for (const OrderedJson& lane : list_of(window, key::lanes)) {
      stages[static_cast<std::size_t>(number_of(lane, key::stage))].lanes.push_back(&lane);
    }
    for (const OrderedJson& call : list_of(window, key::calls)) {
      for (const OrderedJson& stretch : list_of(call, key::stretches)) {
        if (look_of(stretch) == "gap") continue;
        stages[static_cast<std::size_t>(number_of(stretch, key::stage))].stretches.push_back(&stretch);
      }
    }
    return stages;
  }

  /// Where the loop waits for the stage.
  PictureLane lane_of_waits(std::size_t index, const DrawnStage& drawn, const OrderedJson& window,
                            double& holds) const {
    PictureLane lane = {shortened(text_of(stage(index), key::name), kLongestLabel), {}, {}};
    for (const OrderedJson* const stretch : drawn.stretches) {
      const std::optional<PictureBox> box = box_inside(*stretch, window);
      if (!box) continue;
      holds += box->length;
      if (box->length >= number_of(window, key::duration_us) / kWindowHairlines) lane.boxes.push_back(*box);
    }
    say_times(lane);
    lane.note = holds > 0             ? "holds " + format_microseconds(holds)
                : drawn.lanes.empty() ? "holds nothing"
                                      : "works, and nobody waits for it";
    return lane;
  }

  PictureLane lane_of_work(const OrderedJson& lane, const OrderedJson& window) const {
    PictureLane work;
    work.look = look_of(lane) + " hollow";
    work.reference = reference_of(lane);
    const std::string thread = shortened(text_of(lane, key::thread), 32);
    const std::string what = text_of(lane, key::work) == "function" ? "your function" : "own work";
    work.title = fmt::format("{}, {} in all, on {}", what, words_in(lane, key::time_us), thread);
    const double shortest_pause = number_of(window, key::duration_us) / kWindowHairlines * kHairlinesOfPause;
    for (const WorkSpan& span : joined_spans(list_of(lane, key::spans), shortest_pause)) {
      // Pauses that are too short to draw are part of a span: one that holds little work must not look solid.
      const bool is_sparse = span.worked < span.length / 2;
      work.boxes.push_back({span.start - number_of(window, key::start_us), span.length, {}, {}, {}, is_sparse});
    }
    return work;
  }

  /// Under each stage the threads on which it works, hollow; on its first lane, filled, when the loop waits for it.
  /// Returns the number of stages that do next to nothing, which are not drawn.
  std::size_t add_lanes(const OrderedJson& window, LanePicture& picture) const {
    const double least = number_of(window, key::duration_us) * kLeastWork;
    std::size_t left_out = 0;
    for (const auto& [index, drawn] : stages_of(window)) {
      double holds = 0;
      PictureLane waits = lane_of_waits(index, drawn, window, holds);
      double works = 0;
      for (const OrderedJson* const lane : drawn.lanes) works += number_of(*lane, key::time_us);
      if (std::max(holds, works) < least) {
        ++left_out;
        continue;
      }
      picture.lanes.push_back(std::move(waits));
      for (const OrderedJson* const lane : drawn.lanes) picture.lanes.push_back(lane_of_work(*lane, window));
    }
    return left_out;
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
    TimelineDrawing drawing(pipelines[number], fmt::format("/timeline/pipelines/{}", number),
                            find_document(documents, "report"), page);
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
