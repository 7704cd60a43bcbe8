#include "convert/spelled_rows.h"

#include <utility>

namespace doctor {
namespace {

/// Rows that a thread spells.
class RowPart final : public EventSink {
 public:
  explicit RowPart(std::unique_ptr<SpelledRows> rows) : rows_(std::move(rows)) {}

  void take(const TraceEvent& event) override { rows_->append(event, text); }

  std::string text;

 private:
  std::unique_ptr<SpelledRows> rows_;
};

class RowWriter final : public EventWriter {
 public:
  RowWriter(OutputBuffer& output, std::string_view head, MakeRows make_rows)
      : EventWriter(output), head_(head), make_rows_(std::move(make_rows)) {}

  void begin_file(const EventFile& file) override {
    begin_document();
    file_ = &file;
    rows_ = make_rows_(file);
  }
  void add(const TraceEvent& event) override {
    rows_->append(event, output().text);
    output().end_piece();
  }
  std::unique_ptr<EventSink> make_part() override { return std::make_unique<RowPart>(make_rows_(*file_)); }
  void join(EventSink& part) override {
    std::string& text = static_cast<RowPart&>(part).text;
    output().text += text;
    output().end_piece();
    text.clear();
  }
  void end_document() override { begin_document(); }

 private:
  void begin_document() { output().text += std::exchange(head_, {}); }

  std::string head_;  ///< empty once it is written
  MakeRows make_rows_;
  const EventFile* file_ = nullptr;
  std::unique_ptr<SpelledRows> rows_;
};

}  // namespace

std::unique_ptr<EventWriter> row_writer(OutputBuffer& output, std::string_view head, MakeRows make_rows) {
  return std::make_unique<RowWriter>(output, head, std::move(make_rows));
}

}  // namespace doctor
