#include <algorithm>
#include <array>
#include <string_view>

#include "report/html/page_parts.h"
#include "report/html/page_sections.h"

namespace doctor {
namespace {

constexpr std::array<std::string_view, 5> kPlainDocuments = {"overview", "input", "tree", "calls", "autotune"};
constexpr std::size_t kMostEntries = 12;  // of a list whose entries have lists themselves
constexpr int kDeepest = 5;

bool is_flat(const OrderedJson& entry) {
  return std::none_of(entry.begin(), entry.end(), [](const OrderedJson& value) { return value.is_structured(); });
}

void add_facts(const OrderedJson& object, HtmlWriter& page) {
  page.open("ul");
  for (const auto& [key, value] : object.items()) {
    if (value.is_structured() || value.is_null() || key == "schema") continue;
    page.element("li", title_of(key) + ": " + words_of(key, value));
  }
  page.close();
}

void add_object(const OrderedJson& object, int depth, HtmlWriter& page);

void add_list(const std::string& key, const OrderedJson& list, int depth, HtmlWriter& page) {
  if (list.empty() || !list.front().is_object()) return;
  if (std::all_of(list.begin(), list.end(), is_flat)) return add_table(table_of(title_of(key), list), page);
  for (std::size_t index = 0; index < std::min(list.size(), kMostEntries); ++index) {
    page.element("h3", title_of(key) + " " + std::to_string(index + 1) + " of " + std::to_string(list.size()));
    add_object(list[index], depth + 1, page);
  }
}

void add_object(const OrderedJson& object, int depth, HtmlWriter& page) {
  if (depth > kDeepest) return;
  add_facts(object, page);
  for (const auto& [key, value] : object.items()) {
    if (key == "tool") continue;
    if (value.is_array()) add_list(key, value, depth, page);
    if (value.is_object() && !value.empty()) {
      page.element("h3", title_of(key));
      add_object(value, depth + 1, page);
    }
  }
}

}  // namespace

void add_plain_section(const PageDocuments& documents, HtmlWriter& page) {
  if (documents.find("report") != nullptr) return;  // whose sections draw what these say
  for (const std::string_view name : kPlainDocuments) {
    const OrderedJson* const document = documents.find(name);
    if (document == nullptr) continue;
    open_section(name, title_of(name), page);
    add_object(*document, 0, page);
    page.close();
  }
}

}  // namespace doctor
