#include "report/json_values.h"
#include "report/rule_pages.h"

namespace doctor {
namespace {

/// Whether a line of Markdown goes on with the paragraph or the list item above it.
bool continues(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos) return false;
  constexpr std::string_view kStarts = "#-*|>";
  const bool is_numbered = line.find(". ") < begin + 3 && line[begin] >= '0' && line[begin] <= '9';
  return kStarts.find(line[begin]) == std::string_view::npos && !is_numbered;
}

/// Markdown with its paragraphs broken anew; code stays as it is.
std::string refilled(std::string_view page, std::size_t width) {
  std::string text;
  std::string paragraph;
  const auto end_paragraph = [&] {
    const bool is_item = !continues(paragraph);
    if (!paragraph.empty()) text += fitted_lines(paragraph + "\n", width, is_item ? 2 : 0);
    paragraph.clear();
  };
  bool is_code = false;
  for (const std::string_view line : split_lines(page)) {
    const bool is_fence = line.starts_with("```");
    const bool goes_on = !is_code && !is_fence && !paragraph.empty() && !paragraph.starts_with('#') && continues(line);
    if (goes_on) {
      paragraph.append(" ").append(line.substr(line.find_first_not_of(' ')));
      continue;
    }
    end_paragraph();
    if (is_code || is_fence || line.empty()) {
      text.append(line) += '\n';
    } else {
      paragraph = line;
    }
    is_code = is_code != is_fence;
  }
  end_paragraph();
  return text;
}

OrderedJson rule_json(const CatalogEntry& entry, const ThresholdSettings& settings, bool with_page) {
  const ThresholdValues in_force = values_in_force(entry.rule.id, entry.rule.thresholds, settings);
  OrderedJson thresholds = array_of(entry.rule.thresholds, [&](const Threshold& threshold) -> OrderedJson {
    return {
        {key::name, threshold.name}, {key::value, in_force[threshold.name]}, {key::default_, threshold.value},
        {key::unit, threshold.unit}, {key::meaning, threshold.meaning},
    };
  });
  OrderedJson json = {{key::rule, entry.rule.id}, {key::summary, entry.rule.summary}};
  json[key::follows] = references_json(entry.rule.follows);
  json[key::thresholds] = std::move(thresholds);
  if (with_page) json[key::page] = entry.page;
  return json;
}

}  // namespace

std::string render_rules_text(std::span<const CatalogEntry> catalog, PageWidth width) {
  std::vector<TextRow> rows;
  for (const CatalogEntry& entry : catalog)
    rows.push_back({std::string(entry.rule.id), std::string(entry.rule.summary)});
  return text_table({{}, {"", Align::left, Fit::wrap}}, rows, width);
}

std::string render_rule_text(const CatalogEntry& entry, const ThresholdSettings& settings, PageWidth width) {
  const Rule& rule = entry.rule;
  std::string text = width ? refilled(entry.page, *width) : std::string(entry.page);
  if (!text.ends_with('\n')) text += '\n';
  if (!rule.follows.empty()) text += "\n## Read more\n";
  for (const Reference& reference : rule.follows) {
    text += fitted_lines(fmt::format("- {}\n", reference.title), width, 2) + fmt::format("  {}\n", reference.url);
  }
  if (rule.thresholds.empty()) return text;
  const ThresholdValues in_force = values_in_force(rule.id, rule.thresholds, settings);
  text += "\n## Thresholds\n";
  TextPage page(/*color=*/false, width);
  for (const Threshold& threshold : rule.thresholds) {
    const double value = in_force[threshold.name];
    std::string number = format_quantity(value, threshold.unit);
    if (value != threshold.value)
      number += fmt::format(" (default {})", format_quantity(threshold.value, threshold.unit));
    text += fmt::format("\n{} = {}\n", threshold.name, number);
    page.row("", threshold.meaning);
    text += page.take();
  }
  const Threshold& first = rule.thresholds.front();
  return text + fmt::format("\nSet one with --set {}.{}={:g}\n", rule.id, first.name, in_force[first.name]);
}

OrderedJson rules_json(std::span<const CatalogEntry> catalog, const ThresholdSettings& settings, bool with_pages) {
  OrderedJson rules =
      array_of(catalog, [&](const CatalogEntry& entry) { return rule_json(entry, settings, with_pages); });
  OrderedJson page = begun_page("tfdata-doctor.rules/1");
  page[key::rules] = std::move(rules);
  return page;
}

}  // namespace doctor
