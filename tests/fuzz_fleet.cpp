// Any bytes as files of rows: what they come to does not hang on how rows are spread over files or added up in between,
// and every page of it is what its format says.

#include <cstddef>
#include <cstdint>
#include <string>

#include "fleet/fleet.h"
#include "fleet/fleet_pages.h"
#include "fuzzing.h"
#include "report/html/html_page.h"

namespace {

using namespace doctor;

void render(const Fleet& fleet, const FleetView& view, unsigned document) {
  switch (document) {
    case 0:
      return expect_clean_text(render_fleet_text(fleet, view, {}));
    case 1:
      return expect_clean_text(render_fleet_summary(fleet, {}));
    case 2:
      return expect_clean_text(render_fleet_markdown(fleet, view));
    case 3:
      return expect_clean_text(render_fleet_csv(fleet, view));
    case 4:
      return expect_html(render_document_html("fleet", fleet_json(fleet, view), "fleet"));
    default:
      return expect_json(to_text(fleet_json(fleet, view)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzBytes bytes(data, size);
  const unsigned choice = bytes.byte();
  const std::string_view rows = bytes.rest();
  const FuzzFile file(rows);
  const Result<Fleet> fleet = read_fleet({file.path()});
  if (!fleet) {
    expect(!fleet.error().what.empty(), "an error without words");
    return 0;
  }
  FleetView view{choice % 4, {}};
  if ((choice & 4U) != 0) view.price = choice / 16.0;
  render(*fleet, view, choice / 8 % 8);
  const Result<std::string> sums = read_fleet_parts({file.path()});
  expect(sums.has_value(), "rows that make a fleet, and no sums");
  const FuzzFile sums_file(*sums);
  const Result<Fleet> added = read_fleet({sums_file.path()});
  expect(added && fleet_json(*added, {}) == fleet_json(*fleet, {}), "the sums come to something else");
  if (rows.find("fleet-part/1") != std::string_view::npos) return 0;  // which two files may not have
  // At the end of a line the file may end, too.
  const std::size_t end = rows.find('\n', rows.size() / 2);
  if (end == std::string_view::npos || rows.starts_with("\x1f\x8b")) return 0;
  const FuzzFile first(rows.substr(0, end + 1));
  const FuzzFile second(rows.substr(end + 1));
  if (rows.substr(end + 1).starts_with("\x1f\x8b")) return 0;  // which is another file, then
  const Result<Fleet> parts = read_fleet({first.path(), second.path()});
  expect(parts.has_value(), "rows that cannot be read in two files");
  expect(parts->rows == fleet->rows && parts->lost_ns == fleet->lost_ns, "rows in two files come to something else");
  return 0;
}
