#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/html/html_writer.h"
#include "report/html/page_documents.h"

namespace doctor {

// What sections of a page have in common.

/// Begins a section with its heading; close() of the page ends it. `id` is ours.
void open_section(std::string_view id, std::string_view title, HtmlWriter& page);

/// The same folded away under its heading; close_folded_section() ends it.
void open_folded_section(std::string_view id, std::string_view title, HtmlWriter& page);
void close_folded_section(HtmlWriter& page);

/// The first clause of a verdict's summary, which every other document begins with, too: the heading of its page.
std::string headline_of(const OrderedJson& verdict);

/// The user's name of the iterator of that long name in any pipeline of the report; empty if it has none.
std::string name_in_report(const OrderedJson& report, std::string_view long_name);

/// A number in words, with its value and where that is in the page's data (a JSON pointer): whoever reads
/// the page by program gets the number itself, and a test that both are one.
void add_number(std::string_view words, double value, std::string_view pointer, HtmlWriter& page);

struct TableCell {
  std::string text;  ///< foreign text
  bool is_number = false;
};

/// The table of what a picture shows, folded away. Its first column names the rows.
struct PageTable {
  std::string summary;  ///< what the table is of
  std::vector<TableCell> titles;
  std::vector<std::vector<TableCell>> rows;
};
void add_table(const PageTable& table, HtmlWriter& page);

/// A list of objects as such a table: their keys are its columns, and say the unit of their values.
PageTable table_of(std::string summary, const OrderedJson& rows);

/// A value in words; the end of its key is its unit: "_us", "_ms", "_share", "_bytes".
std::string words_of(std::string_view key, const OrderedJson& value);

/// A key as the title of a column: "total_us" is "total".
std::string title_of(std::string_view key);

/// Links to the pages that the advice of a finding follows. Nothing is loaded from there.
void add_references(const OrderedJson& finding, HtmlWriter& page);

/// Code with a button that copies it.
void add_code(std::string_view code, HtmlWriter& page);

/// The middle of a name left out that is longer than `longest` bytes: no name of a trace makes a page unreadable.
std::string shortened(std::string_view name, std::size_t longest = 160);

/// The pipelines of a report that a page draws: those whose calls are not the waits of another, the worst first.
std::vector<const OrderedJson*> drawn_pipelines(const OrderedJson& report);

/// "pipeline 0:2 on vm" where there are several, else nothing; as the end of a title after `before`.
std::string pipeline_words(const OrderedJson& pipeline, std::size_t count);

}  // namespace doctor
