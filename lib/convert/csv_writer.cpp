#include <array>

#include "convert/event_columns.h"
#include "convert/event_text.h"
#include "text/escape.h"

// CSV (RFC 4180 with line feeds) with the columns of EventColumns; foreign text is made safe for spreadsheets.

namespace doctor {
namespace {

class CsvRows final : public SpelledRows {
 public:
  using SpelledRows::SpelledRows;

  void append(const TraceEvent& event, std::string& text) override;

 private:
  SpelledName spelled(const TraceEvent& event) const;
  const std::string& begin_of_row(const TraceEvent& event);
};

SpelledName CsvRows::spelled(const TraceEvent& event) const {
  EventColumns columns;
  SpelledName name;
  name.is_iterator = add_name_columns(event, columns) == EventKind::iterator;
  for (const std::string_view text : {columns.name, columns.long_name, columns.op_type}) {
    append_csv_field(name.text, text);
    name.text += ',';
  }
  append_integer(name.text, file_.origin_ns);
  name.text += ',';
  return name;
}

/// The columns that the events of a thread share.
const std::string& CsvRows::begin_of_row(const TraceEvent& event) {
  if (thread_.is_of(*event.line)) return thread_.spelled();
  const EventColumns columns = thread_columns_of(file_, event);
  std::string& prefix = thread_.begin(*event.line);
  for (const std::string_view text : {columns.file, columns.host, columns.process, columns.thread}) {
    append_csv_field(prefix, text);
    prefix += ',';
  }
  for (const std::int64_t number : {columns.pid, columns.tid}) {
    append_integer(prefix, number);
    prefix += ',';
  }
  return prefix;
}

void CsvRows::append(const TraceEvent& event, std::string& text) {
  text += begin_of_row(event);
  const SpelledName& name = names_.of(event, [&] { return spelled(event); });
  text += name.text;
  EventColumns columns;
  if (name.is_iterator) add_iterator_columns(event, columns);
  std::array<char, 2 * kLongestTime + 2 * kLongestInteger + 4> numbers;
  char* to = numbers.data();
  for (const Picoseconds time : {event.start + file_.shift, event.duration}) {
    to = put_microseconds(to, time);
    *to++ = ',';
  }
  for (const std::optional<std::uint64_t>& token : {columns.iterator_id, columns.parent_id}) {
    if (token) to = put_integer(to, *token);
    *to++ = ',';
  }
  text.append(numbers.data(), to);
  append_csv_arguments(text, event.arguments);
  text += '\n';
}

}  // namespace

std::unique_ptr<EventWriter> csv_writer(OutputBuffer& output) {
  std::string head;
  for (const std::string_view name : kEventColumnNames) head.append(name) += ',';
  head.back() = '\n';
  return row_writer(output, head, [](const EventFile& file) { return std::make_unique<CsvRows>(file); });
}

}  // namespace doctor
