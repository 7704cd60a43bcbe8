#include "report/html/picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/html/html_page.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr int kLabelHeight = 20;
constexpr int kMarkHeight = 18;  // of the line of a label
constexpr int kBoxHeight = 16;
constexpr int kThinBoxHeight = 9;  // of a lane that belongs to the one above
constexpr int kLaneGap = 4;
constexpr int kAxisHeight = 22;
constexpr int kColumnHeight = 140;
constexpr int kLevelHeight = 60;
constexpr double kLeastHeight = 0.3;  // of a part of a column: a lower one cannot be seen
constexpr int kDotChartHeight = 72;
constexpr int kDotMargin = 8;  // so that no dot is cut

/// Ticks at round numbers, four to eight of them.
double distance_of_ticks(double length, AxisUnit unit) {
  if (length <= 0 || (unit == AxisUnit::count && length < 8)) return 1;
  const double power = std::pow(10, std::floor(std::log10(length)));
  for (const double factor : {0.1, 0.2, 0.5, 1.0}) {
    if (length / (power * factor) <= 8) return power * factor;
  }
  return power;
}

std::string tick_label(double value, AxisUnit unit) {
  if (unit == AxisUnit::count) return format_number(value);
  return value == 0 ? "0" : format_microseconds(value);
}

/// `first`: what the axis begins at.
void add_axis(double length, AxisUnit unit, int top, HtmlWriter& page, double first = 0) {
  page.open("g", {{"class", "axis"}, {"aria-hidden", "true"}});
  const double distance = distance_of_ticks(length, unit);
  for (int tick = 0; tick * distance <= length * 1.0001; ++tick) {
    const std::string x = percent_of(tick * distance, length);
    page.empty("line", {{"x1", x}, {"x2", x}, {"y1", top}, {"y2", top + 5}});
    const bool is_last = (tick + 0.5) * distance > length;
    const std::string side = tick == 0 ? "start" : is_last ? "end" : "middle";
    // On a narrow page every second label has no room.
    const std::string look = tick % 2 == 1 ? side + " odd" : side;
    page.element("text", {{"class", look}, {"x", x}, {"y", top + 17}}, tick_label(first + tick * distance, unit));
  }
  page.close();
}

/// A group whose boxes look alike and say the same when they are clicked.
void open_group(std::string_view look, std::string_view reference, HtmlWriter& page) {
  if (reference.empty()) return page.open("g", {{"class", look}});
  page.open("g", {{"class", look}, {"data-ref", reference}});
}

/// A box with what a person sees who points at it.
void add_box(const std::string& x, const std::string& width, int y, int height, const std::string& title,
             HtmlWriter& page) {
  page.open("rect", {{"x", x}, {"y", y}, {"width", width}, {"height", height}});
  page.element("title", title);
  page.close();
}

/// Boxes that look alike and say the same stand in one group, in the order in which the first of each begins.
void add_boxes(const PictureLane& lane, double length, int y, int height, HtmlWriter& page) {
  using Group = std::array<std::string_view, 3>;  // look, reference, title
  const auto group_of = [&](const PictureBox& box) {
    const auto either = [](const std::string& own, const std::string& of_lane) {
      return std::string_view(own.empty() ? of_lane : own);
    };
    return Group{either(box.look, lane.look), either(box.reference, lane.reference), either(box.title, lane.title)};
  };
  std::vector<Group> groups;
  for (const PictureBox& box : lane.boxes) {
    if (const Group group = group_of(box); std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  for (const Group& group : groups) {
    open_group(group[0], group[1], page);
    if (!group[2].empty()) page.element("title", group[2]);
    for (const PictureBox& box : lane.boxes) {
      if (group_of(box) != group) continue;
      const HtmlAttribute x = {"x", percent_of(box.start, length)};
      const HtmlAttribute width = {"width", percent_of(box.length, length)};
      if (box.is_sparse) {
        page.empty("rect", {{"class", "sparse"}, x, {"y", y}, width, {"height", height}});
      } else {
        page.empty("rect", {x, {"y", y}, width, {"height", height}});
      }
    }
    page.close();
  }
}

/// Begins the figure of a picture that can be zoomed and is `height` high, without its axis.
void open_figure(const std::string& description, double length, AxisUnit unit, int height, HtmlWriter& page,
                 double first = 0) {
  page.open("figure", {{"class", "plot"},
                       {"tabindex", "0"},
                       {"role", "group"},
                       {"aria-label", description},
                       {"data-length", length},
                       {"data-first", first},
                       {"data-unit", unit == AxisUnit::time_us ? "us" : "count"}});
  // The figure has said what it shows.
  page.open("svg", {{"class", "picture"}, {"aria-hidden", "true"}, {"height", height + kAxisHeight}});
}

int height_of_boxes(const PictureLane& lane) {
  return lane.label.empty() ? kThinBoxHeight : kBoxHeight;
}

/// Where the boxes of each lane begin, and last where the picture ends.
std::vector<int> tops_of(const LanePicture& picture) {
  std::vector<int> tops;
  int top = kMarkHeight * static_cast<int>(picture.marks.size());
  for (const PictureLane& lane : picture.lanes) {
    if (!lane.label.empty()) top += kLabelHeight;
    tops.push_back(top);
    top += height_of_boxes(lane) + (lane.label.empty() ? kLaneGap / 2 : kLaneGap);
  }
  tops.push_back(top);
  return tops;
}

/// Lines from their labels down. Each label has a line of its own, so that none covers another, and goes to the side
/// that has more room.
void add_marks(const LanePicture& picture, int bottom, HtmlWriter& page) {
  int top = 0;
  for (const PictureMark& mark : picture.marks) {
    const std::string x = percent_of(mark.at, picture.length);
    page.empty("line", {{"class", mark.look}, {"x1", x}, {"x2", x}, {"y1", top + 4}, {"y2", bottom}});
    const bool is_right = 2 * mark.at > picture.length;
    page.element("text",
                 {{"class", "muted"},
                  {"x", x},
                  {"dx", is_right ? "-5" : "5"},
                  {"y", top + kMarkHeight - 4},
                  {"text-anchor", is_right ? "end" : "start"}},
                 mark.label);
    top += kMarkHeight;
  }
}

/// Begins a bar on a track.
void open_bar(int height, std::string_view description, HtmlWriter& page) {
  page.open("svg", {{"class", "bar"}, {"height", height}, {"role", "img"}, {"aria-label", description}});
  if (height == 12) return page.empty("rect", {{"class", "track"}, {"width", "100%"}, {"height", "12"}});
  page.empty("rect", {{"class", "track"}, {"y", (height - 12) / 2}, {"width", "100%"}, {"height", "12"}});
}

}  // namespace

std::string percent_of(double part, double whole) {
  const double share = whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
  // A box of 0% is not drawn, and finer than this no screen shows it.
  const double percent = share > 0 ? std::max(share * 100, 0.001) : 0;
  return fmt::format("{:.4g}%", std::round(percent * 1000) / 1000);
}

int height_of(const LanePicture& picture) {
  return tops_of(picture).back() + kAxisHeight;
}

void draw_lanes(const LanePicture& picture, HtmlWriter& page) {
  const std::vector<int> tops = tops_of(picture);
  const int height = tops.back();
  for (std::size_t index = 0; index < picture.lanes.size(); ++index) {
    const PictureLane& lane = picture.lanes[index];
    if (lane.label.empty()) continue;
    page.open("text", {{"class", "label"}, {"x", "0"}, {"y", tops[index] - 5}});
    page.text(lane.label);
    if (!lane.note.empty()) page.element("tspan", {{"class", "muted"}, {"dx", "8"}}, lane.note);
    page.close();
  }
  page.open("svg", {{"class", "z"}, {"x", "0%"}, {"width", "100%"}, {"height", height}});
  for (std::size_t index = 0; index < picture.lanes.size(); ++index) {
    const PictureLane& lane = picture.lanes[index];
    const int box_height = height_of_boxes(lane);
    page.open("g");
    page.empty("rect",
               {{"class", "track"}, {"x", "0%"}, {"y", tops[index]}, {"width", "100%"}, {"height", box_height}});
    add_boxes(lane, picture.length, tops[index], box_height, page);
    page.close();
  }
  add_marks(picture, height, page);
  page.close();
  add_axis(picture.length, picture.unit, height, page);
}

void add_picture(const LanePicture& picture, HtmlWriter& page) {
  open_figure(picture.description, picture.length, picture.unit, tops_of(picture).back(), page);
  draw_lanes(picture, page);
  page.close(2);
}

void add_chart(const ColumnChart& chart, HtmlWriter& page) {
  constexpr double kGap = 0.05;  // of a column, on either side
  const AxisUnit unit = chart.time ? AxisUnit::time_us : AxisUnit::count;
  const double length = chart.time.value_or(static_cast<double>(chart.columns.size()));
  const int chart_height = chart.time ? kLevelHeight : kColumnHeight;
  open_figure(chart.description, length, unit, chart_height + kLabelHeight, page, chart.first);
  page.element("text", {{"class", "muted"}, {"x", "0"}, {"y", "12"}}, chart.top_label);
  page.open("svg", {{"class", "z"}, {"x", "0%"}, {"width", "100%"}, {"height", chart_height + kLabelHeight}});
  for (std::size_t index = 0; index < chart.columns.size(); ++index) {
    const StackedColumn& column = chart.columns[index];
    if (column.parts.empty()) continue;  // there is no such step
    const std::string x = percent_of(chart.time ? column.start : static_cast<double>(index) + kGap, length);
    const std::string width = percent_of(chart.time ? column.length : 1 - 2 * kGap, length);
    page.open("g", {{"class", column.is_pale ? "pale" : "column"}});
    double bottom = 0;
    for (const ColumnPart& part : column.parts) {
      const double low = std::min(bottom, chart.top);
      const double high = std::min(bottom + part.value, chart.top);
      bottom += part.value;
      if (chart.top <= 0 || chart_height * (high - low) < kLeastHeight * chart.top) continue;
      const double from_top = kLabelHeight + chart_height * (1 - high / chart.top);
      page.empty("rect", {{"class", part.look},
                          {"x", x},
                          {"y", fmt::format("{:.1f}", from_top)},
                          {"width", width},
                          {"height", fmt::format("{:.1f}", chart_height * (high - low) / chart.top)}});
    }
    if (chart.time) {
      page.element("title", column.title);
    } else {
      // The whole column answers to the pointer, however low it is.
      open_group("target", column.reference, page);
      add_box(x, width, kLabelHeight, chart_height, column.title, page);
      page.close();
    }
    if (bottom > chart.top) {
      page.element("text", {{"class", "over"}, {"x", x}, {"y", kLabelHeight + 10}}, "\u2191");
    }
    page.close();
  }
  page.close();
  if (chart.marked_value >= 0 && chart.top > 0) {
    const std::string y =
        fmt::format("{:.1f}", kLabelHeight + chart_height * (1 - std::min(chart.marked_value, chart.top) / chart.top));
    page.empty("line", {{"class", "mark"}, {"x1", "0%"}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
  }
  add_axis(length, unit, chart_height + kLabelHeight, page, chart.first);
  page.close(2);
}

void add_chart(const DotChart& chart, HtmlWriter& page) {
  const int height = kDotChartHeight + 2 * kDotMargin;
  const auto count = static_cast<double>(chart.dots.size());
  double top = 0;
  for (const DotChart::Dot& dot : chart.dots) top = std::max(top, dot.value);
  page.open("svg", {{"class", "picture"}, {"role", "img"}, {"aria-label", chart.description}, {"height", height}});
  page.empty("rect", {{"class", "track"}, {"width", "100%"}, {"height", height}});
  for (const std::size_t mark : chart.marks) {
    const std::string x = percent_of(static_cast<double>(mark), count);
    page.empty("line", {{"class", "mark"}, {"x1", x}, {"x2", x}, {"y1", "0"}, {"y2", height}});
  }
  for (std::size_t index = 0; index < chart.dots.size() && top > 0; ++index) {
    const DotChart::Dot& dot = chart.dots[index];
    if (dot.value < 0) continue;
    page.open("circle", {{"class", "s2"},
                         {"cx", percent_of(static_cast<double>(index) + 0.5, count)},
                         {"cy", fmt::format("{:.1f}", kDotMargin + kDotChartHeight * (1 - dot.value / top))},
                         {"r", "4"}});
    page.element("title", dot.title);
    page.close();
  }
  page.close();
}

void add_bar(double share, std::string_view look, std::string_view description, HtmlWriter& page) {
  open_bar(12, description, page);
  page.empty("rect", {{"class", look}, {"width", percent_of(share, 1)}, {"height", "12"}});
  page.close();
}

void add_bar(const RangeBar& range, HtmlWriter& page) {
  open_bar(16, range.description, page);
  page.empty("rect", {{"class", "interval " + range.look},
                      {"x", percent_of(range.low, range.top)},
                      {"y", "4"},
                      {"width", percent_of(range.high - range.low, range.top)},
                      {"height", "8"}});
  if (range.mark >= 0) {
    const std::string x = percent_of(range.mark, range.top);
    page.empty("line", {{"class", "mark"}, {"x1", x}, {"x2", x}, {"y1", "0"}, {"y2", "16"}});
  }
  page.empty("circle", {{"class", range.look}, {"cx", percent_of(range.middle, range.top)}, {"cy", "8"}, {"r", "5"}});
  page.close();
}

void open_picture_file(int height, std::string_view title, HtmlWriter& picture) {
  picture.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                       {"width", kPictureWidth},
                       {"height", height},
                       {"viewBox", fmt::format("0 0 {} {}", kPictureWidth, height)},
                       {"role", "img"}});
  picture.element("title", title);
  picture.open("style");
  picture.trusted(kPictureStyle);
  picture.close();
  picture.empty("rect", {{"class", "page"}, {"width", "100%"}, {"height", "100%"}});
}

void add_key(std::string_view look, std::string_view meaning, HtmlWriter& page) {
  page.open("span", {{"class", "key"}});
  page.open("svg", {{"width", "20"}, {"height", "12"}, {"aria-hidden", "true"}});
  page.empty("rect", {{"class", look}, {"width", "20"}, {"height", "12"}});
  page.close();
  page.text(meaning);
  page.close();
}

void HtmlWriter::begin(std::string_view element, Attributes attributes) {
  html_ += '<';
  html_ += element;
  for (const HtmlAttribute& attribute : attributes) {
    html_ += ' ';
    html_ += attribute.name;
    html_ += "=\"" + escape_for_xml(attribute.value) + '"';
  }
}

void HtmlWriter::open(std::string_view element, Attributes attributes) {
  begin(element, attributes);
  html_ += '>';
  open_.push_back(element);
}

void HtmlWriter::close(std::size_t count) {
  if (count > 1) close(count - 1);
  html_ += "</";
  html_ += open_.back();
  // A line for each block, so that two pages can be compared as text; inline elements and those of pictures stay on it.
  const std::string_view element = open_.back();
  const bool is_block = element == "section" || element == "p" || element == "li" || element == "tr" ||
                        element == "figure" || element == "h1" || element == "h2" || element == "h3" ||
                        element == "details" || element == "svg";
  html_ += is_block ? ">\n" : ">";
  open_.pop_back();
}

void HtmlWriter::element(std::string_view element, Attributes attributes, std::string_view text) {
  open(element, attributes);
  this->text(text);
  close();
}

void HtmlWriter::empty(std::string_view element, Attributes attributes) {
  begin(element, attributes);
  html_ += "/>";
}

void HtmlWriter::text(std::string_view text) {
  html_ += escape_for_xml(text);
}

void HtmlWriter::lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    html_ += escape_for_xml(text.substr(0, end));
    if (end == std::string_view::npos) return;
    html_ += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace doctor
