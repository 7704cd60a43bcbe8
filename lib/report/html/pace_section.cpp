#include <algorithm>
#include <string>

#include "report/html/pace_picture.h"
#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/pace_page.h"
#include "text/document_keys.h"
#include "text/numbers.h"

namespace doctor {

void add_pace_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* holder = documents.find("report");
  if (holder == nullptr) holder = documents.find("pace");
  const OrderedJson* const pace = holder == nullptr ? nullptr : find_value(*holder, key::pace);
  if (pace == nullptr) return;
  open_section("pace", "What sets the pace", page);
  const OrderedJson& bars = list_of(*pace, key::bars);
  const bool is_in_turn =
      std::adjacent_find(bars.begin(), bars.end(), [](const OrderedJson& one, const OrderedJson& next) {
        return number_of(one, key::worker) == number_of(next, key::worker);
      }) != bars.end();
  add_pace_picture(*pace, page);
  std::string reading = "Each bar is the time that a stage needs for one step. " +
                        describe_pace(number_of(*pace, key::step_us), number_of(*pace, key::longest_us), is_in_turn);
  if (const double left_out = number_of(*pace, key::bars_left_out); left_out > 0) {
    reading += " Not drawn: " + format_count(static_cast<std::size_t>(left_out), "stage") + " with next to no time.";
  }
  page.element("p", {{"class", "muted"}}, reading);
  add_table(table_of("what each stage needs for one step", bars), page);
  page.close();
}

}  // namespace doctor
