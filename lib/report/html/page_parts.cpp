#include "report/html/page_parts.h"

#include <functional>
#include <set>

#include "text/escape.h"

namespace doctor {
namespace {

bool ends_with_unit(std::string_view key, std::string_view unit) {
  return key == unit || key.ends_with("_" + std::string(unit));
}

}  // namespace

void open_section(std::string_view id, std::string_view title, HtmlWriter& page) {
  const std::string heading = "heading-" + std::string(id);
  page.open("section", {{"id", id}, {"aria-labelledby", heading}});
  page.element("h2", {{"id", heading}}, title);
}

void open_folded_section(std::string_view id, std::string_view title, HtmlWriter& page) {
  const std::string heading = "heading-" + std::string(id);
  page.open("section", {{"id", id}, {"aria-labelledby", heading}});
  page.open("details", {{"class", "folded"}});
  page.open("summary");
  page.element("h2", {{"id", heading}}, title);
  page.close();
}

std::string headline_of(const OrderedJson& verdict) {
  std::string headline = text_of(verdict, key::headline);
  if (!headline.empty() && headline.front() >= 'a' && headline.front() <= 'z') headline.front() -= 'a' - 'A';
  return headline;
}

std::string name_in_report(const OrderedJson& report, std::string_view long_name) {
  if (long_name.empty()) return {};
  for (const OrderedJson& pipeline : list_of(report, key::pipelines)) {
    for (const OrderedJson& iterator : list_of(pipeline, key::iterators)) {
      if (text_of(iterator, key::long_name) == long_name) return name_of_iterator(iterator);
    }
  }
  return {};
}

void add_number(std::string_view words, double value, std::string_view pointer, HtmlWriter& page) {
  page.element("data", {{"value", value}, {"data-json", pointer}}, words);
}

void add_table(const PageTable& table, HtmlWriter& page) {
  if (table.rows.empty()) return;
  page.open("details", {{"class", "table"}});
  page.element("summary", "Table: " + table.summary);
  page.open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", table.summary}});
  page.open("table");
  page.open("thead");
  page.open("tr");
  for (const TableTitle& title : table.titles) {
    page.element("th", {{"scope", "col"}, {"class", title.is_number ? "number" : "text"}}, title.text);
  }
  page.close(2);
  page.open("tbody");
  for (const std::vector<TableCell>& row : table.rows) {
    page.open("tr");
    for (std::size_t column = 0; column < row.size(); ++column) {
      const TableCell& cell = row[column];
      if (column == 0) {
        page.element("th", {{"scope", "row"}}, cell.text);
      } else if (cell.is_number.value_or(table.titles[column].is_number)) {
        page.element("td", cell.text);  // as most cells are: pages of many rows are smaller without a word on each
      } else {
        page.element("td", {{"class", "text"}}, cell.text);
      }
    }
    page.close();
  }
  page.close(4);
}

std::string words_of(std::string_view key, const OrderedJson& value) {
  if (value.is_string()) return shortened(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_number()) return {};
  const auto number = value.get<double>();
  if (ends_with_unit(key, "us")) return format_microseconds(number);
  if (ends_with_unit(key, "ms")) return format_microseconds(number * 1000);
  if (ends_with_unit(key, "share")) return format_share(number);
  if (ends_with_unit(key, "bytes") && number >= 0) return format_bytes(static_cast<std::uint64_t>(number));
  return format_number(number);
}

std::string title_of(std::string_view key) {
  std::string title(key);
  for (const std::string_view unit : {"_us", "_ms"}) {
    if (key.ends_with(unit)) title.resize(title.size() - unit.size());
  }
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string words_in(const OrderedJson& object, std::string_view key) {
  return words_of(key, OrderedJson(number_of(object, key)));
}

PageTable table_of(std::string summary, const OrderedJson& rows) {
  PageTable table;
  table.summary = std::move(summary);
  if (rows.empty()) return table;
  // A column of zeros says nothing; the first one names the rows.
  std::set<std::string, std::less<>> shown;
  for (const auto& [key, value] : rows.front().items()) {
    const auto says_something = [&column = key](const OrderedJson& row) {
      const auto found = row.find(column);
      return found != row.end() && !found->is_null() && *found != 0;
    };
    if (!shown.empty() && std::ranges::none_of(rows, says_something)) continue;
    shown.insert(key);
    table.titles.push_back({title_of(key), value.is_number()});
  }
  for (const OrderedJson& row : rows) {
    std::vector<TableCell> cells;
    for (const auto& [key, value] : row.items()) {
      if (shown.count(key) > 0) cells.push_back({words_of(key, value), value.is_number()});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void add_bars(const std::vector<BarRow>& rows, std::string_view look, std::string_view description, HtmlWriter& page) {
  double most = 0;
  for (const BarRow& row : rows) most = std::max(most, row.value);
  page.open("ul", {{"class", "bars"}});
  for (const BarRow& row : rows) {
    page.open("li");
    page.open("span", {{"class", "what"}});
    page.text(row.what + (row.example.empty() ? "" : " "));
    add_example(row.example, page);
    page.close();
    add_bar(most > 0 ? row.value / most : 0, look, description, page);
    page.element("span", {{"class", "muted"}}, row.words);
    page.close();
  }
  page.close();
}

void add_example(const std::string& path, HtmlWriter& page) {
  if (path.empty()) return;
  const bool is_whole = path.find('/') != std::string::npos && !path.starts_with("\u2026");
  if (!is_whole) return page.text(shortened(path));  // its folder is not known here
  // Percent-encoded, a path cannot name a scheme or another host.
  const std::string uri = (path.front() == '/' ? "file://" : "./") + uri_of_path(path);
  page.element("a", {{"href", uri}}, shortened(path));
}

void add_references(const OrderedJson& finding, HtmlWriter& page) {
  const OrderedJson& references = list_of(finding, key::follows);
  if (references.empty()) return;
  page.open("p", {{"class", "muted"}});
  page.text("See ");
  for (const OrderedJson& reference : references) {
    if (&reference != &references.front()) page.text(", ");
    page.element("a", {{"href", text_of(reference, key::url)}}, text_of(reference, key::title));
  }
  page.close();
}

void add_note(std::string_view words, HtmlWriter& page) {
  page.element("p", {{"class", "muted"}}, words);
}

void add_left_out(double count, std::string_view one, HtmlWriter& page) {
  if (count <= 0) return;
  const std::string what = format_count(static_cast<std::size_t>(count), "more " + std::string(one));
  add_note(what + (count == 1 ? " is left out." : " are left out."), page);
}

std::string describe_loss(const OrderedJson& loss) {
  std::string text;
  for (const auto& [reason, count] : loss.items()) {
    if (reason == key::complete) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", title_of(reason), words_of("count", count));
  }
  return text;
}

void add_code(std::string_view code, HtmlWriter& page) {
  page.open("div", {{"class", "code"}});
  page.open("pre", {{"tabindex", "0"}});
  page.lines(code);
  page.close();
  page.element("button", {{"type", "button"}, {"class", "copy script"}, {"hidden", ""}}, "Copy");
  page.close();
}

std::string shortened(std::string_view name, std::size_t longest) {
  if (name.size() <= longest) return std::string(name);
  // Bytes of a character that is cut in two become U+FFFD when they are escaped.
  return fmt::format("{} \u2026 {}", name.substr(0, longest / 2), name.substr(name.size() - longest / 2));
}

std::vector<const OrderedJson*> drawn_pipelines(const OrderedJson& report) {
  std::vector<const OrderedJson*> pipelines;
  for (const OrderedJson& pipeline : list_of(report, key::pipelines)) {
    if (!is_true(pipeline, key::feeds_another)) pipelines.push_back(&pipeline);
  }
  return pipelines;
}

std::string pipeline_words(const OrderedJson& pipeline, std::size_t count) {
  if (count < 2) return {};
  return fmt::format("Pipeline {} on {}", text_of(pipeline, key::id), shortened(text_of(pipeline, key::host)));
}

}  // namespace doctor
