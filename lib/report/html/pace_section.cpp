#include "report/html/page_parts.h"
#include "report/page.h"

namespace doctor {
namespace {

constexpr std::size_t kLongestName = 44;

constexpr int kTitleHeight = 32;  // pixels

bool is_training(const OrderedJson& bar) {
  return text_of(bar, key::long_name).empty();
}

/// What is at fault looks as the culprit does in every picture.
std::string_view look_of_bar(const OrderedJson& bar) {
  if (is_training(bar)) return "runs";
  const std::string role = text_of(bar, key::role);
  return role == "other" || role == "next_limit" ? "other" : "hot";
}

/// "9.39 ms, 4 at once, sets the pace"
std::string note_of_bar(const OrderedJson& bar) {
  std::string note = words_in(bar, key::time_us);
  if (const double at_once = number_of(bar, key::at_once, 1); at_once > 1) {
    note += fmt::format(", {} at once", format_number(at_once));
  }
  const std::string_view role = describe_pace_role(text_of(bar, key::role));
  if (!role.empty()) note += fmt::format(", {}", role);
  return note;
}

PictureLane lane_of_bar(const OrderedJson& bar) {
  PictureLane lane;
  lane.label = shortened(text_of(bar, key::name), kLongestName);
  lane.note = note_of_bar(bar);
  lane.boxes.push_back({number_of(bar, key::before_us),
                        number_of(bar, key::time_us),
                        std::string(look_of_bar(bar)),
                        lane.label + ": " + lane.note,
                        {}});
  return lane;
}

LanePicture picture_of(const OrderedJson& pace) {
  LanePicture picture;
  const double step = number_of(pace, key::step_us);
  picture.length = step;
  std::string bars;
  for (const OrderedJson& bar : list_of(pace, key::bars)) {
    picture.lanes.push_back(lane_of_bar(bar));
    picture.length = std::max(picture.length, number_of(bar, key::before_us) + number_of(bar, key::time_us));
    bars += fmt::format("{}{}: {}", bars.empty() ? "" : "; ", picture.lanes.back().label, picture.lanes.back().note);
  }
  picture.marks.push_back({step, "a step now: " + words_in(pace, key::step_us), "mark"});
  if (find_value(pace, key::step_after_us) != nullptr) {
    picture.marks.push_back(
        {number_of(pace, key::step_after_us), "with fix 1: " + words_in(pace, key::step_after_us), "mark after"});
  }
  picture.length *= 1.02;  // so that the line of the longest is not at the edge
  picture.description = "The time that each stage needs for one step. " + bars;
  return picture;
}

}  // namespace

void add_pace_section(const OrderedJson& holder, const PageDocuments& /*documents*/, HtmlWriter& page) {
  const OrderedJson* const pace = find_value(holder, key::pace);
  if (pace == nullptr) return;
  open_section("pace", "What sets the pace", page);
  const OrderedJson& bars = list_of(*pace, key::bars);
  const bool is_in_turn = std::ranges::adjacent_find(bars, [](const OrderedJson& one, const OrderedJson& next) {
                            return number_of(one, key::worker) == number_of(next, key::worker);
                          }) != bars.end();
  add_picture(picture_of(*pace), page);
  std::string reading = "Each bar is the time that a stage needs for one step. " +
                        describe_pace(number_of(*pace, key::step_us), number_of(*pace, key::longest_us), is_in_turn);
  if (const double left_out = number_of(*pace, key::bars_left_out); left_out > 0) {
    reading += " Not drawn: " + format_count(static_cast<std::size_t>(left_out), "stage") + " with next to no time.";
  }
  add_note(reading, page);
  add_table(table_of("what each stage needs for one step", bars), page);
  page.close();
}

std::string render_pace_svg(const OrderedJson& pace) {
  if (!pace.is_object()) return {};
  const LanePicture picture = picture_of(pace);
  const int height = kTitleHeight + height_of(picture) + 2 * kPictureMargin;
  HtmlWriter svg;
  open_picture_file(height, picture.description, svg);
  svg.element("text", {{"class", "title"}, {"x", kPictureMargin}, {"y", kPictureMargin + 14}}, "What sets the pace");
  svg.open("svg", {{"x", kPictureMargin},
                   {"y", kPictureMargin + kTitleHeight},
                   {"width", kPictureWidth - 2 * kPictureMargin},
                   {"height", height_of(picture)}});
  draw_lanes(picture, svg);
  svg.close(2);
  return std::move(svg).finish();
}

}  // namespace doctor
