// `config show`: every setting with where it comes from.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "base/try.h"
#include "command_line/setting_sources.h"
#include "commands.h"
#include "config/config.h"
#include "documents.h"
#include "process/output.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/json_page.h"
#include "text/text_table.h"

namespace doctor {
namespace {

/// The value as TOML would have it.
struct ValueText {
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return fmt::format("\"{}\"", escape_for_terminal(value)); }
};

struct ValueJson {
  OrderedJson operator()(std::monostate) const { return nullptr; }
  template <typename Value>
  OrderedJson operator()(const Value& value) const {
    return value;
  }
};

/// What fits beside each other on a page of that width.
std::string settings_table(const std::vector<SettingInForce>& settings, const std::vector<std::string>& assignments,
                           PageWidth page) {
  std::vector<TextRow> rows;
  for (std::size_t index = 0; index < settings.size(); ++index) {
    rows.push_back({assignments[index], escape_for_terminal(settings[index].source)});
  }
  return text_table({{"setting", Align::left, Fit::shorten}, {"source", Align::left, Fit::shorten}}, rows, page,
                    /*has_titles=*/false);
}

std::string settings_text(const std::vector<SettingInForce>& settings, const std::optional<std::string>& config_file,
                          PageWidth page) {
  std::size_t width = 0;
  std::vector<std::string> assignments;
  for (const SettingInForce& setting : settings) {
    assignments.push_back(
        fmt::format("{} = {}", escape_for_terminal(setting.key), std::visit(ValueText(), setting.value)));
    // A long reason must not push the other sources off the screen.
    constexpr std::size_t kWidest = 60;
    width = std::max(width, std::min(kWidest, column_count(assignments.back())));
  }
  std::string text =
      config_file ? fmt::format("configuration file: {}\n", escape_for_terminal(*config_file))
                  : fmt::format("configuration file: none ({} from the working directory upward)\n", kConfigFileName);
  if (page) return fitted_lines(text, page, 2) + settings_table(settings, assignments, page);
  for (std::size_t index = 0; index < settings.size(); ++index) {
    text += fmt::format("{:<{}}  {}\n", assignments[index], width, escape_for_terminal(settings[index].source));
  }
  return text;
}

std::string settings_json(const std::vector<SettingInForce>& settings, const std::optional<std::string>& config_file,
                          PageWidth /*page*/) {
  OrderedJson list = OrderedJson::array();
  for (const SettingInForce& setting : settings) {
    list.push_back(
        {{"key", setting.key}, {"value", std::visit(ValueJson(), setting.value)}, {"source", setting.source}});
  }
  OrderedJson page = {{"schema", "tfdata-doctor.config/1"}, {"tool", tool_json()}};
  page["file"] = or_null(config_file);
  page["settings"] = std::move(list);
  return to_text(page);
}

using SettingsRenderer = std::string(const std::vector<SettingInForce>& settings,
                                     const std::optional<std::string>& config_file, PageWidth page);

constexpr std::array<FormatRow<SettingsRenderer>, 2> kSettingsFormats = {
    {{OutputFormat::text, settings_text}, {OutputFormat::json, settings_json}}};

}  // namespace

std::vector<OutputFormat> settings_formats() {
  return formats_in(kSettingsFormats);
}

Result<int> run_config(const Request& request) {
  RETURN_IF_ERROR(word_argument(request, "ACTION"));
  const std::vector<SettingInForce> settings = settings_in_force(request);
  const Result<OutputOptions> output = output_options(request);
  // Settings may name a format that this page does not have; it is shown as text then.
  const GivenValue* const format = request.values.find("format");
  const bool is_for_others = format != nullptr && format->origin != Origin::command_line;
  if (!output && !is_for_others) return Unexpected(output.error());
  const OutputFormat shown = output ? output->format() : OutputFormat::text;
  const PageWidth page = output ? page_width(*output) : PageWidth();
  return print_page(row_of(kSettingsFormats, shown).render(settings, request.config_file, page), request.text("output"),
                    shown == OutputFormat::json);
}

}  // namespace doctor
