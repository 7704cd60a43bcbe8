#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/html/html_page.h"
#include "report/html/picture.h"
#include "text/columns.h"
#include "text/document_keys.h"
#include "text/numbers.h"

namespace doctor {

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

/// A row of bars: its name, a bar as long as the part that `value` is of the greatest one, and words.
struct BarRow {
  std::string what;  ///< foreign text
  double value = 0;
  std::string words;
  std::string example = {};  ///< path of a trace, linked after the name; empty: none
};
/// `description`: what a bar shows, for who cannot see it.
void add_bars(const std::vector<BarRow>& rows, std::string_view look, std::string_view description, HtmlWriter& page);

/// A trace as a link that opens beside the page.
void add_example(const std::string& path, HtmlWriter& page);

/// A rate in steps a second with its interval, as a row of a picture.
struct RateRow {
  std::string what;
  double low = 0;
  double estimate = 0;
  double high = 0;
  std::string after = {};  ///< what limits then
  bool is_conditional = false;
  std::string pointer = {};  ///< of the rate, into the page's data; empty: it stands there without one
};

/// Rates below each other as ranges on one scale that ends at `top`, the dashed line at `now`.
void add_rates(const std::vector<RateRow>& rows, double now, double top, HtmlWriter& page);
void add_table_of_rates(std::string title, const std::vector<RateRow>& rows, HtmlWriter& page);

/// The end of a scale for rates: up to the ceiling, but no ceiling makes what can be reached invisible.
double top_of_rates(const std::vector<RateRow>& rows, double now, double ceiling);

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

/// A note where a page does not have all of them: "3 more rows are left out."
void add_left_out(double count, std::string_view one, HtmlWriter& page);

/// "document cut off 1, events dropped 12": what of a trace could not be used.
std::string describe_loss(const OrderedJson& loss);

/// Code with a button that copies it.
void add_code(std::string_view code, HtmlWriter& page);

/// The middle of a name left out that is longer than `longest` bytes: no name of a trace makes a page unreadable.
std::string shortened(std::string_view name, std::size_t longest = 160);

/// The pipelines of a report that a page draws: those whose calls are not the waits of another, the worst first.
std::vector<const OrderedJson*> drawn_pipelines(const OrderedJson& report);

/// "pipeline 0:2 on vm" where there are several, else nothing; as the end of a title after `before`.
std::string pipeline_words(const OrderedJson& pipeline, std::size_t count);

}  // namespace doctor
