#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "convert/event_columns.h"
#include "query/query_database.h"
#include "query/row_inserter.h"
#include "trace/event_reader.h"
#include "trace/name_memo.h"

namespace doctor {

/// Numbers what events of one name share, and stores it once: the name itself, for iterators with their ids. If a trace
/// has more names than fit, they are forgotten; names that recur are then stored again, under new numbers.
class EventNames {
 public:
  /// The largest number of names and iterator objects known at once. The largest of our traces has 5,120, the others
  /// some hundreds.
  static constexpr std::size_t kMostKnown = std::size_t{1} << 16;
  static constexpr std::size_t kMostKnownBytes = std::size_t{16} << 20;

  /// For the events of one reading. `has_tokens`: ids of iterators are stored, each with a number of its own.
  EventNames(QueryDatabase& database, bool has_tokens);

  /// True if arguments of this name are used, for ids.
  static bool wants(std::string_view argument) { return argument == "id" || argument == "parent_id"; }

  std::int64_t number_of(const EventFile& file, const TraceEvent& event);

  Result<void> finish() const { return rows_.finish(); }

 private:
  using Ids = std::pair<std::optional<std::uint64_t>, std::optional<std::uint64_t>>;

  struct Name {
    bool is_iterator = false;
    std::int64_t number = 0;              ///< of a name that is not an iterator's
    std::map<Ids, std::int64_t> objects;  ///< of an iterator
  };

  std::int64_t number_by_text(const EventFile& file, const TraceEvent& event);
  std::int64_t add(const EventColumns& columns);
  void forget_if_full();

  bool has_tokens_;
  static constexpr std::int64_t kManyNumbers = 0;

  RowInserter rows_;
  NameMemo<std::int64_t> numbers_;  ///< kManyNumbers for an iterator whose ids are stored
  std::int64_t next_;
  std::string key_;
  std::unordered_map<std::string, Name> names_;  ///< by long and short name
  std::size_t known_ = 0;                        ///< names and objects in `names_`
  std::size_t known_bytes_ = 0;                  ///< size of their keys
};

}  // namespace doctor
