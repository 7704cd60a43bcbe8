#include "text/table.h"

#include <fmt/format.h>

#include <numeric>

#include "base/time.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// Whether `a` comes before `b` in a column of this kind.
bool comes_before(ColumnKind kind, const Cell& a, const Cell& b) {
  if (is_unknown(a) || is_unknown(b)) return !is_unknown(a);
  const bool is_ascending = kind == ColumnKind::text || kind == ColumnKind::path || kind == ColumnKind::rank;
  return is_ascending ? a < b : b < a;
}

OrderedJson cell_json(ColumnKind kind, const Cell& cell) {
  if (is_unknown(cell)) return nullptr;
  if (kind == ColumnKind::time) return to_microseconds(std::get<std::int64_t>(cell));
  if (const auto* const text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* const count = std::get_if<std::int64_t>(&cell)) return *count;
  if (const auto* const flag = std::get_if<bool>(&cell)) return *flag;
  return std::get<double>(cell);
}

std::string written(const DataTable& table, TableFormat format, PageWidth width) {
  std::string text;
  const std::unique_ptr<TableSink> sink = make_table_sink(format, table.columns, {width}, text);
  for (const std::vector<Cell>& row : table.rows) sink->add(row);
  sink->finish();
  return text;
}

/// The table as a person gets it.
DataTable shown_columns(const DataTable& table) {
  DataTable shown = table;
  for (std::size_t index = table.columns.size(); index-- > 0;) {
    const bool is_zero = std::ranges::all_of(table.rows, [&](const std::vector<Cell>& row) {
      return is_unknown(row[index]) || row[index] == Cell(std::int64_t{0});
    });
    const Column& column = table.columns[index];
    if (column.kind != ColumnKind::hidden && !(column.is_left_out_if_zero && is_zero)) continue;
    const auto place = static_cast<std::ptrdiff_t>(index);
    shown.columns.erase(shown.columns.begin() + place);
    for (std::vector<Cell>& row : shown.rows) row.erase(row.begin() + place);
  }
  return shown;
}

constexpr std::size_t kGap = 2;
constexpr std::size_t kBelowIndent = 4;
constexpr std::size_t kShortName = 24;  // as long as there are columns to spare
constexpr std::size_t kShortestName = 16;
constexpr std::size_t kNarrowestSentence = 30;

/// Shortened after its indentation, of which at most half of the width is kept.
std::string shortened(const std::string& cell, std::size_t width) {
  if (column_count(cell) <= width) return cell;
  const std::size_t indent = std::min(std::min(cell.find_first_not_of(' '), cell.size()), width / 2);
  const std::string name = cell.substr(std::min(cell.find_first_not_of(' '), cell.size()));
  return std::string(indent, ' ') + clip(name, width - indent);
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

DataTable table_with(std::initializer_list<std::string_view> keys) {
  DataTable table;
  for (const std::string_view key : keys) {
    table.columns.push_back({key, {}, key.ends_with("_us") ? ColumnKind::time : ColumnKind::any});
  }
  return table;
}

Result<void> choose_rows(DataTable& table, const RowChoice& choice) {
  if (choice.sort) {
    const auto column =
        std::ranges::find_if(table.columns, [&](const Column& candidate) { return candidate.key == *choice.sort; });
    if (column == table.columns.end()) {
      return fail(
          "no column '" + *choice.sort + "'", "--sort",
          "the columns are: " + joined(table.columns, ", ", [](const Column& each) { return std::string(each.key); }));
    }
    const auto index = static_cast<std::size_t>(column - table.columns.begin());
    std::ranges::stable_sort(
        table.rows, [&](const auto& a, const auto& b) { return comes_before(column->kind, a[index], b[index]); });
  }
  if (choice.top && *choice.top < table.rows.size()) table.rows.resize(*choice.top);
  return {};
}

std::string table_text(const DataTable& table, PageWidth width) {
  return written(shown_columns(table), TableFormat::text, width);
}

std::string rows_text(const PageRows& rows, PageWidth width) {
  std::string page;
  if (!rows.note.empty()) page = fitted_lines(escape_for_terminal(rows.note), width) + "\n\n";
  page += table_text(rows.table, width);
  const std::size_t left = rows.left_out();
  if (left > 0) page += fmt::format("... and {} (--top 0 shows all)\n", format_count(left, "more row"));
  return page;
}

OrderedJson table_page_json(const PageRows& rows, std::string_view schema) {
  OrderedJson page = begun_page(schema);
  page["rows"] = table_json(rows.table);
  if (rows.left_out() > 0) page["rows_left_out"] = rows.left_out();
  return page;
}

std::string table_markdown(const DataTable& table) {
  return written(shown_columns(table), TableFormat::markdown, {});
}

std::string table_csv(const DataTable& table) {
  if (table.columns.empty()) return {};
  return written(table, TableFormat::csv, {});
}

OrderedJson table_json(const DataTable& table) {
  OrderedJson rows = OrderedJson::array();
  for (const std::vector<Cell>& row : table.rows) {
    OrderedJson object = OrderedJson::object();
    for (std::size_t index = 0; index < row.size(); ++index) {
      object[std::string(table.columns[index].key)] = cell_json(table.columns[index].kind, row[index]);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

TableLayout::TableLayout(std::vector<TextColumn> columns, std::vector<std::size_t> widths, PageWidth page)
    : columns_(std::move(columns)),
      natural_(std::move(widths)),
      widths_(natural_),
      page_(page),
      shown_(natural_.size()) {
  std::iota(shown_.begin(), shown_.end(), std::size_t{0});
  if (!shown_.empty() && !fits()) make_fit();
}

std::size_t TableLayout::total() const {
  std::size_t total = kGap * (shown_.size() - 1);
  for (const std::size_t column : shown_) total += widths_[column];
  return total;
}

void TableLayout::make_fit() {
  if (columns_.back().fit == Fit::paste && shown_.size() > 1) {
    is_last_below_ = true;
    shown_.pop_back();
  }
  while (!fits()) {
    shorten(kShortName);
    const bool has_wrap = is_last_shown() && columns_.back().fit == Fit::wrap && shown_.size() > 1;
    const bool can_spare =
        std::any_of(shown_.begin() + 1, shown_.end(), [&](std::size_t column) { return columns_[column].spare > 0; });
    if (!has_wrap && !can_spare) shorten(kShortestName);
    if (fits() || shown_.size() == 1) return;
    widths_ = natural_;
    if (has_wrap) {
      is_last_below_ = true;
      shown_.pop_back();
    } else {
      leave_one_out();
    }
  }
}

void TableLayout::shorten(std::size_t least_name) {
  const auto narrow = [&](Fit fit, std::size_t least) {
    while (!fits()) {
      std::size_t widest = columns_.size();
      for (const std::size_t column : shown_) {
        const bool may_shrink = columns_[column].fit == fit && widths_[column] > least;
        if (may_shrink && (widest == columns_.size() || widths_[column] > widths_[widest])) widest = column;
      }
      if (widest == columns_.size()) return;
      --widths_[widest];
    }
  };
  narrow(Fit::wrap, kNarrowestSentence);
  narrow(Fit::shorten, least_name);
}

void TableLayout::leave_one_out() {
  const auto spared = std::max_element(shown_.begin() + 1, shown_.end(), [&](std::size_t a, std::size_t b) {
    return columns_[a].spare <= columns_[b].spare;  // of equals the last
  });
  left_out_.insert(std::upper_bound(left_out_.begin(), left_out_.end(), *spared), *spared);
  shown_.erase(spared);
}

void TableLayout::append(std::string& line, std::size_t column, const std::string& cell) const {
  const std::string fitting = page_ && columns_[column].fit == Fit::shorten ? shortened(cell, widths_[column]) : cell;
  const std::size_t width = column_count(fitting);
  const std::string padding(widths_[column] > width ? widths_[column] - width : 0, ' ');
  if (column != shown_.front()) line.append(kGap, ' ');
  line += columns_[column].align == Align::right ? padding + fitting : fitting + padding;
}

std::string TableLayout::titles() const {
  if (std::ranges::all_of(columns_, [](const TextColumn& column) { return column.title.empty(); })) {
    return {};
  }
  std::string line;
  for (const std::size_t column : shown_) append(line, column, columns_[column].title);
  return without_trailing_blanks(std::move(line));
}

std::string TableLayout::row(const TextRow& cells) const {
  std::string line;
  std::vector<std::string> further;  // lines of the sentence in the last column
  std::size_t indent = 0;
  for (const std::size_t column : shown_) {
    if (page_ && columns_[column].fit == Fit::wrap) {
      further = wrapped(cells[column], widths_[column], /*breaks_words=*/true);
      indent = total() - widths_[column];
      append(line, column, further.front());
      further.erase(further.begin());
    } else {
      append(line, column, cells[column]);
    }
  }
  std::string text = without_trailing_blanks(std::move(line));
  for (const std::string& more : further) text += std::string(indent, ' ') + more + "\n";
  if (!is_last_below_ || cells.back().empty()) return text;
  if (columns_.back().fit == Fit::paste) {
    return text + std::string(kBelowIndent, ' ') + columns_.back().title + "  " + cells.back() + "\n";
  }
  for (const std::string& more : wrapped(cells.back(), *page_ - kBelowIndent, /*breaks_words=*/true)) {
    text += std::string(kBelowIndent, ' ') + more + "\n";
  }
  return text;
}

std::string TableLayout::note() const {
  std::string names;
  for (const std::size_t column : left_out_) names += (names.empty() ? "" : ", ") + columns_[column].title;
  return names.empty() ? names : fitted_lines("(left out to fit: " + names + ")\n", page_, 1);
}

std::string text_table(std::vector<TextColumn> columns, const std::vector<TextRow>& rows, PageWidth page,
                       bool has_titles, std::optional<std::size_t> strong) {
  std::vector<std::size_t> widths;
  widths.reserve(columns.size());
  for (const TextColumn& column : columns) widths.push_back(has_titles ? column_count(column.title) : 0);
  for (const TextRow& row : rows) {
    for (std::size_t column = 0; column < widths.size(); ++column) {
      widths[column] = std::max(widths[column], column_count(row[column]));
    }
  }
  const TableLayout layout(std::move(columns), std::move(widths), page);
  std::string text = has_titles ? layout.titles() : std::string();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string line = layout.row(rows[row]);
    text += row == strong ? "\x1b[1m" + line.substr(0, line.size() - 1) + "\x1b[0m\n" : line;
  }
  return text + layout.note();
}

}  // namespace doctor
