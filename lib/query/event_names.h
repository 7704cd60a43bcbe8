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

/// Numbers what events of one name share, and stores it once: the name itself, for iterators with their ids. Of a trace
/// with more names than fit it forgets them and begins anew: what comes again then is stored twice, under two numbers.
class EventNames {
 public:
  /// Names that are known at once, and objects of iterators. Of the largest traces that we have one holds 5,120, the
  /// others some hundreds.
  static constexpr std::size_t kMostKnown = std::size_t{1} << 16;
  static constexpr std::size_t kMostKnownBytes = std::size_t{16} << 20;

  /// `has_tokens`: whether ids of iterators are stored, each with a number of its own. For the events of one reading.
  EventNames(QueryDatabase& database, bool has_tokens);

  /// Whether arguments of this name are looked at, for ids.
  static bool wants(std::string_view argument) { return argument == "id" || argument == "parent_id"; }

  std::int64_t number_of(const EventFile& file, const TraceEvent& event);

  Result<void> finish() const { return rows_.finish(); }

 private:
  using Ids = std::pair<std::optional<std::uint64_t>, std::optional<std::uint64_t>>;

  struct Name {
    bool is_iterator = false;
    std::int64_t number = 0;              ///< of what is not an iterator
    std::map<Ids, std::int64_t> objects;  ///< of an iterator
  };

  std::int64_t number_by_text(const EventFile& file, const TraceEvent& event);
  std::int64_t add(const EventColumns& columns);
  void forget_if_full();

  bool has_tokens_;
  static constexpr std::int64_t kManyNumbers = 0;

  RowInserter rows_;
  NameMemo<std::int64_t> numbers_;  ///< kManyNumbers of an iterator whose ids are stored
  std::int64_t next_;
  std::string key_;
  std::unordered_map<std::string, Name> names_;  ///< by long and short name
  std::size_t known_ = 0;                        ///< names and objects in `names_`
  std::size_t known_bytes_ = 0;                  ///< of their keys
};

}  // namespace doctor
