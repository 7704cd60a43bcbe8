#include "command_line/option_values.h"
#include "commands.h"
#include "fleet/fleet.h"
#include "fleet/fleet_pages.h"
#include "report/html/html_page.h"

namespace doctor {
namespace {

/// How a fleet is printed, and how many entries of each ranking where nobody asked for a number.
struct FleetFormat {
  OutputFormat format;
  std::size_t entries;  ///< 0: all
  std::string (*render)(const Fleet& fleet, const FleetView& view, const OutputOptions& output);
};

constexpr std::size_t kAll = 0;
constexpr std::size_t kShownEntries = 10;  // to a person
constexpr std::size_t kShownOnPage = 50;

constexpr std::array<FleetFormat, 5> kFleetFormats = {
    {{OutputFormat::text, kShownEntries,
      [](const Fleet& fleet, const FleetView& view, const OutputOptions& output) {
        const TextStyle style = style_of(output, {});
        return output.quiet ? render_fleet_summary(fleet, style) : render_fleet_text(fleet, view, style);
      }},
     {OutputFormat::json, kAll,
      [](const Fleet& fleet, const FleetView& view, const OutputOptions&) { return to_text(fleet_json(fleet, view)); }},
     {OutputFormat::html, kShownOnPage,
      [](const Fleet& fleet, const FleetView& view, const OutputOptions&) {
        return render_document_html("fleet", fleet_json(fleet, view), "fleet");
      }},
     {OutputFormat::csv, kAll,
      [](const Fleet& fleet, const FleetView& view, const OutputOptions&) { return render_fleet_csv(fleet, view); }},
     {OutputFormat::markdown, kShownEntries, [](const Fleet& fleet, const FleetView& view, const OutputOptions&) {
        return render_fleet_markdown(fleet, view);
      }}}};

std::string fleet_page(const Fleet& fleet, const OutputOptions& output, const Request& request) {
  const FleetFormat& format = row_of(kFleetFormats, output.format());
  const FleetView view = {request.number("top").value_or(format.entries), parse_price(request.text("price"))};
  return format.render(fleet, view, output);
}

Result<RowGrouping> grouping_of(const Request& request) {
  const GivenValue* const key = request.values.find("group-by");
  return key == nullptr ? RowGrouping() : RowGrouping::parse(key->text, key->where);
}

/// What other runs of fleet add up.
Result<int> print_parts(const Request& request, const std::vector<std::string>& files, const RowGrouping& grouping) {
  if (request.given("format"))
    return fail("is for pages, and sums have a form of their own", "--format", "leave it out");
  const std::string output = request.text("output");
  RETURN_IF_ERROR(check_output(output, files));
  RETURN_IF_ERROR(enter_sandbox(sandbox_choice(request), {.inputs = files, .outputs = {output}}));
  return print_page(read_fleet_parts(files, grouping), output, true);
}

}  // namespace

std::vector<OutputFormat> fleet_formats() {
  return formats_in(kFleetFormats);
}

Result<int> run_fleet(const Request& request) {
  const std::vector<std::string>& files = request.all("RESULTS");
  if (files.empty()) {
    return fail("fleet needs the files of rows that batch wrote", {}, "see 'tfdata-doctor fleet --help'");
  }
  ASSIGN_OR_RETURN(const RowGrouping grouping, grouping_of(request));
  if (request.is_set("partial")) return print_parts(request, files, grouping);
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  RETURN_IF_ERROR(check_output(output.path(), files));
  RETURN_IF_ERROR(enter_sandbox(sandbox_choice(request), {.inputs = files, .outputs = {output.path()}}));
  ASSIGN_OR_RETURN(const Fleet fleet, read_fleet(files, grouping));
  RETURN_IF_ERROR(print_page(fleet_page(fleet, output, request), output.path(), output.format() == OutputFormat::json));
  return fleet.has_verdict() ? kExitClean : kExitNothing;
}

}  // namespace doctor
