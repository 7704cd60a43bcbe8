// `config show`: every setting with where it comes from.

#include "command_line/command_line.h"
#include "command_line/option_table.h"
#include "command_line/option_values.h"
#include "commands.h"
#include "config/config.h"
#include "diagnose/budgets.h"

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

using Value = decltype(SettingInForce::value);

constexpr std::string_view kDefault = "default";

Value value_of(const OptionEntry& option, const std::string& text) {
  if (option.kind == ValueKind::none) return text == "true";
  if (text.empty()) return {};
  if (option.kind == ValueKind::number) return static_cast<double>(*parse_number(text));
  if (option.kind == ValueKind::factor) return *parse_factor(text);
  return text;
}

std::string key_of(const Budget& budget) {
  const std::string_view name = name_of(budget.kind);
  return budget.pipeline.empty() ? fmt::format("budgets.{}", name)
                                 : fmt::format("budgets.pipeline '{}' {}", budget.pipeline, name);
}

std::string describe(const Suppression& suppression) {
  std::string text = suppression.rule;
  if (!suppression.subject.empty()) text += ":" + suppression.subject;
  if (suppression.expires) text += " until " + to_date(*suppression.expires);
  return text + ", " + suppression.reason;
}

void add_options(const Request& request, std::vector<SettingInForce>& list) {
  for (const OptionEntry* option : options_of(Command::config)) {
    if (!is_plain(*option) || option->key.empty()) continue;
    const GivenValue* const given = request.values.find(option->name);
    list.push_back({std::string(option->key),
                    value_of(*option, given != nullptr ? given->text : std::string(option->default_text)),
                    given != nullptr ? given->where : std::string(kDefault)});
  }
}

/// `min-gain` is a threshold, too, which may have been set by its own name.
void take_min_gain(const Request& request, std::vector<SettingInForce>& list) {
  for (const ThresholdSetting& setting : request.thresholds) {
    if (setting.rule != "input-bound" || setting.name != "min_gain") continue;
    const auto entry =
        std::ranges::find_if(list, [](const SettingInForce& candidate) { return candidate.key == "min-gain"; });
    if (entry != list.end()) *entry = {entry->key, setting.value, setting.source};
  }
}

void add_thresholds(const Request& request, std::vector<SettingInForce>& list) {
  for (const ThresholdSetting& setting : request.thresholds) {
    const std::string key = fmt::format("thresholds.{}.{}", setting.rule, setting.name);
    // What counts more comes later.
    std::erase_if(list, [&](const SettingInForce& earlier) { return earlier.key == key; });
    list.push_back({key, setting.value, setting.source});
  }
}

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

std::vector<SettingInForce> settings_in_force(const Request& request) {
  std::vector<SettingInForce> list;
  add_options(request, list);
  take_min_gain(request, list);
  add_thresholds(request, list);
  for (const Budget& budget : budgets_in_force(request.budgets)) {
    const bool is_rule = budget.kind == BudgetKind::forbidden_rule;
    list.push_back({key_of(budget), is_rule ? Value(budget.rule) : Value(budget.limit), budget.source});
  }
  for (const Suppression& suppression : request.suppressions) {
    list.push_back({"suppress", describe(suppression), suppression.source});
  }
  return list;
}

}  // namespace doctor
