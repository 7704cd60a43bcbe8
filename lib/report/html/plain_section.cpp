#include "report/html/page_parts.h"
#include "report/html/page_sections.h"

namespace doctor {

void add_plain_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const text = documents.find("text");
  if (text == nullptr || !text->is_string()) return;
  const std::string title = title_of(documents.all().front().name);
  open_section("text", title, page);
  page.open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", title}});
  page.open("pre", {{"class", "page"}});
  page.lines(text->get_ref<const std::string&>());
  page.close();
  page.close();
  page.close();
}

}  // namespace doctor
