#include "report/page.h"

#include "report/json_values.h"

namespace doctor {
namespace {

constexpr std::array<const Page*, 12> kPages = {&kPacePage,  &kOverviewPage, &kInputPage,    &kTreePage,
                                                &kCallsPage, &kTimelinePage, &kAutotunePage, &kHostsPage,
                                                &kStepsPage, &kOpsPage,      &kKernelsPage,  &kMemoryPage};

}  // namespace

Result<std::string> Page::text_of(const PageInput& input) const {
  if (text != nullptr) return text(input);
  return rows(input).map([&](const PageRows& shown) { return rows_text(shown, input.options.style.width); });
}

Result<OrderedJson> Page::document_of(const PageInput& input) const {
  if (document != nullptr) return document(input);
  return rows(input).map([&](const PageRows& shown) { return table_page_json(shown, schema); });
}

std::span<const Page* const> pages() {
  return kPages;
}

std::vector<std::string_view> page_names() {
  std::vector<std::string_view> names;
  for (const Page* const page : kPages) names.push_back(page->name);
  return names;
}

const Page* find_page(std::string_view name) {
  const auto* const found = std::ranges::find(kPages, name, [](const Page* page) { return page->name; });
  return found == kPages.end() ? nullptr : *found;
}

Result<PageRows> chosen_rows(const ShowOptions& options, PageRows rows) {
  if (!rows.row_count) rows.row_count = rows.table.rows.size();
  return choose_rows(rows.table, {options.sort, options.most_rows()}).map([&] { return std::move(rows); });
}

}  // namespace doctor
