#include "report/html/page_parts.h"

namespace doctor {
namespace {

constexpr std::size_t kMostDotRows = 25;

/// One side of the comparison, with the names of its documents on the page.
struct Side {
  std::string_view title;
  std::string_view report;
  std::string_view timeline;
};

constexpr std::array<Side, 2> kSides = {
    {{"base", "base_report", "base_timeline"}, {"candidate", "candidate_report", "candidate_timeline"}}};

std::string value_words(const OrderedJson& row, std::string_view key) {
  const double value = number_of(row, key);
  const std::string unit = text_of(row, key::unit);
  if (unit == "us") return format_microseconds(value);
  return unit == "share" ? format_share(value) : format_number(value);
}

/// "1.20 ms \u2192 2.40 ms, x2".
std::string medians_of(const OrderedJson& row) {
  const std::string words = value_words(row, "base_median") + " \u2192 " + value_words(row, "candidate_median");
  const std::optional<double> ratio = known_number(row, key::ratio);
  return ratio ? words + fmt::format(", x{:.3g}", *ratio) : words;
}

std::string describe_times(const OrderedJson& row) {
  std::string words = medians_of(row);
  if (const OrderedJson* const interval = find_value(row, key::interval);
      interval != nullptr && is_true(row, key::judged)) {
    words += fmt::format(" ({:.3g} to {:.3g})", number_of(*interval, key::low), number_of(*interval, key::high));
  }
  if (const std::string reason = text_of(row, key::reason); !reason.empty()) words += "; " + reason;
  return words;
}

/// What the times of the recordings prove to be slower; null: nothing.
const OrderedJson* judged_regression(const OrderedJson& comparison) {
  for (const std::string_view key : {"pipelines", "times"}) {
    for (const OrderedJson& row : list_of(comparison, key)) {
      if (is_true(row, key::regression)) return &row;
    }
  }
  return nullptr;
}

/// The time of a step, the whole of what the comparison is about; of several pipelines the first.
const OrderedJson* step_row(const OrderedJson& comparison) {
  for (const OrderedJson& row : list_of(comparison, key::pipelines)) {
    if (text_of(row, key::kind) == "step") return &row;
  }
  return nullptr;
}

void add_outcome(const OrderedJson& comparison, HtmlWriter& page) {
  const std::string outcome = text_of(comparison, key::outcome);
  const bool is_worse = outcome == "regression";
  const bool is_good = outcome == "no_regression";
  page.open("section", {{"id", "outcome"},
                        {"class", is_worse  ? "verdict bad"
                                  : is_good ? "verdict good"
                                            : "verdict"},
                        {"aria-labelledby", "heading-outcome"}});
  page.open("h1", {{"id", "heading-outcome"}});
  page.element("span", {{"aria-hidden", "true"}}, is_worse ? "\u25b2" : is_good ? "\u25cf" : "\u25c6");
  page.text(" " + headline_of_comparison(comparison));
  page.close();
  if (const OrderedJson* const step = step_row(comparison)) {
    const std::string words = "A step: " + describe_times(*step);
    page.open("p", {{"class", is_true(*step, key::judged) ? "" : "muted"}});
    page.element(is_true(*step, key::judged) ? "strong" : "span", words);
    page.close();
  }
  page.element("p", text_of(comparison, key::summary));
  const OrderedJson& recordings = comparison[key::recordings];
  add_note(fmt::format("{} of the base, {} of the candidate; to judge times, {} of each are needed.",
                       words_of("count", recordings[key::base]), words_of("count", recordings[key::candidate]),
                       words_of("count", recordings[key::needed])),
           page);
  page.close();
}

void add_changes(const OrderedJson& comparison, HtmlWriter& page) {
  const OrderedJson& structure = list_of(comparison, key::structure);
  if (structure.empty()) return;
  open_section("changes", "What changed in the pipeline", page);
  page.open("ul");
  for (const OrderedJson& change : structure) {
    page.open("li");
    if (is_true(change, key::regression)) page.element("span", {{"class", "tag first"}}, "regression");
    page.text(text_of(change, key::message));
    if (!is_true(change, key::certain)) page.element("span", {{"class", "muted"}}, " (perhaps)");
    page.close();
  }
  page.close(2);
}

/// What the structure says of a stage on this side, by long name: what is gone is in the base, what is new is not.
StageTags tags_of(const OrderedJson& comparison, std::string_view side) {
  StageTags tags;
  for (const OrderedJson& change : list_of(comparison, key::structure)) {
    const std::string kind = text_of(change, key::kind);
    const bool is_removed = kind == "iterator_removed";
    const bool is_added = kind == "iterator_added";
    if (kind.starts_with("finding_") || (side == "base" ? is_added : is_removed)) continue;
    tags[text_of(change, key::subject)] = is_removed ? "gone" : is_added ? "new" : title_of(kind);
  }
  return tags;
}

/// Both pipelines with what changed.
void add_drawings(const PageDocuments& documents, const OrderedJson& comparison, HtmlWriter& page) {
  const OrderedJson* const base = find_document(documents, kSides[0].report);
  const OrderedJson* const candidate = find_document(documents, kSides[1].report);
  if (base == nullptr || candidate == nullptr) return;
  if (drawn_pipelines(*base).empty() || drawn_pipelines(*candidate).empty()) return;
  open_section("pipelines", "Both pipelines, in the order of the code", page);
  page.open("div", {{"class", "sides"}});
  for (const Side& side : kSides) {
    const OrderedJson& report = *find_document(documents, side.report);
    const OrderedJson* const pipeline = drawn_pipelines(report).front();
    const auto number = static_cast<std::size_t>(pipeline - &list_of(report, key::pipelines).front());
    page.open("div");
    page.element("h3", side.title);
    draw_pipeline(*pipeline, fmt::format("/{}/pipelines/{}", side.report, number), nullptr,
                  tags_of(comparison, side.title), page);
    page.close();
  }
  page.close(2);
}

const OrderedJson* typical_steps(const OrderedJson* timeline) {
  if (timeline == nullptr || list_of(*timeline, key::pipelines).empty()) return nullptr;
  for (const OrderedJson& window : list_of(list_of(*timeline, key::pipelines).front(), key::windows)) {
    if (text_of(window, key::kind) == "typical_steps") return &window;
  }
  return nullptr;
}

/// Typical steps of both sides on one axis: how much sooner is the same training done.
void add_timelines(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const base = typical_steps(find_document(documents, kSides[0].timeline));
  const OrderedJson* const candidate = typical_steps(find_document(documents, kSides[1].timeline));
  if (base == nullptr || candidate == nullptr) return;
  open_section("lanes", "Typical steps of both, on one axis", page);
  add_note("Of the first recording of each side. One recording proves nothing: the verdict rests on the times below.",
           page);
  const double length = std::max(number_of(*base, key::duration_us), number_of(*candidate, key::duration_us));
  add_timeline_key(page);
  for (const Side& side : kSides) {
    const OrderedJson& timeline = *find_document(documents, side.timeline);
    const OrderedJson& window = *typical_steps(&timeline);
    add_timeline_window(
        list_of(timeline, key::pipelines).front(), fmt::format("/{}/pipelines/0", side.timeline),
        find_document(documents, side.report), window,
        fmt::format("{}: {} in a row", side.title, format_count(list_of(window, key::calls).size(), "step")), length,
        page);
  }
  page.close();
}

constexpr int kDotRowHeight = 24;

/// The recordings of both sides as dots on one axis, from nothing on the left.
void draw_dots(const OrderedJson& row, HtmlWriter& page) {
  double top = 0;
  for (const std::string_view side : {key::base, key::candidate}) {
    for (const OrderedJson& value : list_of(row, side)) top = std::max(top, value.get<double>());
  }
  page.empty("rect", {{"class", "track"}, {"width", "100%"}, {"height", kDotRowHeight}});
  const std::string_view look = is_true(row, key::regression) ? "hot" : is_true(row, key::judged) ? "runs" : "other";
  const auto add_side = [&](std::string_view side, std::string_view dots, int y) {
    for (const OrderedJson& value : list_of(row, side)) {
      const std::string x = percent_of(value.get<double>(), top * 1.05);
      page.empty("circle", {{"class", dots}, {"cx", x}, {"cy", y}, {"r", "4"}});
    }
  };
  add_side(key::base, "s2 hollow", 7);
  add_side(key::candidate, look, 17);
}

/// The rows of a picture: what is slower or faster, then the step, then what costs most.
std::vector<const OrderedJson*> pictured_rows(const OrderedJson& comparison) {
  constexpr std::size_t kMostPictured = 8;
  std::vector<const OrderedJson*> rows;
  for (const std::string_view list : {key::pipelines, key::times}) {
    for (const OrderedJson& row : list_of(comparison, list)) {
      const bool has_dots = !list_of(row, key::base).empty() && !list_of(row, key::candidate).empty();
      if (has_dots && (list == key::times || text_of(row, key::kind) == "step")) rows.push_back(&row);
    }
  }
  std::ranges::stable_sort(rows, {}, [](const OrderedJson* row) {
    const bool is_step = text_of(*row, key::kind) == "step";
    return is_true(*row, key::regression) && !is_step   ? 0
           : text_of(*row, key::difference) == "faster" ? 1
           : is_step                                    ? 2
                                                        : 3;
  });
  rows.resize(std::min(rows.size(), kMostPictured));
  return rows;
}

std::string name_of_row(const OrderedJson& row) {
  std::string name = text_of(row, key::words);
  if (const std::string op = text_of(row, key::op); !op.empty()) name = op + " in " + name;
  return shortened(name) + " (" + title_of(text_of(row, key::kind)) + ")";
}

void add_times(const OrderedJson& comparison, std::string_view key, std::string_view id, std::string_view title,
               HtmlWriter& page) {
  const OrderedJson& rows = list_of(comparison, key);
  if (rows.empty()) return;
  open_section(id, title, page);
  add_note("Each dot is a recording: hollow the base, filled the candidate.", page);
  page.open("ul", {{"class", "bars dots"}});
  for (std::size_t index = 0; index < std::min(rows.size(), kMostDotRows); ++index) {
    page.open("li");
    page.open("span", {{"class", "what"}});
    page.text(name_of_row(rows[index]));
    if (is_true(rows[index], key::regression)) page.element("span", {{"class", "tag"}}, "slower");
    page.close();
    page.open("svg", {{"class", "bar"},
                      {"height", kDotRowHeight},
                      {"role", "img"},
                      {"aria-label", "Each recording as a dot: base above, candidate below"}});
    draw_dots(rows[index], page);
    page.close();
    page.element("span", {{"class", "muted"}}, describe_times(rows[index]));
    page.close();
  }
  page.close();
  add_table(
      std::string(title), {{"what"}, {"base", true}, {"candidate", true}, {"ratio", true}, {"difference"}}, rows,
      [](const OrderedJson& row) -> std::vector<TableCell> {
        const auto ratio = known_number(row, key::ratio);
        return {name_of_row(row), value_words(row, "base_median"), value_words(row, "candidate_median"),
                ratio ? format_number(*ratio) : std::string(), text_of(row, key::difference)};
      },
      page);
  page.close();
}

constexpr std::size_t kMostSeries = 12;

std::string name_of_entry(const OrderedJson& entry, std::size_t number) {
  const std::string label = shortened(text_of(entry, key::label), 40);
  const std::string day = text_of(entry, key::recorded_at).substr(0, 10);
  if (label.empty()) return day.empty() ? fmt::format("version {}", number + 1) : day;
  return day.empty() ? label : label + " of " + day;
}

std::string words_of_time(const OrderedJson& microseconds) {
  return microseconds.is_number() ? format_microseconds(microseconds.get<double>()) : std::string("-");
}

/// The whole step, and of its parts those that changed.
std::vector<const OrderedJson*> drawn_series(const OrderedJson& history) {
  std::vector<const OrderedJson*> drawn;
  for (const OrderedJson& series : list_of(history, key::series)) {
    const std::string metric = text_of(series, key::metric);
    const bool is_part = metric == "iterator_work" || metric == "op_work";
    if (drawn.size() < kMostSeries && (!is_part || !list_of(series, key::changes).empty())) drawn.push_back(&series);
  }
  return drawn;
}

/// "1.20 ms -> 2.40 ms (x2.00) since 3f2a1c of 2026-11-20".
std::string describe_change(const OrderedJson& change, const OrderedJson& entries) {
  const auto at = static_cast<std::size_t>(number_of(change, key::entry));
  const std::string since = at < entries.size() ? name_of_entry(entries[at], at) : fmt::format("version {}", at + 1);
  return fmt::format("{} \u2192 {} (x{:.3g}) since {}", words_of_time(change[key::before_us]),
                     words_of_time(change[key::after_us]), number_of(change, key::ratio), since);
}

/// A dot for each version, and a dashed line where the number becomes another one.
void add_dots(const OrderedJson& series, const OrderedJson& entries, HtmlWriter& page) {
  DotChart chart;
  chart.description = text_of(series, key::words) + ": a dot for each version, the oldest on the left";
  const OrderedJson& values = list_of(series, key::values_us);
  for (std::size_t index = 0; index < values.size(); ++index) {
    const std::string name =
        index < entries.size() ? name_of_entry(entries[index], index) : fmt::format("version {}", index + 1);
    chart.dots.push_back(
        {values[index].is_number() ? values[index].get<double>() : -1, name + ": " + words_of_time(values[index])});
  }
  for (const OrderedJson& change : list_of(series, key::changes)) {
    chart.marks.push_back(static_cast<std::size_t>(number_of(change, key::entry)));
  }
  add_chart(chart, page);
}

void add_table_of_versions(const std::vector<const OrderedJson*>& drawn, const OrderedJson& entries, HtmlWriter& page) {
  PageTable table = {"Each version", {{"version"}, {"recordings", true}}, {}};
  for (const OrderedJson* const series : drawn)
    table.titles.push_back({shortened(text_of(*series, key::words), 60), true});
  for (std::size_t index = 0; index < entries.size(); ++index) {
    std::vector<TableCell> row = {{name_of_entry(entries[index], index)},
                                  {words_in(entries[index], key::recordings), true}};
    for (const OrderedJson* const series : drawn) {
      const OrderedJson& values = list_of(*series, key::values_us);
      row.push_back({index < values.size() ? words_of_time(values[index]) : std::string("-"), true});
    }
    table.rows.push_back(std::move(row));
  }
  add_table(table, page);
}

}  // namespace

std::string headline_of_comparison(const OrderedJson& comparison) {
  const std::string outcome = text_of(comparison, key::outcome);
  if (judged_regression(comparison) != nullptr) return "The candidate is slower than the base";
  if (outcome == "regression") return "The pipeline of the candidate got worse";
  return outcome == "no_regression" ? "No regression" : "These recordings do not tell";
}

std::string render_comparison_svg(const OrderedJson& comparison) {
  constexpr std::size_t kLineLength = 105;  // characters of the summary
  constexpr std::size_t kMostLines = 4;
  constexpr int kLine = 20;
  constexpr int kRow = 54;
  const std::string headline = headline_of_comparison(comparison);
  const std::string summary = text_of(comparison, key::summary);
  const std::vector<const OrderedJson*> rows = pictured_rows(comparison);
  std::vector<std::string> lines = wrapped(summary, kLineLength, /*breaks_words=*/true);
  if (lines.size() > kMostLines) lines[kMostLines - 1] += " ...";
  lines.resize(std::min(lines.size(), kMostLines));
  const int height =
      2 * kPictureMargin + kLine * static_cast<int>(lines.size() + 2) + kRow * static_cast<int>(rows.size());
  HtmlWriter svg;
  open_picture_file(height, headline + ": " + summary, svg);
  int y = kPictureMargin + kLine;
  const auto write = [&](std::string_view look, std::string_view text) {
    svg.element("text", {{"class", look}, {"x", kPictureMargin}, {"y", y}}, text);
    y += kLine;
  };
  write("title", headline);
  for (const std::string& line : lines) write("summary", line);
  write("muted", rows.empty() ? "There are no times on both sides to draw."
                              : "Each dot is a recording, from nothing on the left: hollow the base, filled the "
                                "candidate, grey where nothing was judged.");
  for (const OrderedJson* const row : rows) {
    svg.element("text", {{"class", "label"}, {"x", kPictureMargin}, {"y", y}}, shortened(name_of_row(*row), 60));
    svg.element("text", {{"class", "muted"}, {"x", kPictureWidth - kPictureMargin}, {"y", y}, {"text-anchor", "end"}},
                medians_of(*row));
    svg.open("svg", {{"x", kPictureMargin},
                     {"y", y + 6},
                     {"width", kPictureWidth - 2 * kPictureMargin},
                     {"height", kDotRowHeight}});
    draw_dots(*row, svg);
    svg.close();
    y += kRow;
  }
  svg.close();
  return std::move(svg).finish();
}

void add_comparison_section(const OrderedJson& comparison, const PageDocuments& documents, HtmlWriter& page) {
  add_outcome(comparison, page);
  add_changes(comparison, page);
  add_timelines(documents, page);
  add_drawings(documents, comparison, page);
  add_times(comparison, "pipelines", "whole", "The loop as a whole", page);
  add_times(comparison, "times", "parts", "Times of each part, dearest first", page);
}

void add_history_section(const OrderedJson& history, const PageDocuments& /*documents*/, HtmlWriter& page) {
  const OrderedJson& entries = list_of(history, key::entries);
  const std::vector<const OrderedJson*> drawn = drawn_series(history);
  if (entries.size() < 2 || drawn.empty()) return;
  open_section("history", "Over the versions of the baseline", page);
  add_note(
      "Each dot is the median of a version's recordings, from nothing at the bottom; a dashed line is where "
      "a number became another one for good.",
      page);
  for (const OrderedJson* const series : drawn) {
    page.element("h3", shortened(text_of(*series, key::words)));
    for (const OrderedJson& change : list_of(*series, key::changes))
      page.element("p", describe_change(change, entries));
    add_dots(*series, entries, page);
  }
  add_table_of_versions(drawn, entries, page);
  page.close();
}

}  // namespace doctor
