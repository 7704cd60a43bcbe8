#include "query/event_store.h"

#include <sqlite3.h>

#include <numeric>

namespace doctor {
namespace {

std::optional<std::string> optional_text(const Statement& row, int column) {
  if (sqlite3_column_type(row.get(), column) == SQLITE_NULL) return std::nullopt;
  return std::string(text_of(row, column));
}

/// The element of this number; numbers have no large gaps.
template <typename T>
T& element(std::vector<T>& all, std::int64_t number) {
  const auto index = static_cast<std::size_t>(number);
  if (index >= all.size()) all.resize(index + 1);
  return all[index];
}

/// Indexed as `texts`: the place of each in their order, the same for equal ones.
std::vector<std::uint32_t> ranks_of(const std::vector<const std::optional<std::string>*>& texts) {
  std::vector<std::uint32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) { return *texts[a] < *texts[b]; };  // null comes first
  std::sort(order.begin(), order.end(), is_before);
  std::vector<std::uint32_t> ranks(texts.size());
  for (std::size_t place = 1; place < order.size(); ++place) {
    ranks[order[place]] = ranks[order[place - 1]] + (is_before(order[place - 1], order[place]) ? 1 : 0);
  }
  return ranks;
}

}  // namespace

bool EventStore::add(const Row& row) {
  if (only_counts_) {
    ++size_;
    return true;
  }
  // What rows share takes some hundred bytes each: real traces have some thousands.
  constexpr std::uint32_t kMostShared = 1U << 16U;
  if (size_ == most_rows_ || row.line > kMostShared || row.name > kMostShared) {
    is_full_ = true;
    return false;
  }
  if (size_ / kChunk == chunks_.size()) chunks_.push_back(std::make_unique_for_overwrite<Row[]>(kChunk));
  chunks_[size_ / kChunk][size_ % kChunk] = row;
  ++size_;
  return true;
}

bool EventStore::read_shared(sqlite3* database) {
  if (has_shared_) return true;
  int code = SQLITE_OK;
  const Statement lines =
      prepare(database,
              "SELECT line, path, host, process, thread, pid, tid, CAST(origin_ns AS TEXT), shift_ps FROM event_lines");
  while (lines && (code = sqlite3_step(lines.get())) == SQLITE_ROW) {
    Line& line = element(lines_, sqlite3_column_int64(lines.get(), 0));
    for (std::size_t text = 0; text < line.texts.size(); ++text) {
      line.texts[text] = text_of(lines, static_cast<int>(text) + 1);
    }
    line.pid = sqlite3_column_int64(lines.get(), 5);
    line.tid = sqlite3_column_int64(lines.get(), 6);
    line.origin_ns = text_of(lines, 7);
    line.shift = sqlite3_column_int64(lines.get(), 8);
  }
  if (!lines || code != SQLITE_DONE) return false;
  const Statement names =
      prepare(database, "SELECT name_number, name, long_name, op_type, iterator_id, parent_id FROM event_names");
  while (names && (code = sqlite3_step(names.get())) == SQLITE_ROW) {
    Name& name = element(names_, sqlite3_column_int64(names.get(), 0));
    for (std::size_t text = 0; text < name.texts.size(); ++text) {
      name.texts[text] = optional_text(names, static_cast<int>(text) + 1);
    }
  }
  has_shared_ = names && code == SQLITE_DONE;
  return has_shared_;
}

const std::vector<std::uint32_t>& EventStore::order_by(int column, Direction direction) {
  const bool is_descending = direction == Direction::descending;
  const int place = column + (is_descending ? kSortable : 0);
  std::vector<std::uint32_t>& order = orders_[static_cast<std::size_t>(place)];
  if (order.size() == size_) return order;
  const bool is_of_name = column >= kFirstOfName;
  std::vector<std::optional<std::string>> of_lines;
  std::vector<const std::optional<std::string>*> texts;
  if (is_of_name) {
    for (const Name& name : names_) texts.push_back(&name.texts[static_cast<std::size_t>(column - kFirstOfName)]);
  } else {
    for (const Line& line : lines_) of_lines.emplace_back(line.texts[static_cast<std::size_t>(column)]);
    for (const std::optional<std::string>& text : of_lines) texts.push_back(&text);
  }
  std::vector<std::uint32_t> ranks = ranks_of(texts);
  if (is_descending) {
    for (std::uint32_t& rank : ranks) rank = static_cast<std::uint32_t>(texts.size()) - 1 - rank;
  }
  const auto rank_of = [&](std::size_t row) { return ranks[is_of_name ? (*this)[row].name : (*this)[row].line]; };
  // Counted and then placed: there are few texts and many rows.
  std::vector<std::size_t> begins(texts.size() + 1, 0);
  for (std::size_t row = 0; row < size_; ++row) ++begins[rank_of(row) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  order.resize(size_);
  for (std::size_t row = 0; row < size_; ++row) order[begins[rank_of(row)]++] = static_cast<std::uint32_t>(row);
  return order;
}

}  // namespace doctor
