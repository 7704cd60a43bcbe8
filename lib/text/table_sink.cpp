#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>

#include "base/time.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace doctor {
namespace {

constexpr std::size_t kCellWidth = 60;
constexpr std::size_t kLongestCell = 300;

bool is_left(ColumnKind kind) {
  return kind == ColumnKind::text || kind == ColumnKind::path || kind == ColumnKind::flag;
}

std::string in_hexadecimal(const Blob& blob) {
  std::string text;
  text.reserve(blob.bytes.size() * 2);
  for (const char byte : blob.bytes) {
    fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  }
  return text;
}

/// With as many digits as distinguish it from its neighbours.
std::string exact(double value) {
  return fmt::format("{}", value);
}

/// For a person: three decimals, or four digits of what is smaller than one.
std::string rounded(double value) {
  if (!std::isfinite(value)) return exact(value);
  if (value != 0 && std::abs(value) < 1) return fmt::format("{:.4g}", value);
  if (std::abs(value) >= 1e15) return exact(value);
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Microseconds with all digits: no picosecond is lost, whatever reads it.
std::string exact_microseconds(Picoseconds time) {
  return fmt::format("{}{}.{:06}", time < 0 ? "-" : "", std::abs(time / kPicosecondsPerMicrosecond),
                     std::abs(time % kPicosecondsPerMicrosecond));
}

/// A cell of ColumnKind::any on a page for a person; text is escaped by `escape`.
struct AnyCell {
  std::string (*escape)(std::string_view);

  std::string operator()(std::monostate) const { return "NULL"; }
  std::string operator()(const std::string& text) const { return escape(text); }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const { return rounded(number); }
  std::string operator()(bool is_set) const { return is_set ? "true" : "false"; }
  std::string operator()(const Blob& blob) const { return "x'" + in_hexadecimal(blob) + "'"; }
};

/// The cell on a page for a person, escaped for a terminal.
std::string shown(const Column& column, const Cell& cell) {
  if (column.kind == ColumnKind::any) return std::visit(AnyCell{escape_for_terminal}, cell);
  if (is_unknown(cell)) return std::string(column.unknown);
  switch (column.kind) {
    case ColumnKind::text:
      return clip(escape_for_terminal(std::get<std::string>(cell)),
                  column.fit == Fit::keep ? kLongestCell : kCellWidth);
    case ColumnKind::path:
      return shell_word(std::get<std::string>(cell));
    case ColumnKind::rank:
    case ColumnKind::count: {
      const std::int64_t count = std::get<std::int64_t>(cell);
      return count < 0 ? std::to_string(count) : format_count(static_cast<std::uint64_t>(count));
    }
    case ColumnKind::bytes:
      return format_bytes(static_cast<std::uint64_t>(std::get<std::int64_t>(cell)));
    case ColumnKind::time:
      return format_time(std::get<std::int64_t>(cell));
    case ColumnKind::share:
      return format_share(std::get<double>(cell));
    case ColumnKind::number:
      return format_number(std::get<double>(cell));
    case ColumnKind::hours:
      return format_hours(std::get<double>(cell));
    case ColumnKind::flag:
      return std::get<bool>(cell) ? "yes" : "no";
    case ColumnKind::hidden:
    case ColumnKind::any:
      break;
  }
  return {};
}

class TextSink final : public TableSink {
  /// Of rows with huge cells fewer are measured, and what is wider than a screen does not make all rows as wide: a
  /// thousand rows of names of 100 KB would be 600 MB of blanks.
  static constexpr std::size_t kMostMeasuredBytes = std::size_t{4} << 20;
  static constexpr std::size_t kWidestAligned = 256;

 public:
  TextSink(std::vector<Column> columns, const TableStyle& style, std::string& out)
      : TableSink(std::move(columns), out), style_(style), has_words_(columns_.size()) {}

  void add(const std::vector<Cell>& row) override {
    TextRow cells;
    cells.reserve(row.size());
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (!layout_ && (std::holds_alternative<std::string>(row[column]) || std::holds_alternative<Blob>(row[column]))) {
        has_words_[column] = true;
      }
      cells.push_back(shown(columns_[column], row[column]));
      measured_bytes_ += cells.back().size();
    }
    if (layout_) {
      out_ += layout_->row(cells);
      return;
    }
    waiting_.push_back(std::move(cells));
    if (waiting_.size() == style_.measured_rows || measured_bytes_ > kMostMeasuredBytes) lay_out();
  }
  void finish() override {
    if (!layout_ && waiting_.empty()) {
      out_ += "no rows\n";
      return;
    }
    if (!layout_) lay_out();
    out_ += layout_->note();
  }

 private:
  TextColumn text_column(std::size_t index) const {
    const Column& column = columns_[index];
    const bool is_any = column.kind == ColumnKind::any;
    TextColumn text = {escape_for_terminal(column.title), Align::right, Fit::keep, column.spare};
    if (is_any ? has_words_[index] : is_left(column.kind)) text.align = Align::left;
    if (is_any ? has_words_[index] : column.kind == ColumnKind::text) text.fit = Fit::shorten;
    if (column.kind == ColumnKind::path) text.fit = Fit::paste;
    if (column.fit) text.fit = *column.fit;
    return text;
  }
  void lay_out() {
    std::vector<TextColumn> columns;
    std::vector<std::size_t> widths;
    for (std::size_t index = 0; index < columns_.size(); ++index) {
      columns.push_back(text_column(index));
      widths.push_back(column_count(columns.back().title));
      for (const TextRow& row : waiting_) widths.back() = std::max(widths.back(), column_count(row[index]));
      if (!style_.width) widths.back() = std::min(widths.back(), kWidestAligned);
    }
    layout_.emplace(std::move(columns), std::move(widths), style_.width);
    out_ += layout_->titles();
    for (const TextRow& row : waiting_) out_ += layout_->row(row);
    waiting_.clear();
  }

  TableStyle style_;
  std::vector<bool> has_words_;   ///< columns with text or bytes in them
  std::vector<TextRow> waiting_;  ///< rows that the widths are taken from
  std::size_t measured_bytes_ = 0;
  std::optional<TableLayout> layout_;
};

class CsvSink final : public TableSink {
 public:
  CsvSink(std::vector<Column> columns, std::string& out) : TableSink(std::move(columns), out) {
    for (std::size_t column = 0; column < columns_.size(); ++column) add_field(column, csv_field(columns_[column].key));
    out_ += '\n';
  }
  void add(const std::vector<Cell>& row) override {
    for (std::size_t column = 0; column < row.size(); ++column) {
      add_field(column, field_of(columns_[column].kind, row[column]));
    }
    out_ += '\n';
  }

 private:
  void add_field(std::size_t column, const std::string& field) {
    if (column > 0) out_ += ',';
    out_ += field;
  }
  static std::string field_of(ColumnKind kind, const Cell& cell) {
    if (is_unknown(cell)) return {};
    if (kind == ColumnKind::time) return exact_microseconds(std::get<std::int64_t>(cell));
    if (const auto* const text = std::get_if<std::string>(&cell)) return csv_field(*text);
    if (const auto* const blob = std::get_if<Blob>(&cell)) return in_hexadecimal(*blob);
    if (const auto* const flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
    if (const auto* const whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
    // Measured shares need fewer digits than what SQL computed.
    const double number = std::get<double>(cell);
    return kind == ColumnKind::any ? exact(number) : fmt::format("{:.9g}", number);
  }
};

class MarkdownSink final : public TableSink {
 public:
  MarkdownSink(std::vector<Column> columns, std::string& out) : TableSink(std::move(columns), out) {
    std::string rule = "|";
    out_ += '|';
    for (const Column& column : columns_) {
      out_ += " " + escape_for_markdown(column.title) + " |";
      rule += is_left(column.kind) || column.kind == ColumnKind::any ? "---|" : "---:|";
    }
    out_ += "\n" + rule + "\n";
  }
  void add(const std::vector<Cell>& row) override {
    out_ += '|';
    for (std::size_t column = 0; column < row.size(); ++column) {
      const bool is_any = columns_[column].kind == ColumnKind::any;
      out_ += " " +
              (is_any ? std::visit(AnyCell{markdown_code}, row[column])
                      : escape_for_markdown(shown(columns_[column], row[column]))) +
              " |";
    }
    out_ += '\n';
  }
};

class JsonSink final : public TableSink {
 public:
  JsonSink(std::vector<Column> columns, const TableStyle& style, std::string& out)
      : TableSink(std::move(columns), out) {
    std::set<std::string> used;
    OrderedJson list = OrderedJson::array();
    for (const Column& column : columns_) {
      std::string name(column.key);
      for (std::size_t number = 2; !used.insert(name).second; ++number) name = fmt::format("{}_{}", column.key, number);
      list.push_back(name);
      append_json_string(keys_.emplace_back(), name);
    }
    out_ += "{\"schema\":" + to_line(style.schema) + ",\"tool\":" + to_line(tool_json()) +
            ",\n\"columns\":" + to_line(list) + ",\n\"rows\":[";
  }
  void add(const std::vector<Cell>& row) override {
    out_ += is_first_ ? "\n{" : ",\n{";
    is_first_ = false;
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column > 0) out_ += ',';
      out_.append(keys_[column]) += ':';
      add_value(columns_[column].kind, row[column]);
    }
    out_ += '}';
  }
  void finish() override { out_ += "\n]}\n"; }

 private:
  void add_value(ColumnKind kind, const Cell& cell) {
    if (const auto* const text = std::get_if<std::string>(&cell)) return add_text(*text);
    if (const auto* const blob = std::get_if<Blob>(&cell)) return append_json_string(out_, in_hexadecimal(*blob));
    if (const auto* const flag = std::get_if<bool>(&cell)) {
      out_ += *flag ? "true" : "false";
    } else if (const auto* const whole = std::get_if<std::int64_t>(&cell)) {
      out_ += kind == ColumnKind::time ? exact(to_microseconds(*whole)) : std::to_string(*whole);
    } else {
      const auto* const real = std::get_if<double>(&cell);
      out_ += real != nullptr && std::isfinite(*real) ? exact(*real) : "null";  // JSON has no other numbers
    }
  }
  /// ASCII only, as in all our JSON: safe on a terminal, too.
  void add_text(const std::string& value) {
    const bool is_ascii = std::ranges::all_of(value, [](unsigned char byte) { return byte < 0x7f; });
    if (is_ascii) return append_json_string(out_, value);
    out_ += to_line(value);
  }

  std::vector<std::string> keys_;  ///< with their quotes
  bool is_first_ = true;
};

}  // namespace

std::unique_ptr<TableSink> make_table_sink(TableFormat format, std::vector<Column> columns, const TableStyle& style,
                                           std::string& out) {
  switch (format) {
    case TableFormat::csv:
      return std::make_unique<CsvSink>(std::move(columns), out);
    case TableFormat::json:
      return std::make_unique<JsonSink>(std::move(columns), style, out);
    case TableFormat::markdown:
      return std::make_unique<MarkdownSink>(std::move(columns), out);
    case TableFormat::text:
      break;
  }
  return std::make_unique<TextSink>(std::move(columns), style, out);
}

}  // namespace doctor
