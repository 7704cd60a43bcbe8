#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <map>

#include "report/html/html_page.h"
#include "text/document_keys.h"
#include "text/numbers.h"

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
};

/// Columns side by side. What is higher than `top` is cut off, with its value written on it.
struct ColumnChart {
  std::string description;
  double top = 0;
  std::string top_label;  ///< of the value at the top
  std::vector<StackedColumn> columns;
  double marked_value = -1;  ///< where a dashed line lies; below 0: none
  double first = 0;          ///< number of the first column
};

void add_chart(const ColumnChart& chart, HtmlWriter& page);

/// A level over time, between two moments.
struct LevelSpan {
  double start = 0;
  double end = 0;
  double level = 0;
  std::string title;
};

/// A level over time, as an area.
struct LevelChart {
  std::string description;
  double start = 0;
  double length = 0;  ///< of the time axis, us
  double top = 0;
  std::string top_label;
  std::string look;
  std::vector<LevelSpan> spans;
};

void add_chart(const LevelChart& chart, HtmlWriter& page);

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

/// A bar that goes on beyond the scale: it falls to pieces at its end.
void add_torn_bar(std::string_view look, std::string_view description, HtmlWriter& page);

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

/// Begins a picture in a file of its own, so large in pixels, on a ground of the class "page".
void open_picture_file(int width, int height, std::string_view title, std::string_view style, HtmlWriter& picture);

/// A key to the looks of a picture.
void add_key(std::string_view look, std::string_view meaning, HtmlWriter& page);

/// "12.5%" of `part` in `whole`, at least 0 and at most 100.
std::string percent_of(double part, double whole);

// The sections of a page, each drawn from a document, in the light of others.

using Section = void(const OrderedJson& document, const PageDocuments& documents, HtmlWriter& page);

Section add_comparison_section, add_history_section, add_fleet_section, add_verdict_section, add_pace_section,
    add_advice_section, add_whatif_section, add_hosts_section, add_pipeline_section, add_steps_section,
    add_timeline_section, add_function_section, add_buffers_section, add_ops_section, add_kernels_section,
    add_memory_section, add_findings_section, add_recording_section;
Section add_plain_section;  ///< of what no section draws: as a terminal shows it

// Drawings that the page of a comparison has of both sides.

/// Words for stages, by long name: foreign text.
using StageTags = std::map<std::string, std::string>;

/// A pipeline in the order of the user's code: sources first, the training loop last. `pipeline` is an entry of a
/// report, which lies at `pointer` in the page's data. `autotune` may be null.
void draw_pipeline(const OrderedJson& pipeline, const std::string& pointer, const OrderedJson* autotune,
                   const StageTags& tags, HtmlWriter& page);

/// What the looks of a timeline mean.
void add_timeline_key(HtmlWriter& page);

/// A window of a timeline on an axis that is at least `axis_length` us long. `pipeline` is an entry of the timeline,
/// which lies at `pointer` in the page's data; stages look as in the pipeline of the same id of `report`.
void add_timeline_window(const OrderedJson& pipeline, const std::string& pointer, const OrderedJson* report,
                         const OrderedJson& window, std::string_view title, double axis_length, HtmlWriter& page);

/// How the stages of a pipeline look, by long name, the same in every picture of a page: the culprit "hot", the four
/// that hold most of the wait after it "s2" to "s5", all others "other".
class StageLooks {
 public:
  StageLooks() = default;
  /// `pipeline` is an entry of a report's pipelines.
  explicit StageLooks(const OrderedJson& pipeline);

  std::string of(std::string_view long_name) const;

 private:
  std::map<std::string, std::string, std::less<>> looks_;
};

// What sections have in common, with the headers that every section needs.

/// Begins a section with its heading; close() of the page ends it. `id` is ours.
void open_section(std::string_view id, std::string_view title, HtmlWriter& page);

/// The same folded away under its heading; close(2) ends it.
void open_folded_section(std::string_view id, std::string_view title, HtmlWriter& page);

/// The first clause of a verdict's summary, which every other document begins with, too: the heading of its page.
std::string headline_of(const OrderedJson& verdict);
/// The same of the other documents that hold an answer.
std::string headline_of_comparison(const OrderedJson& comparison);
std::string headline_of_fleet(const OrderedJson& fleet);
std::string headline_of_whatif(const OrderedJson& whatif);

/// The user's name of the iterator of that long name in any pipeline of the report; empty if it has none.
std::string name_in_report(const OrderedJson& report, std::string_view long_name);

/// A number in words, with its value and where that is in the page's data (a JSON pointer): whoever reads
/// the page by program gets the number itself, and a test that both are one.
void add_number(std::string_view words, double value, std::string_view pointer, HtmlWriter& page);

/// The title of a column, and what its cells are.
struct TableTitle {
  std::string text;
  bool is_number = false;
};
struct TableCell {
  TableCell(std::string words, std::optional<bool> number = {}) : text(std::move(words)), is_number(number) {}

  std::string text;               ///< foreign text
  std::optional<bool> is_number;  ///< nullopt: as the title says
};

/// The table of what a picture shows, folded away. Its first column names the rows.
struct PageTable {
  std::string summary;  ///< what the table is of
  std::vector<TableTitle> titles;
  std::vector<std::vector<TableCell>> rows;
};
void add_table(const PageTable& table, HtmlWriter& page);

/// A row for each of the things: `cells` says what it holds of one.
template <typename Things, typename Cells>
void add_table(std::string summary, std::vector<TableTitle> titles, const Things& things, Cells cells,
               HtmlWriter& page) {
  PageTable table = {std::move(summary), std::move(titles), {}};
  for (const auto& thing : things) table.rows.push_back(cells(thing));
  add_table(table, page);
}

/// A list of objects as such a table: their keys are its columns, and say the unit of their values.
PageTable table_of(std::string summary, const OrderedJson& rows);

/// A value in words; the end of its key is its unit: "_us", "_ms", "_share", "_bytes".
std::string words_of(std::string_view key, const OrderedJson& value);
/// The same of a number of this object; 0 where it has none of this key.
std::string words_in(const OrderedJson& object, std::string_view key);

/// A key as the title of a column: "total_us" is "total".
std::string title_of(std::string_view key);

/// Links to the pages that the advice of a finding follows. Nothing is loaded from there.
void add_references(const OrderedJson& finding, HtmlWriter& page);

/// A paragraph in grey.
void add_note(std::string_view words, HtmlWriter& page);

/// Code with a button that copies it.
void add_code(std::string_view code, HtmlWriter& page);

/// The middle of a name left out that is longer than `longest` bytes: no name of a trace makes a page unreadable.
std::string shortened(std::string_view name, std::size_t longest = 160);

/// The pipelines of a report that a page draws: those whose calls are not the waits of another, the worst first.
std::vector<const OrderedJson*> drawn_pipelines(const OrderedJson& report);

/// "pipeline 0:2 on vm" where there are several, else nothing; as the end of a title after `before`.
std::string pipeline_words(const OrderedJson& pipeline, std::size_t count);

}  // namespace doctor
