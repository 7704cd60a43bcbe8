#include "report/comparison_pages.h"
#include "report/html/page_parts.h"
#include "report/json_values.h"

namespace doctor {
namespace {

// Pixels.
constexpr int kWidth = 800;
constexpr int kMargin = 16;
constexpr int kLine = 20;
constexpr int kRow = 54;
constexpr int kTrack = 24;

constexpr std::size_t kMostDrawnRows = 8;
constexpr std::size_t kLineLength = 105;  // characters of the summary
constexpr std::size_t kMostLines = 4;

/// Words in lines; what does not fit is left out.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = {""};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > kLineLength) {
      if (lines.size() == kMostLines) {
        lines.back() += " ...";
        break;
      }
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + shortened(word, kLineLength);
  }
  return lines;
}

/// What is slower or faster, then the step, then what costs most.
std::vector<const TimeRow*> drawn_rows(const RunComparison& comparison) {
  std::vector<const TimeRow*> rows;
  const auto add = [&](const TimeRow& row) {
    const bool is_drawn = std::ranges::find(rows, &row) != rows.end();
    const bool has_dots = !row.base.empty() && !row.candidate.empty();
    if (!is_drawn && has_dots && rows.size() < kMostDrawnRows) rows.push_back(&row);
  };
  for (const TimeRow& row : comparison.rows) {
    if (is_regression(row)) add(row);
  }
  for (const TimeRow& row : comparison.rows) {
    if (row.difference == Difference::faster) add(row);
  }
  for (const TimeRow& row : comparison.pipeline_rows) {
    if (row.kind == TimeKind::step) add(row);
  }
  for (const TimeRow& row : comparison.rows) add(row);
  return rows;
}

class Drawing {
 public:
  explicit Drawing(const RunComparison& comparison)
      : comparison_(comparison), rows_(drawn_rows(comparison)), summary_(lines_of(summarize(comparison))) {}

  std::string draw() {
    const int height =
        2 * kMargin + kLine * static_cast<int>(summary_.size() + 3) + kRow * static_cast<int>(rows_.size());
    open_picture_file(kWidth, height, fmt::format("{}: {}", verdict_words(comparison_.outcome), summarize(comparison_)),
                      kComparisonPictureStyle, picture_);
    y_ = kMargin + kLine;
    write("title", verdict_words(comparison_.outcome));
    for (const std::string& line : summary_) write("summary", line);
    write("muted",
          rows_.empty()
              ? "There are no times on both sides to draw."
              : "Each dot is a recording, from nothing on the left: hollow the base, filled the candidate, grey "
                "where nothing was judged.");
    for (const TimeRow* const row : rows_) add_row(*row);
    picture_.close();
    return std::move(picture_).finish();
  }

 private:
  void write(std::string_view look, std::string_view text) {
    picture_.element("text", {{"class", look}, {"x", kMargin}, {"y", y_}}, text);
    y_ += kLine;
  }

  void add_row(const TimeRow& row) {
    picture_.element("text", {{"class", "name"}, {"x", kMargin}, {"y", y_}}, shortened(describe_subject(row), 60));
    const std::string ratio = row.ratio() > 0 ? fmt::format("  {:.3g}x", row.ratio()) : std::string();
    picture_.element("text", {{"class", "muted"}, {"x", kWidth - kMargin}, {"y", y_}, {"text-anchor", "end"}},
                     fmt::format("{} \u2192 {}{}  {}", describe_value(row, row.base_median),
                                 describe_value(row, row.candidate_median), ratio,
                                 row.difference == Difference::unknown ? std::string_view() : to_word(row.difference)));
    double top = 0;
    for (const std::vector<double>* side : {&row.base, &row.candidate}) {
      for (const double value : *side) top = std::max(top, value);
    }
    picture_.empty(
        "rect",
        {{"class", "track"}, {"x", kMargin}, {"y", y_ + 6}, {"width", kWidth - 2 * kMargin}, {"height", kTrack}});
    add_dots(row.base, top, "base", y_ + 13);
    add_dots(row.candidate, top, is_regression(row) ? "slower" : row.is_judged ? "candidate" : "unjudged", y_ + 24);
    y_ += kRow;
  }

  void add_dots(const std::vector<double>& values, double top, std::string_view look, int y) {
    constexpr int kRadius = 4;
    for (const double value : values) {
      const double part = top > 0 ? std::clamp(value / top, 0.0, 1.0) : 0;
      picture_.empty("circle",
                     {{"class", look},
                      {"cx", fmt::format("{:.1f}", kMargin + kRadius + part * (kWidth - 2 * kMargin - 2 * kRadius))},
                      {"cy", y},
                      {"r", kRadius}});
    }
  }

  const RunComparison& comparison_;
  std::vector<const TimeRow*> rows_;
  std::vector<std::string> summary_;
  HtmlWriter picture_;
  int y_ = 0;
};

}  // namespace

std::string render_comparison_svg(const RunComparison& comparison) {
  return Drawing(comparison).draw();
}

}  // namespace doctor
