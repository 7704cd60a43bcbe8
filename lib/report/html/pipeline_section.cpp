#include <span>

#include "report/html/page_parts.h"

namespace doctor {
namespace {

/// A stage in the order of the user's code, and the tracks beside it, as a graph of commits is drawn.
struct DrawnStage {
  const OrderedJson* iterator = nullptr;
  std::size_t index = 0;        ///< into the iterators of the report
  std::size_t track = 0;        ///< the column of its mark
  std::size_t open_before = 0;  ///< tracks that come from above
  std::size_t joins = 0;        ///< tracks to the right of its own that end in it: its other inputs
};

constexpr std::size_t kMostStages = 40;

/// The report lists parents before their inputs; the user writes the inputs first. Stages at one depth in a row are
/// inputs of the same parent, which ends their tracks.
std::vector<DrawnStage> in_order_of_code(const OrderedJson& pipeline) {
  const OrderedJson& iterators = list_of(pipeline, key::iterators);
  std::vector<DrawnStage> stages;
  std::vector<std::size_t> waiting;  // parents whose inputs are not drawn yet, by index
  std::size_t open = 0;
  const auto depth_of = [&](std::size_t index) { return number_of(iterators[index], key::depth); };
  const auto draw = [&](std::size_t index) {
    std::size_t inputs = 0;
    for (std::size_t next = index + 1; next < iterators.size() && depth_of(next) > depth_of(index); ++next) {
      inputs += depth_of(next) == depth_of(index) + 1 ? 1 : 0;
    }
    DrawnStage stage = {&iterators[index], index, 0, open, inputs > 1 ? inputs - 1 : 0};
    open = std::max<std::size_t>(open - stage.joins, inputs == 0 ? open + 1 : 1);
    stage.track = open - 1;
    stages.push_back(stage);
  };
  for (std::size_t index = 0; index < iterators.size(); ++index) {
    while (!waiting.empty() && depth_of(waiting.back()) >= depth_of(index)) {
      draw(waiting.back());
      waiting.pop_back();
    }
    waiting.push_back(index);
  }
  for (; !waiting.empty(); waiting.pop_back()) draw(waiting.back());
  return stages;
}

/// Lines from the stages above, a mark, and lines from the inputs that join here.
void add_rail(const DrawnStage& stage, std::string_view look, bool is_last, HtmlWriter& page) {
  constexpr std::size_t kTrackWidth = 16;
  const auto x_of = [](std::size_t track) { return fmt::format("{}", track * kTrackWidth + 8); };
  const std::size_t tracks = std::max(stage.open_before, stage.track + 1);
  page.open("svg", {{"class", "rail"}, {"width", tracks * kTrackWidth}, {"aria-hidden", "true"}});
  for (std::size_t track = 0; track < stage.open_before; ++track) {
    const bool ends_here = track >= stage.track;
    page.empty("line", {{"x1", x_of(track)},
                        {"x2", x_of(ends_here ? stage.track : track)},
                        {"y1", "0"},
                        {"y2", ends_here ? "12" : "100%"}});
  }
  if (!is_last) {
    page.empty("line", {{"x1", x_of(stage.track)}, {"x2", x_of(stage.track)}, {"y1", "12"}, {"y2", "100%"}});
  }
  // A square has threads and a buffer of its own; a circle runs on the thread that asks for its output.
  if (is_true(*stage.iterator, key::async)) {
    page.empty("rect",
               {{"class", look}, {"x", stage.track * kTrackWidth + 2}, {"y", "6"}, {"width", "12"}, {"height", "12"}});
  } else {
    page.empty("circle", {{"class", look}, {"cx", x_of(stage.track)}, {"cy", "12"}, {"r", "6"}});
  }
  page.close();
}

/// What the page on autotune says of a stage; null if there is nothing.
const OrderedJson* tuning_of(const OrderedJson* autotune, const OrderedJson& pipeline, std::string_view long_name) {
  if (autotune == nullptr) return nullptr;
  for (const OrderedJson& tuned : list_of(*autotune, key::pipelines)) {
    if (text_of(tuned, key::id) != text_of(pipeline, key::id)) continue;
    for (const OrderedJson& stage : list_of(tuned, key::stages)) {
      if (text_of(stage, key::long_name) == long_name) return &stage;
    }
  }
  return nullptr;
}

/// "parallelism 2, set by autotune; buffer 0 of 2 on average: ..."
std::string describe_tuning(const OrderedJson& tuning) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (const OrderedJson* const chosen = find_value(tuning, key::chosen)) {
    if (const auto parallelism = known_number(*chosen, key::parallelism)) {
      add(*parallelism == 1 ? "one call at a time" : format_number(*parallelism) + " calls at once");
    }
    if (const auto length = known_number(*chosen, key::cycle_length)) {
      add(*length == 1 ? "one input at a time" : format_number(*length) + " inputs in turn");
    }
    const OrderedJson* const fill = find_value(tuning, key::fill);
    const auto limit = known_number(*chosen, key::buffer_limit);
    if (limit && fill != nullptr) {
      add(fmt::format("buffer of {}, {} full on average", format_number(*limit),
                      format_share(*limit > 0 ? number_of(*fill, key::mean) / *limit : 0)));
    } else if (limit) {
      add(fmt::format("buffer of {}", format_number(*limit)));
    }
  }
  if (const std::string given = text_of(tuning, key::given); !given.empty()) {
    add(given == "autotune" ? "chosen by autotune" : "a fixed number");
  }
  // Where the trace does not say what binds it there is nothing to add.
  const std::string reason = text_of(tuning, key::reason);
  if (!reason.empty() && find_value(tuning, key::binding) != nullptr) add(reason);
  return text;
}

/// A pipeline of a report as a drawing in the order of the user's code: sources first, the training loop last.
class PipelineDrawing {
 public:
  PipelineDrawing(const OrderedJson& pipeline, const std::string& pointer, const OrderedJson* autotune,
                  HtmlWriter& page)
      : pipeline_(pipeline),
        autotune_(autotune),
        pointer_(pointer + "/iterators/"),
        looks_(pipeline),
        stages_(in_order_of_code(pipeline)),
        page_(page) {
    const OrderedJson* const get_next = find_value(pipeline, key::get_next);
    steps_ = get_next == nullptr ? 0 : number_of(*get_next, key::count);
    waited_ = get_next == nullptr ? 0 : number_of(*get_next, key::total_us);
    for (const DrawnStage& stage : stages_) most_work_ = std::max(most_work_, work_of(stage));
  }

  void draw(const StageTags& tags) {
    if (stages_.size() > kMostStages) {
      const std::size_t left_out = stages_.size() - kMostStages;
      stages_.erase(stages_.begin(), stages_.begin() + static_cast<std::ptrdiff_t>(left_out));
      page_.element("p", fmt::format("The {} stages farthest from the training loop are left out.", left_out));
    }
    page_.open("ol", {{"class", "stages"}});
    for (std::size_t index = 0; index < stages_.size(); ++index) {
      std::size_t end = index;
      while (end < stages_.size() && is_idle(stages_[end], tags)) ++end;
      if (end > index + 1) {
        add_idle_stages(std::span(stages_).subspan(index, end - index));
        index = end - 1;
        continue;
      }
      const auto tag = tags.find(text_of(*stages_[index].iterator, key::long_name));
      add_stage(stages_[index], tag == tags.end() ? std::string() : tag->second);
    }
    add_loop(stages_.empty() ? 0 : stages_.back().track + 1);
    page_.close();
    add_elsewhere();
    add_table_of_stages();
  }

 private:
  /// In us, of the whole recording.
  double work_of(const DrawnStage& stage) const {
    return number_of(*stage.iterator, key::self_us) + number_of(*stage.iterator, key::function_us);
  }
  double work_per_element(const DrawnStage& stage) const {
    const double calls = number_of(*stage.iterator, key::calls);
    return calls > 0 ? work_of(stage) / calls : 0;
  }
  /// Of the wait.
  double share_of(const DrawnStage& stage) const {
    return waited_ > 0 ? number_of(*stage.iterator, key::critical_us) / waited_ : 0;
  }

  /// Whether a stage neither holds the loop nor works: those in a row are one line.
  bool is_idle(const DrawnStage& stage, const StageTags& tags) const {
    constexpr double kLittle = 0.01;
    const std::string long_name = text_of(*stage.iterator, key::long_name);
    const bool is_marked = looks_.of(long_name) == "hot" || tags.contains(long_name) || stage.joins > 0;
    return !is_marked && share_of(stage) < kLittle && (most_work_ <= 0 || work_of(stage) / most_work_ < kLittle);
  }

  /// One line for stages next to each other that do next to nothing.
  void add_idle_stages(std::span<const DrawnStage> stages) {
    const std::string names = joined(
        stages, ", then ", [](const DrawnStage& stage) { return shortened(name_of_iterator(*stage.iterator), 40); });
    page_.open("li", {{"data-ref", pointer_ + fmt::format("{}", stages.back().index)}});
    DrawnStage line = stages.back();
    line.open_before = stages.front().open_before;
    add_rail(line, "other", false, page_);
    page_.open("div", {{"class", "stage"}});
    page_.element("span", {{"class", "name idle"}}, names);
    page_.element("span", {{"class", "muted"}}, "next to no time");
    page_.close(2);
  }

  /// What no stage holds: with it the parts add up to the whole.
  void add_elsewhere() {
    const OrderedJson* const elsewhere = find_value(pipeline_, key::elsewhere);
    if (elsewhere == nullptr || waited_ <= 0) return;
    std::string text;
    for (const auto& [key, words] :
         {std::pair("handoff_us", "handed over between threads"),
          std::pair("unseen_us", "not visible in the recording"), std::pair("outside_us", "outside of tf.data")}) {
      const double part = number_of(*elsewhere, key) / waited_;
      if (part >= 0.0005) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format_share(part), words);
    }
    if (!text.empty()) add_note("The rest of the wait: " + text + ".", page_);
  }

  /// What sets the pace need not be where the loop waits: both are right.
  std::string_view culprit_words() const {
    const OrderedJson* const culprit = find_value(pipeline_, key::culprit);
    const bool holds =
        culprit == nullptr || text_of(*culprit, key::chosen_by) == "wait" || text_of(*culprit, key::chosen_by).empty();
    if (text_of(pipeline_, key::level) != "bound") return "works most";
    return holds ? "the culprit" : "sets the pace";
  }

  void add_stage(const DrawnStage& stage, const std::string& tag) {
    const std::string long_name = text_of(*stage.iterator, key::long_name);
    const std::string look = looks_.of(long_name);
    page_.open("li", {{"data-ref", pointer_ + fmt::format("{}", stage.index)}});
    add_rail(stage, look, false, page_);
    page_.open("div", {{"class", "stage"}});
    page_.open("span", {{"class", "name"}});
    page_.text(shortened(name_of_iterator(*stage.iterator)));
    if (look == "hot") page_.element("span", {{"class", "tag"}}, culprit_words());
    if (!tag.empty()) page_.element("span", {{"class", "tag plain"}}, tag);
    page_.close();
    const OrderedJson* const source = find_value(*stage.iterator, key::source);
    if (source != nullptr) {
      add_note(fmt::format("{}:{}  {}", text_of(*source, key::file), number_of(*source, key::line),
                           text_of(*source, key::code)),
               page_);
    }
    const OrderedJson* const tuning = tuning_of(autotune_, pipeline_, long_name);
    const std::string words = tuning == nullptr ? std::string() : describe_tuning(*tuning);
    if (!words.empty()) add_note(words, page_);
    page_.close(2);
  }

  void add_loop(std::size_t tracks) {
    page_.open("li");
    const OrderedJson nobody = OrderedJson::object();
    add_rail({&nobody, 0, tracks > 0 ? tracks - 1 : 0, tracks, 0}, "runs", true, page_);
    page_.open("div", {{"class", "stage"}});
    page_.open("span", {{"class", "name"}});
    page_.element("code", "for batch in dataset:");
    page_.close();
    const OrderedJson* const get_next = find_value(pipeline_, key::get_next);
    if (get_next != nullptr) {
      add_note(fmt::format("GetNext calls: {}, {} slower than 50 us; median {}, longest {}", format_number(steps_),
                           words_in(*get_next, key::slow_count), words_in(*get_next, key::p50_us),
                           words_in(*get_next, key::max_us)),
               page_);
    }
    page_.close(2);
  }

  void add_table_of_stages() {
    add_table(
        "the stages of pipeline " + text_of(pipeline_, key::id),
        {{"stage"},
         {"share of the wait", true},
         {"work per element", true},
         {"calls", true},
         {"total", true},
         {"waits", true},
         {"long name"}},
        stages_,
        [&](const DrawnStage& stage) -> std::vector<TableCell> {
          const OrderedJson& iterator = *stage.iterator;
          return {shortened(name_of_iterator(iterator)),         format_share(share_of(stage)),
                  format_microseconds(work_per_element(stage)),  words_of("calls", iterator[key::calls]),
                  words_of("total_us", iterator[key::total_us]), words_of("wait_us", iterator[key::wait_us]),
                  shortened(text_of(iterator, key::long_name))};
        },
        page_);
  }

  const OrderedJson& pipeline_;
  const OrderedJson* autotune_;
  std::string pointer_;
  StageLooks looks_;
  std::vector<DrawnStage> stages_;
  HtmlWriter& page_;
  double steps_ = 0;
  double waited_ = 0;
  double most_work_ = 0;
};

/// "Pipeline 0:0 on vm has the same stages as pipeline 1:1, but waits 0.9 % of the time, not 52 %."
std::string words_of_likeness(const OrderedJson& pipeline, const OrderedJson& first, std::size_t count) {
  const std::string words =
      fmt::format("{} has the same stages as pipeline {}", pipeline_words(pipeline, count), text_of(first, key::id));
  const double share = number_of(pipeline, key::input_share);
  const double share_of_first = number_of(first, key::input_share);
  if (waits_alike(share, share_of_first)) return words + " and waits about as long.";
  return words + fmt::format(", but waits {} of the time, not {}.", format_share(share), format_share(share_of_first));
}

}  // namespace

StageLooks::StageLooks(const OrderedJson& pipeline) {
  const OrderedJson* const judged = find_value(pipeline, key::culprit);
  const std::string culprit = judged == nullptr ? std::string() : text_of(*judged, key::long_name);
  if (!culprit.empty()) looks_[culprit] = "hot";
  // Who holds most of the wait; where nobody waits, who works most.
  std::vector<std::pair<double, std::string>> others;
  for (const OrderedJson& iterator : list_of(pipeline, key::iterators)) {
    const double time = culprit.empty() ? number_of(iterator, key::self_us) + number_of(iterator, key::function_us)
                                        : number_of(iterator, key::critical_us);
    const std::string name = text_of(iterator, key::long_name);
    if (name != culprit && time > 0) others.emplace_back(-time, name);
  }
  std::ranges::sort(others);
  constexpr std::array<std::string_view, 4> kLooks = {"s2", "s3", "s4", "s5"};
  for (std::size_t rank = 0; rank < std::min(kLooks.size(), others.size()); ++rank) {
    looks_[others[rank].second] = kLooks[rank];
  }
}

std::string StageLooks::of(std::string_view long_name) const {
  const auto found = looks_.find(long_name);
  return found == looks_.end() ? "other" : found->second;
}

void draw_pipeline(const OrderedJson& pipeline, const std::string& pointer, const OrderedJson* autotune,
                   const StageTags& tags, HtmlWriter& page) {
  PipelineDrawing(pipeline, pointer, autotune, page).draw(tags);
}

void add_pipeline_section(const OrderedJson& report, const PageDocuments& documents, HtmlWriter& page) {
  const std::vector<const OrderedJson*> pipelines = drawn_pipelines(report);
  if (pipelines.empty()) return;
  open_section("pipeline", "The pipeline, in the order of your code", page);
  add_note("A circle runs on the thread that asks for its output; a square has threads and a buffer of its own.", page);
  std::map<std::string, const OrderedJson*> drawn;  // by their stages: of pipelines that are alike the worst is drawn
  for (const OrderedJson* pipeline : pipelines) {
    const auto [first, is_new] = drawn.try_emplace(long_names_of(list_of(*pipeline, key::iterators)), pipeline);
    if (!is_new) {
      page.element("p", words_of_likeness(*pipeline, *first->second, pipelines.size()));
      continue;
    }
    const std::string words = pipeline_words(*pipeline, pipelines.size());
    if (!words.empty()) page.element("h3", words);
    const auto number = static_cast<std::size_t>(pipeline - &list_of(report, key::pipelines).front());
    draw_pipeline(*pipeline, fmt::format("/report/pipelines/{}", number), find_document(documents, "autotune"), {},
                  page);
  }
  add_left_out(number_of(report, key::pipelines_left_out), "pipeline", page);
  page.close();
}

}  // namespace doctor
