#include "report/html/page_parts.h"

namespace doctor {
namespace {

constexpr std::size_t kMostOps = 12;
constexpr std::size_t kLongestBarName = 72;  // the table has all of it

/// Bars with a name before and a number after each.
struct BarList {
  std::string_view name_key;
  std::string_view value_key;  ///< a time in us
  std::string_view look;
};

void add_bars(const OrderedJson& rows, const BarList& list, HtmlWriter& page) {
  double most = 0;
  for (const OrderedJson& row : rows) most = std::max(most, number_of(row, list.value_key));
  page.open("ul", {{"class", "bars"}});
  for (std::size_t index = 0; index < std::min(rows.size(), kMostOps); ++index) {
    const OrderedJson& row = rows[index];
    const double value = number_of(row, list.value_key);
    page.open("li");
    page.element("span", {{"class", "what"}}, shortened(text_of(row, list.name_key), kLongestBarName));
    add_bar(most > 0 ? value / most : 0, list.look, "its time beside that of the others", page);
    std::string words = format_time(from_microseconds(value));
    if (const auto count = known_number(row, key::occurrences)) words += ", " + format_number(*count) + " times";
    if (const auto share = known_number(row, key::share_of_wait)) words += ", " + format_share(*share) + " of the wait";
    page.element("span", {{"class", "muted"}}, words);
    page.close();
  }
  page.close();
}

/// A section of the bars of a document's rows, and their table.
void add_rows_section(const OrderedJson* document, std::string_view id, std::string_view title, const BarList& bars,
                      HtmlWriter& page) {
  if (document == nullptr || list_of(*document, key::rows).empty()) return;
  const OrderedJson& rows = list_of(*document, key::rows);
  open_folded_section(id, title, page);
  add_bars(rows, bars, page);
  add_table(table_of(std::string(title), rows), page);
  if (const double left_out = number_of(*document, key::rows_left_out); left_out > 0) {
    add_note(format_number(left_out) + " more rows are left out.", page);
  }
  close_folded_section(page);
}

}  // namespace

void add_function_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const report = documents.find("report");
  if (report == nullptr) return;
  const OrderedJson* const culprit = find_value((*report)[key::verdict], key::culprit);
  if (culprit == nullptr || list_of(*culprit, key::function_ops).empty()) return;
  open_folded_section("function", "Inside the function of the culprit", page);
  add_note(
      "Ops that ran while the training waited for it. Ops on several threads overlap: the shares may add up to "
      "more than the whole.",
      page);
  add_bars(list_of(*culprit, key::function_ops), {"op", "self_us", "hot"}, page);
  if (const double python = number_of(*culprit, key::python_us); python > 0) {
    page.element("p", "Of that, in Python: " + format_time(from_microseconds(python)) + ".");
  }
  close_folded_section(page);
}

void add_ops_section(const PageDocuments& documents, HtmlWriter& page) {
  add_rows_section(documents.find("ops"), "ops", "Ops, by their own time", {"name", "self_us", "s2"}, page);
}

void add_kernels_section(const PageDocuments& documents, HtmlWriter& page) {
  add_rows_section(documents.find("kernels"), "kernels", "Kernels on the GPUs", {"kernel_name", "total_us", "s4"},
                   page);
}

void add_plain_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const text = documents.find("text");
  if (text == nullptr || !text->is_string()) return;
  const std::string title = title_of(documents.all().front().name);
  open_section("text", title, page);
  page.open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", title}});
  page.open("pre", {{"class", "page"}});
  page.lines(text->get_ref<const std::string&>());
  page.close(3);
}

void add_hosts_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const hosts = documents.find("hosts");
  // One host has nobody to stand beside.
  if (hosts == nullptr || list_of(*hosts, key::rows).size() < 2) return;
  add_rows_section(hosts, "hosts", "Hosts side by side", {"host", "mean_wait_us", "waits"}, page);
}

}  // namespace doctor
