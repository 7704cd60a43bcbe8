#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "io/sqlite.h"

namespace doctor {

/// Events that are asked once and then forgotten, packed in memory, without their arguments: the table `events` of
/// add_events_table() reads them where they lie. Storing and joining rows of SQLite would take five times as long.
class EventStore {
 public:
  struct Row {
    std::uint32_t line = 0;  ///< number in `event_lines`
    std::uint32_t name = 0;  ///< number in `event_names`
    Picoseconds start = 0;   ///< since the origin of its file
    Picoseconds duration = 0;
  };
  /// What the events of a thread share.
  struct Line {
    std::array<std::string, 4> texts;  ///< file, host, process, thread
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    std::string origin_ns;
    Picoseconds shift = 0;  ///< to the clock of all files
  };
  /// What the events of a name share.
  struct Name {
    std::array<std::optional<std::string>, 5>
        texts;  ///< name, long name, type of the op, id of the iterator, of its parent
  };

  explicit EventStore(std::size_t most_rows) : most_rows_(most_rows) {}

  /// False where it is full.
  bool add(const Row& row);
  /// Whether rows were refused: what is asked of the others would be wrong.
  bool is_full() const { return is_full_; }

  std::size_t size() const { return size_; }
  const Row& operator[](std::size_t index) const { return chunks_[index / kChunk][index % kChunk]; }
  /// Forgets the rows after the first `size`; before any are asked for.
  void shrink(std::size_t size) { size_ = size; }

  /// Reads lines and names from their tables, once all is loaded. False where that fails.
  bool read_shared(sqlite3* database);
  const Line& line_of(const Row& row) const { return lines_[row.line]; }
  const Name& name_of(const Row& row) const { return names_[row.name]; }

  /// The indices of all rows in the order of a text that lines (`column` 0 to 3) or names (from kFirstOfName on) hold;
  /// rows of the same text in the order in which they were added, whatever the direction of the texts.
  static constexpr int kFirstOfName = 4;
  static constexpr int kSortable = 9;
  enum class Direction : std::uint8_t { ascending, descending };
  const std::vector<std::uint32_t>& order_by(int column, Direction direction);

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 12;

  std::size_t most_rows_;
  std::size_t size_ = 0;
  bool is_full_ = false;
  std::vector<std::unique_ptr<Row[]>> chunks_;
  bool has_shared_ = false;
  std::vector<Line> lines_;  ///< indexed by number
  std::vector<Name> names_;  ///< likewise
  std::array<std::vector<std::uint32_t>, std::size_t{2} * kSortable>
      orders_;  ///< ascending ones, then descending ones; empty: not asked for yet
};

/// Makes the table `events` of a connection, which reads `store`. Both live as long as the connection. Errors: false.
bool add_events_table(sqlite3* database, EventStore& store);

}  // namespace doctor
