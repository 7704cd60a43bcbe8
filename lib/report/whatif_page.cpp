#include "report/whatif_page.h"

#include "report/json_values.h"
#include "words/throughput_words.h"

namespace doctor {
namespace {

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  for (const std::string_view line : split_lines(text)) widest = std::max(widest, column_count(line));
  return widest;
}

/// With the words for it: those of two caches may differ.
using ConditionInWords = std::pair<Condition, std::string>;

/// A table of fixes: its rows, and on what they depend.
class FixTable {
 public:
  explicit FixTable(const WhatIfHost& host) : host_(host) {
    columns_ = {{"", Align::right}, {"fix", Align::left, Fit::shorten}, {"gain"}};
    if (host_.has_open_gap()) columns_.push_back({"closes of the gap"});
    columns_.push_back({"steps/s", Align::left, Fit::keep, 2});
    columns_.push_back({"then limited by", Align::left, Fit::shorten, 1});
    columns_.push_back({"--fix", Align::left, Fit::paste});
  }

  void add(const std::string& label, std::string_view words, std::string spec, const PredictedFixes& fixes) {
    const Prediction& prediction = fixes.prediction;
    if (prediction.condition != Condition::none) {
      std::string& labels = conditions_[{prediction.condition, condition_words(prediction)}];
      if (!label.empty()) labels += (labels.empty() ? "" : ", ") + label;
    }
    TextRow row = {std::string(kIndent) + label, escape_for_terminal(words), gain_range(host_, prediction)};
    if (const std::optional<double> closes = host_.closes(fixes)) row.push_back(format_share(*closes));
    row.push_back(rate_range(prediction));
    row.push_back(escape_for_terminal(limit_words(host_, prediction.then_limited_by, fixes.fixes)));
    row.push_back(std::move(spec));
    rows_.push_back(std::move(row));
  }

  bool is_empty() const { return rows_.empty(); }

  std::string text(const TextStyle& style) const {
    const PageWidth width = style.width;
    // The best one comes first.
    const std::optional<std::size_t> best =
        style.color && !rows_.empty() ? std::optional<std::size_t>(0) : std::nullopt;
    const std::string table = text_table(columns_, rows_, width, /*has_titles=*/true, best);
    return !width || widest_line(text_table(columns_, rows_, {})) <= *width ? table : list(*width);
  }

  std::string markdown() const {
    DataTable table;
    for (const TextColumn& column : columns_) {
      const ColumnKind kind = column.fit == Fit::paste ? ColumnKind::any : ColumnKind::text;
      table.columns.push_back({.key = {}, .title = column.title, .kind = kind, .fit = Fit::keep});
    }
    for (const TextRow& row : rows_) {
      table.rows.emplace_back(row.begin(), row.end()).front() = row.front().substr(kIndent.size());
    }
    return table_markdown(table);
  }

  /// "if 2, 3: what is cached fits in memory".
  std::vector<std::string> conditions() const {
    std::vector<std::string> lines;
    for (const auto& [condition, labels] : conditions_) {
      lines.push_back(fmt::format("if{}{}: {}", labels.empty() ? "" : " ", labels, condition.second));
    }
    return lines;
  }

 private:
  static constexpr std::string_view kIndent = "  ";

  /// Where the columns do not fit: what to do in a line, under it what it brings. Nothing is cut.
  std::string list(std::size_t width) const {
    std::string text;
    for (const TextRow& row : rows_) {
      // label, words, gain, perhaps the part of the gap, rate, limit, what to paste
      const std::string label = row[0].empty() ? std::string("  ") : row[0];
      const std::string gap = host_.has_open_gap() ? fmt::format(", closes {} of the gap", row[3]) : std::string();
      const std::size_t rate = row.size() - 3;
      text += fitted_lines(fmt::format("{}  {}", label, row[1]), width, 5) + "\n";
      text += fitted_lines(fmt::format("     {}: {} steps/s{}", row[2], row[rate], gap), width, 5) + "\n";
      text += fitted_lines("     then limited by " + row[rate + 1], width, 5) + "\n";
      if (!row[rate + 2].empty()) text += "     --fix " + row[rate + 2] + "\n";
    }
    return text;
  }

  const WhatIfHost& host_;
  std::vector<TextColumn> columns_;
  std::vector<TextRow> rows_;
  std::map<ConditionInWords, std::string> conditions_;  ///< with the labels of their rows
};

/// The page as it grows, for a terminal or in Markdown. Each line is foreign text until it is added.
struct WhatIfPage {
  const TextStyle& style;
  bool is_markdown;
  std::string text = {};

  void line(std::string_view foreign) {
    text += is_markdown ? escape_for_markdown(foreign) + "\n\n"
                        : fitted_lines(escape_for_terminal(foreign), style.width, 2) + "\n";
  }
  void table(const FixTable& table) {
    text += is_markdown ? table.markdown() + "\n" : table.text(style);
    for (const std::string& condition : table.conditions()) line(condition);
  }
  /// Between two parts.
  void gap() { text += is_markdown ? "" : "\n"; }
};

/// To paste after --fix.
std::string pasted_spec(const WhatIfHost& host, std::span<const Fix> fixes) {
  return joined(fixes, " --fix ", [&](const Fix& fix) { return shell_word(to_string(fix, host.measured())); });
}

void add_asked_fixes(const WhatIfHost& host, const PredictedFixes& asked, WhatIfPage& page) {
  FixTable table(host);
  table.add("", words_of(host, asked.fixes), pasted_spec(host, asked.fixes), asked);
  page.gap();
  page.table(table);
}

std::string plan_outcome(const WhatIfHost& host, const FixPlan& plan) {
  const std::string goal = "your model waits less than 5% of the time for its input";
  const bool has_steps = !plan.steps.empty();
  if (plan.is_enough) return has_steps ? "with all of them " + goal : goal + ": nothing to do";
  const std::string rest = has_steps ? "that is not enough" : "no fix gains enough";
  if (plan.enough_cores) {
    const std::string cores = format_count(static_cast<std::uint64_t>(*plan.enough_cores), "core");
    return fmt::format("{}: with {} as well, {}", rest, cores, goal);
  }
  const Bottleneck& limit = has_steps ? plan.steps.back().prediction.then_limited_by : host.predicted.limited_by;
  const std::span<const Fix> fixes = has_steps ? std::span(plan.steps.back().fixes) : std::span<const Fix>();
  return fmt::format("{}{}; here the limit is {}", rest, host.knows_cores() ? ", whatever the number of cores" : "",
                     limit_words(host, limit, fixes));
}

void add_plan(const WhatIfHost& host, const FixPlan& plan, WhatIfPage& page) {
  page.gap();
  FixTable table(host);
  for (const PredictedFixes& step : plan.steps) {
    const std::span<const Fix> added(&step.fixes.back(), 1);
    table.add(fmt::format("{}", step.fixes.size()), words_of(host, step.fixes.back()), pasted_spec(host, added), step);
  }
  if (table.is_empty()) return page.line("plan: " + plan_outcome(host, plan));
  page.line("plan: one after another, each with those before it");
  page.table(table);
  page.line(plan_outcome(host, plan));
}

/// "1 + 3": fixes that have no row of their own are spelled out.
std::string numbers_of(const WhatIfHost& host, const PredictedFixes& together,
                       const std::vector<const PredictedFixes*>& shown) {
  return joined(together.fixes, " + ", [&](const Fix& fix) {
    const auto row =
        std::ranges::find_if(shown, [&](const PredictedFixes* single) { return single->fixes.front() == fix; });
    return row == shown.end() ? to_string(fix, host.measured()) : fmt::format("{}", row - shown.begin() + 1);
  });
}

void add_fixes(const WhatIfHost& host, WhatIfPage& page) {
  // A screen has room for as many; all are for -v and programs.
  constexpr std::size_t kMostPredictions = 8;
  const Detail detail = page.style.detail;
  std::vector<const PredictedFixes*> shown;
  std::string without_gain;
  std::size_t left_out = 0;
  for (const PredictedFixes& fixes : host.predicted.fixes) {
    if (detail == Detail::full || (host.is_worth_it(fixes) && shown.size() < kMostPredictions)) {
      shown.push_back(&fixes);
    } else if (host.is_worth_it(fixes)) {
      ++left_out;
    } else {
      without_gain += (without_gain.empty() ? "" : " ") + shell_word(spec_of(host, fixes, ""));
    }
  }
  FixTable table(host);
  std::size_t number = 0;
  for (const PredictedFixes* fixes : shown) {
    table.add(fmt::format("{}", ++number), words_of(host, fixes->fixes), pasted_spec(host, fixes->fixes), *fixes);
  }
  for (const PredictedFixes& fixes : host.predicted.together) {
    if (detail != Detail::full && !host.is_worth_it(fixes)) continue;
    table.add(fmt::format("{}", ++number), numbers_of(host, fixes, shown) + " together", pasted_spec(host, fixes.fixes),
              fixes);
  }
  page.gap();
  std::string rest = "no gain";
  if (table.is_empty()) {
    rest = fmt::format("no fix gains {:.3g}x or more", host.view.min_gain);
  } else {
    page.table(table);
  }
  if (left_out > 0) page.line(fmt::format("and {} more: -v shows all", left_out));
  if (!without_gain.empty()) rest += ": " + without_gain;
  if (table.is_empty() || !without_gain.empty()) page.line(rest);
}

void add_host(const WhatIfHost& host, WhatIfPage& page) {
  if (host.view.hosts.size() > 1) {
    if (page.is_markdown) page.text += "### ";
    page.line(host_title(host));
  }
  if (!host.has_model()) {
    return page.line(fmt::format("nothing can be predicted: {}", describe(*host.predicted.why_none)));
  }
  page.line(base_line(host));
  if (page.style.detail == Detail::verdict) return;
  page.line(ceiling_line(host));
  if (host.gap()) page.line(gap_line(host));
  for (const std::string& caution : whatif_cautions(host)) page.line(caution);
  const bool has_asked = !host.view.request.fixes.empty();
  if (host.predicted.asked) add_asked_fixes(host, *host.predicted.asked, page);
  if (has_asked && !host.predicted.asked) page.line("the pipelines of this host cannot be changed so");
  if (host.predicted.plan) add_plan(host, *host.predicted.plan, page);
  if (!has_asked && !host.predicted.plan && host.predicted.tells_gains) add_fixes(host, page);
}

std::string whatif_page(const WhatIfView& view, const TextStyle& style, bool is_markdown) {
  constexpr std::size_t kMostHosts = 4;
  const std::vector<WhatIfHost> hosts = worst_hosts_first(view);
  const std::size_t shown = style.detail == Detail::full ? hosts.size() : std::min(hosts.size(), kMostHosts);
  WhatIfPage page{style, is_markdown};
  for (std::size_t index = 0; index < shown; ++index) {
    if (index > 0 && style.detail != Detail::verdict) page.gap();
    add_host(hosts[index], page);
  }
  if (style.detail == Detail::verdict) return page.text;
  if (shown < hosts.size()) {
    page.gap();
    page.line(fmt::format("{} not shown: -v shows all", format_count(hosts.size() - shown, "more host")));
  }
  const bool has_model = std::ranges::any_of(hosts, [](const auto& host) { return host.has_model(); });
  if (!has_model) return page.text;
  page.gap();
  page.line(fmt::format(
      "assumed: {}, the same data, the steady state; nine times out of ten a rate is in its range. See docs/whatif.md",
      view.request.cores ? "otherwise the same machine" : "the same machine"));
  return page.text;
}

}  // namespace

std::string render_whatif_text(const WhatIfView& view, const TextStyle& style) {
  return whatif_page(view, style, /*is_markdown=*/false);
}

std::string render_whatif_markdown(const WhatIfView& view, const TextStyle& style) {
  return whatif_page(view, style, /*is_markdown=*/true);
}

std::string render_whatif_csv(const WhatIfView& view) {
  struct Row {
    const WhatIfHost& host;
    const PredictedFixes& fixes;
    const Prediction& prediction;
  };
  std::vector<Field<Row>> fields = {
      {{"pipeline", "pipeline", ColumnKind::text}, [](const Row& row) { return text_cell(id_of(row.host)); }},
      {{"fix", "fix", ColumnKind::text}, [](const Row& row) { return spec_of(row.host, row.fixes, " + "); }},
      {{"rule", "rule", ColumnKind::text}, [](const Row& row) { return text_cell(row.fixes.rule); }},
      {{"estimate", "steps/s", ColumnKind::number}, [](const Row& row) { return row.prediction.estimate; }},
      {{"low", "low", ColumnKind::number}, [](const Row& row) { return row.prediction.low; }},
      {{"high", "high", ColumnKind::number}, [](const Row& row) { return row.prediction.high; }},
      {{"gain", "gain", ColumnKind::number}, [](const Row& row) { return row.host.gain_of(row.prediction.estimate); }},
      {{"gain_low", "gain, low", ColumnKind::number},
       [](const Row& row) { return row.host.gain_of(row.prediction.low); }},
      {{"gain_high", "gain, high", ColumnKind::number},
       [](const Row& row) { return row.host.gain_of(row.prediction.high); }},
      {{"condition", "if", ColumnKind::text},
       [](const Row& row) { return text_cell(std::string(to_word(row.prediction.condition))); }},
      {{"then_limited_by_resource", "then limited by", ColumnKind::text},
       [](const Row& row) { return std::string(to_word(row.prediction.then_limited_by.resource)); }},
      {{"then_limited_by_iterator", "in", ColumnKind::text}, [](const Row& row) {
         const IteratorId limit = iterator_at(row.host, row.prediction.then_limited_by);
         return limit == kNoIterator ? Cell() : Cell(row.host.measured().iterators[limit].long_name);
       }}};
  if (view.ideal != nullptr) {
    fields.push_back({{"closes", "closes of the gap", ColumnKind::number},
                      [](const Row& row) { return cell_or_unknown(row.host.closes(row.fixes)); }});
  }
  const std::vector<WhatIfHost> hosts = worst_hosts_first(view);
  std::vector<Row> rows;
  for (const WhatIfHost& host : hosts) {
    const auto add = [&](const PredictedFixes& fixes) { rows.push_back({host, fixes, fixes.prediction}); };
    if (!host.has_model()) continue;
    if (host.predicted.asked) add(*host.predicted.asked);
    if (host.predicted.asked || !view.request.fixes.empty()) continue;
    for (const std::vector<PredictedFixes>* list : {&host.predicted.fixes, &host.predicted.together}) {
      std::ranges::for_each(*list, add);
    }
  }
  return table_csv(table_of(fields, rows));
}

}  // namespace doctor
