#pragma once

#include <array>
#include <vector>

#include "base/time.h"
#include "io/sqlite.h"

namespace doctor {

/// Events that are queried once and then forgotten, packed in memory, without their arguments. The table `events` of
/// add_events_table() reads them in place. Storing and joining rows of SQLite would take five times as long.
class EventStore {
 public:
  struct Row {
    std::uint32_t line = 0;  ///< number in `event_lines`
    std::uint32_t name = 0;  ///< number in `event_names`
    Picoseconds start = 0;   ///< since the origin of its file
    Picoseconds duration = 0;
  };
  /// The columns that the events of a thread share.
  struct Line {
    std::array<std::string, 4> texts;  ///< file, host, process, thread
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    std::string origin_ns;
    Picoseconds shift = 0;  ///< shift to the common clock of all files
  };
  /// The columns that the events of a name share.
  struct Name {
    std::array<std::optional<std::string>, 5>
        texts;  ///< name, long name, op type, id of the iterator, id of its parent
  };

  explicit EventStore(std::size_t most_rows) : most_rows_(most_rows) {}

  /// Keeps no rows, for a statement that reads no column: there may be any number of them. Called before add().
  void only_count() { only_counts_ = true; }

  /// Adds a row; false if the store is full.
  bool add(const Row& row);
  /// True if rows were refused: then queries of the others would give wrong results.
  bool is_full() const { return is_full_; }

  std::size_t size() const { return size_; }
  const Row& operator[](std::size_t index) const { return chunks_[index / kChunk][index % kChunk]; }
  /// Forgets the rows after the first `size`. Must be called before any are queried.
  void shrink(std::size_t size) { size_ = size; }

  /// Reads lines and names from their tables, once everything is loaded. Returns false if that fails.
  bool read_shared(sqlite3* database);
  const Line& line_of(const Row& row) const { return lines_[row.line]; }
  const Name& name_of(const Row& row) const { return names_[row.name]; }

  /// The indices of all rows in the order of a text of lines (`column` 0 to 3) or names (from kFirstOfName on). Rows
  /// with equal texts are in the order in which they were added, whatever the direction.
  static constexpr int kFirstOfName = 4;
  static constexpr int kSortable = 9;
  enum class Direction : std::uint8_t { ascending, descending };
  const std::vector<std::uint32_t>& order_by(int column, Direction direction);

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 12;

  std::size_t most_rows_;
  std::size_t size_ = 0;
  bool is_full_ = false;
  bool only_counts_ = false;
  std::vector<std::unique_ptr<Row[]>> chunks_;
  bool has_shared_ = false;
  std::vector<Line> lines_;  ///< indexed by number
  std::vector<Name> names_;  ///< likewise
  std::array<std::vector<std::uint32_t>, std::size_t{2} * kSortable>
      orders_;  ///< ascending orders, then descending ones; empty: not requested yet
};

/// Makes the table `events` of a connection, which reads `store`. The store must live as long as the connection.
/// Returns false on errors.
bool add_events_table(sqlite3* database, EventStore& store);

}  // namespace doctor
