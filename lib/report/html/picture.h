#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doctor {

/// An attribute of an element. The name is ours; the value is a number or a text, which may be foreign.
struct HtmlAttribute {
  template <typename Value>
  HtmlAttribute(std::string_view attribute, const Value& text) : name(attribute), value(fmt::format("{}", text)) {}

  std::string_view name;
  std::string value;
};

/// Writes HTML piece by piece. Text can enter a page only escaped: nothing of a trace, whatever it holds, becomes
/// markup.
class HtmlWriter {
 public:
  using Attributes = std::initializer_list<HtmlAttribute>;

  /// Begins an element; close() ends so many of those begun last.
  void open(std::string_view element, Attributes attributes = {});
  void close(std::size_t count = 1);

  /// An element with text alone.
  void element(std::string_view element, Attributes attributes, std::string_view text);
  void element(std::string_view element, std::string_view text) { this->element(element, {}, text); }
  /// An element without content, as <rect> and <meta> are. A void element of HTML, or one of SVG.
  void empty(std::string_view element, Attributes attributes = {});

  /// Foreign text on one line.
  void text(std::string_view text);
  /// Text that keeps its line feeds, for <pre>.
  void lines(std::string_view text);
  /// What the build embedded, or was escaped for a script: it goes in as it is.
  void trusted(std::string_view markup) { html_ += markup; }

  /// The page; every element must be closed.
  std::string finish() && { return std::move(html_); }

 private:
  void begin(std::string_view element, Attributes attributes);

  std::string html_;
  std::vector<std::string_view> open_;
};

// Pictures in SVG. Everything lies in per cent of the width, so that a picture fits any page without a script, on paper
// too, and text is never stretched; page.js zooms by widening the inner <svg class="z">.

/// What the numbers along the axis are.
enum class AxisUnit { time_us, count };

/// A box in a lane.
struct PictureBox {
  double start = 0;
  double length = 0;
  std::string look;       ///< classes of page.css; empty: that of its lane
  std::string title;      ///< what it is, for who points at it. Foreign text
  std::string reference;  ///< JSON pointer of what is shown when it is clicked, into the page's data; empty: its lane's
  bool is_sparse = false;  ///< mostly empty, so that it must not look solid
};

/// A row of a picture.
struct PictureLane {
  std::string label;  ///< above the boxes; empty: the lane belongs to the one above. Foreign text
  std::string note;   ///< after the label, in grey. Foreign text
  std::vector<PictureBox> boxes;
  std::string look = {};       ///< of boxes without one
  std::string title = {};      ///< of boxes without one
  std::string reference = {};  ///< likewise
};

/// A dashed line through all lanes, its label on a line of its own above them.
struct PictureMark {
  double at = 0;
  std::string label;
  std::string look;  ///< classes of page.css
};

/// Lanes on one axis, which begins at 0.
struct LanePicture {
  std::string description;  ///< a sentence for who cannot see it. Foreign text
  double length = 0;        ///< of the axis
  AxisUnit unit = AxisUnit::time_us;
  std::vector<PictureLane> lanes;
  std::vector<PictureMark> marks = {};
};

void add_picture(const LanePicture& picture, HtmlWriter& page);

/// What is inside of its <svg>, and how many pixels high that is: for a picture by itself.
void draw_lanes(const LanePicture& picture, HtmlWriter& page);
int height_of(const LanePicture& picture);

/// A part of a column.
struct ColumnPart {
  double value = 0;
  std::string look;
};

/// One column of a chart, its parts stacked.
struct StackedColumn {
  std::vector<ColumnPart> parts;
  std::string title;      ///< foreign text
  std::string reference;  ///< as of a box
  bool is_pale = false;   ///< not counted in the averages
  double start = 0;       ///< of a level over time, us after the start of the axis
  double length = 0;      ///< likewise, us
};

/// Columns side by side, or a level over time. What is higher than `top` is cut off, with its value written on it.
struct ColumnChart {
  std::string description;
  double top = 0;
  std::string top_label;  ///< of the value at the top
  std::vector<StackedColumn> columns;
  double marked_value = -1;         ///< where a dashed line lies; below 0: none
  double first = 0;                 ///< number of the first column
  std::optional<double> time = {};  ///< length of the axis of a level over time, us; none: the columns are counted
};

void add_chart(const ColumnChart& chart, HtmlWriter& page);

/// A number again and again, the oldest on the left: a dot each, from nothing at the bottom.
struct DotChart {
  struct Dot {
    double value = -1;  ///< below 0: none
    std::string title;  ///< foreign text
  };
  std::string description;
  std::vector<Dot> dots;
  std::vector<std::size_t> marks;  ///< dots before which a dashed line lies
};

void add_chart(const DotChart& chart, HtmlWriter& page);

/// A bar from nothing to `share` of its width.
void add_bar(double share, std::string_view look, std::string_view description, HtmlWriter& page);

/// A range on an axis from 0 to `top` with a dot at `middle`: a number with its interval.
struct RangeBar {
  double low = 0;
  double middle = 0;
  double high = 0;
  double top = 1;
  double mark = -1;  ///< where a dashed line lies; below 0: none
  std::string look;
  std::string description;
};
void add_bar(const RangeBar& range, HtmlWriter& page);

// A picture in a file of its own, in pixels.
inline constexpr int kPictureWidth = 800;
inline constexpr int kPictureMargin = 16;

/// Begins it, on a ground of the class "page".
void open_picture_file(int height, std::string_view title, HtmlWriter& picture);

/// A key to the looks of a picture.
void add_key(std::string_view look, std::string_view meaning, HtmlWriter& page);

/// "12.5%" of `part` in `whole`, at least 0 and at most 100.
std::string percent_of(double part, double whole);

}  // namespace doctor
