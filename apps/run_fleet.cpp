#include "base/try.h"
#include "command_line/option_values.h"
#include "commands.h"
#include "documents.h"
#include "fleet/fleet.h"
#include "fleet/fleet_pages.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "reading_sandbox.h"
#include "report/html/html_page.h"

namespace doctor {
namespace {

std::string fleet_page(const Fleet& fleet, const OutputOptions& output, const Request& request) {
  constexpr std::size_t kShownEntries = 10;  // of each ranking, for a person
  constexpr std::size_t kShownOnPage = 50;
  const std::optional<std::size_t> top = request.number("top");
  const std::optional<double> price = parse_price(request.text("price"));
  const FleetView all = {top.value_or(0), price};
  const FleetView some = {top.value_or(kShownEntries), price};
  const TextStyle style = style_of(output, {});
  switch (output.format()) {
    case OutputFormat::json:
      return to_text(fleet_json(fleet, all));
    case OutputFormat::html:
      return render_document_html({"fleet", fleet_json(fleet, {top.value_or(kShownOnPage), price})}, "fleet");
    case OutputFormat::csv:
      return render_fleet_csv(fleet, all);
    case OutputFormat::markdown:
      return render_fleet_markdown(fleet, some);
    default:
      return output.quiet ? render_fleet_summary(fleet, style) : render_fleet_text(fleet, some, style);
  }
}

Result<RowGrouping> grouping_of(const Request& request) {
  const GivenValue* const key = request.values.find("group-by");
  return key == nullptr ? RowGrouping() : RowGrouping::parse(key->text, key->where);
}

}  // namespace

Result<int> run_fleet(const Request& request) {
  const std::vector<std::string>& files = request.all("RESULTS");
  if (files.empty()) {
    return fail("fleet needs the files of rows that batch wrote", {}, "see 'tfdata-doctor fleet --help'");
  }
  ASSIGN_OR_RETURN(const RowGrouping grouping, grouping_of(request));
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  RETURN_IF_ERROR(check_output(output.path(), files));
  RETURN_IF_ERROR(enter_sandbox(sandbox_choice(request), {.inputs = files, .outputs = {output.path()}}));
  ASSIGN_OR_RETURN(const Fleet fleet, read_fleet(files, grouping));
  RETURN_IF_ERROR(print_page(fleet_page(fleet, output, request), output.path(), output.format() == OutputFormat::json));
  return fleet.has_verdict() ? kExitClean : kExitNothing;
}

}  // namespace doctor
