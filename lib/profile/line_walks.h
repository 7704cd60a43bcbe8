#pragma once

#include "trace/event_reader.h"

namespace doctor {

/// The order in which the events of a line come.
enum class LineOrder : std::uint8_t {
  any,       ///< events are kept until their line ends, and sorted
  by_start,  ///< no events are kept; LineWalks::is_disordered() tells whether the assumption was wrong
};

/// Walks over the rows of each line in order of start; among equal starts the longest comes first.
///
/// `Walk` has `take(const Row&)`, `finish()` and `static bool is_before(const Row&, const Row&)`.
template <typename Row, typename Walk>
class LineWalks {
 public:
  /// Each line gets a copy of `walk`.
  LineWalks(LineOrder order, Walk walk) : order_(order), fresh_(std::move(walk)) {}
  LineWalks(const LineWalks&) = delete;
  LineWalks& operator=(const LineWalks&) = delete;

  void add(const EventLine& line, const Row& row) {
    Line& walked = find(line.index);
    if (order_ == LineOrder::any) {
      walked.rows.push_back(row);
      return;
    }
    if (walked.has_last && Walk::is_before(row, walked.last)) {
      is_disordered_ = true;
      return;
    }
    walked.walk.take(row);
    walked.last = row;
    walked.has_last = true;
  }

  void end_line(const EventLine& line) {
    const auto found = lines_.find(line.index);
    if (found == lines_.end()) return;
    end(found->second);
    lines_.erase(found);
    last_ = nullptr;
  }

  /// Ends all lines, in the order of their indices.
  void end_file() {
    for (auto& [index, line] : lines_) end(line);
    lines_.clear();
    last_ = nullptr;
  }

  /// True if a line is not in order of start: the results are invalid, and must be computed again with LineOrder::any.
  bool is_disordered() const { return is_disordered_; }

 private:
  struct Line {
    Walk walk;
    Row last{};
    bool has_last = false;
    std::vector<Row> rows;  ///< used with LineOrder::any
  };

  /// The line of an index. Most readers deliver events line by line, so the last line is tried first.
  Line& find(std::size_t index) {
    if (last_ == nullptr || last_index_ != index) {
      last_ = &lines_.try_emplace(index, Line{fresh_, {}, false, {}}).first->second;
      last_index_ = index;
    }
    return *last_;
  }

  static void end(Line& line) {
    if (!std::is_sorted(line.rows.begin(), line.rows.end(), Walk::is_before)) {
      std::stable_sort(line.rows.begin(), line.rows.end(), Walk::is_before);
    }
    for (const Row& row : line.rows) line.walk.take(row);
    line.walk.finish();
  }

  LineOrder order_;
  Walk fresh_;
  bool is_disordered_ = false;
  std::map<std::size_t, Line> lines_;  ///< by EventLine::index
  Line* last_ = nullptr;
  std::size_t last_index_ = 0;
};

}  // namespace doctor
