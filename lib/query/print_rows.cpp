#include "query/print_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "convert/event_text.h"
#include "report/escape.h"
#include "report/json_values.h"
#include "report/text_table.h"

namespace doctor {
namespace {

std::string in_hexadecimal(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char byte : bytes) {
    fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  }
  return text;
}

/// With as many digits as tell it from its neighbours.
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

/// A value on a page for a person, escaped by `escape`.
template <typename Escape>
std::string on_page(const QueryValue& value, Escape escape) {
  switch (value.type) {
    case ValueType::null:
      return "NULL";
    case ValueType::integer:
      return std::to_string(value.integer);
    case ValueType::real:
      return rounded(value.real);
    case ValueType::text:
      return escape(value.bytes);
    case ValueType::blob:
      break;
  }
  return "x'" + in_hexadecimal(value.bytes) + "'";
}

/// Writes rows in one format.
class RowWriter {
 public:
  explicit RowWriter(OutputBuffer& output) : output_(output) {}
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;
  virtual ~RowWriter() = default;

  virtual void begin(const std::vector<std::string>& columns) = 0;
  virtual void add(const std::vector<QueryValue>& row) = 0;
  virtual void end() {}

 protected:
  std::string& text() { return output_.text; }

 private:
  OutputBuffer& output_;
};

class TextWriter final : public RowWriter {
 public:
  using RowWriter::RowWriter;

  void begin(const std::vector<std::string>& columns) override {
    for (const std::string& column : columns) titles_.push_back(escape_for_terminal(column));
    are_numbers_.assign(columns.size(), true);
  }
  void add(const std::vector<QueryValue>& row) override {
    constexpr std::size_t kMeasuredRows = 1'000;
    std::vector<std::string> cells;
    cells.reserve(row.size());
    for (std::size_t column = 0; column < row.size(); ++column) {
      const bool is_word = row[column].type == ValueType::text || row[column].type == ValueType::blob;
      if (is_word && !has_begun_) are_numbers_[column] = false;
      cells.push_back(on_page(row[column], escape_for_terminal));
    }
    if (has_begun_) return write(cells);
    waiting_.push_back(std::move(cells));
    if (waiting_.size() == kMeasuredRows) write_waiting();
  }
  void end() override {
    if (!has_begun_) write_waiting();
    if (row_count_ == 0) text() += "no rows\n";
  }

 private:
  void write_waiting() {
    has_begun_ = true;
    for (const std::string& title : titles_) widths_.push_back(character_count(title));
    for (const std::vector<std::string>& row : waiting_) {
      for (std::size_t column = 0; column < row.size(); ++column) {
        widths_[column] = std::max(widths_[column], character_count(row[column]));
      }
    }
    if (waiting_.empty()) return;
    write(titles_);
    row_count_ = 0;
    for (const std::vector<std::string>& row : waiting_) write(row);
    waiting_.clear();
  }
  void write(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const std::size_t width = character_count(cells[column]);
      const std::string padding(widths_[column] > width ? widths_[column] - width : 0, ' ');
      line += (column > 0 ? "  " : "") + (are_numbers_[column] ? padding + cells[column] : cells[column] + padding);
    }
    text().append(line, 0, line.find_last_not_of(' ') + 1) += '\n';
    ++row_count_;
  }

  std::vector<std::string> titles_;
  std::vector<bool> are_numbers_;  ///< columns that stand to the right
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> waiting_;  ///< rows that the widths are told from
  bool has_begun_ = false;
  std::size_t row_count_ = 0;
};

class CsvRowWriter final : public RowWriter {
 public:
  using RowWriter::RowWriter;

  void begin(const std::vector<std::string>& columns) override {
    for (const std::string& column : columns) add_field(csv_field(column));
    end_line();
  }
  void add(const std::vector<QueryValue>& row) override {
    for (const QueryValue& value : row) add_field(field_of(value));
    end_line();
  }

 private:
  static std::string field_of(const QueryValue& value) {
    if (value.type == ValueType::null) return {};
    if (value.type == ValueType::real) return exact(value.real);
    if (value.type == ValueType::blob) return in_hexadecimal(value.bytes);
    return on_page(value, csv_field);
  }
  void add_field(const std::string& field) {
    if (has_fields_) text() += ',';
    text() += field;
    has_fields_ = true;
  }
  void end_line() {
    text() += '\n';
    has_fields_ = false;
  }

  bool has_fields_ = false;
};

class MarkdownWriter final : public RowWriter {
 public:
  using RowWriter::RowWriter;

  void begin(const std::vector<std::string>& columns) override {
    text() += '|';
    for (const std::string& column : columns) text() += " " + escape_for_markdown(column) + " |";
    text() += "\n|";
    for (std::size_t column = 0; column < columns.size(); ++column) text() += "---|";
    text() += '\n';
  }
  void add(const std::vector<QueryValue>& row) override {
    text() += '|';
    for (const QueryValue& value : row) text() += " " + on_page(value, markdown_code) + " |";
    text() += '\n';
  }
};

class JsonWriter final : public RowWriter {
 public:
  using RowWriter::RowWriter;

  void begin(const std::vector<std::string>& columns) override {
    std::set<std::string> used;
    OrderedJson list = OrderedJson::array();
    for (const std::string& column : columns) {
      std::string name = column;
      for (std::size_t number = 2; !used.insert(name).second; ++number) name = fmt::format("{}_{}", column, number);
      list.push_back(name);
      append_json_string(keys_.emplace_back(), name);
    }
    const auto compact = [](const OrderedJson& json) {
      return json.dump(-1, ' ', /*ensure_ascii=*/true, OrderedJson::error_handler_t::replace);
    };
    text() += "{\"schema\":\"tfdata-doctor.query/1\",\"tool\":" + compact(tool_json()) +
              ",\n\"columns\":" + compact(list) + ",\n\"rows\":[";
  }
  void add(const std::vector<QueryValue>& row) override {
    text() += is_first_ ? "\n{" : ",\n{";
    is_first_ = false;
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column > 0) text() += ',';
      text().append(keys_[column]) += ':';
      add_value(row[column]);
    }
    text() += '}';
  }
  void end() override { text() += "\n]}\n"; }

 private:
  void add_value(const QueryValue& value) {
    switch (value.type) {
      case ValueType::null:
        text() += "null";
        return;
      case ValueType::integer:
        text() += std::to_string(value.integer);
        return;
      case ValueType::real:
        text() += std::isfinite(value.real) ? exact(value.real) : "null";  // JSON has no such numbers
        return;
      case ValueType::text:
        add_text(value.bytes);
        return;
      case ValueType::blob:
        append_json_string(text(), in_hexadecimal(value.bytes));
        return;
    }
  }

  /// ASCII only, as in all our JSON: safe on a terminal, too.
  void add_text(std::string_view value) {
    const bool is_ascii = std::all_of(value.begin(), value.end(), [](char byte) { return byte >= 0 && byte < 0x7f; });
    if (is_ascii) return append_json_string(text(), value);
    text() += OrderedJson(value).dump(-1, ' ', /*ensure_ascii=*/true, OrderedJson::error_handler_t::replace);
  }

  std::vector<std::string> keys_;  ///< with their quotes
  bool is_first_ = true;
};

std::unique_ptr<RowWriter> make_writer(RowFormat format, OutputBuffer& output) {
  switch (format) {
    case RowFormat::csv:
      return std::make_unique<CsvRowWriter>(output);
    case RowFormat::json:
      return std::make_unique<JsonWriter>(output);
    case RowFormat::markdown:
      return std::make_unique<MarkdownWriter>(output);
    case RowFormat::text:
      break;
  }
  return std::make_unique<TextWriter>(output);
}

}  // namespace

Result<void> print_rows(UserQuery& query, RowFormat format, OutputBuffer& output) {
  const std::unique_ptr<RowWriter> writer = make_writer(format, output);
  const std::vector<std::string> columns = query.columns();
  writer->begin(columns);
  std::vector<QueryValue> row(columns.size());
  while (!output.has_failed()) {
    const Result<bool> has_row = query.next();
    if (!has_row) return Unexpected(has_row.error());
    if (!*has_row) break;
    for (std::size_t column = 0; column < row.size(); ++column) row[column] = query.value(column);
    writer->add(row);
    output.end_piece();
  }
  writer->end();
  return {};
}

}  // namespace doctor
