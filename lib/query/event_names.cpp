#include "query/load_inputs.h"
#include "query/tables.h"
#include "trace/event_kind.h"

namespace doctor {
namespace {

void add_token(RowInserter& row, const std::optional<std::uint64_t>& token) {
  token ? row.text(std::to_string(*token)) : row.null();
}

}  // namespace

EventNames::EventNames(QueryDatabase& database, bool has_tokens)
    : has_tokens_(has_tokens),
      rows_(database, kEventNames, 6),
      next_(database.next_number(kEventNames, "name_number")) {}

std::int64_t EventNames::number_of(const EventFile& file, const TraceEvent& event) {
  const std::int64_t number = numbers_.of(event, [&] {
    const bool has_many = has_tokens_ && classify_event(event.name) == EventKind::iterator;
    return has_many ? kManyNumbers : number_by_text(file, event);
  });
  return number == kManyNumbers ? number_by_text(file, event) : number;
}

std::int64_t EventNames::number_by_text(const EventFile& file, const TraceEvent& event) {
  forget_if_full();
  key_.assign(event.name).append(1, '\0').append(event.short_name);
  const auto [place, is_new] = names_.try_emplace(key_);
  Name& name = place->second;
  if (is_new) {
    known_bytes_ += key_.size();
    name.is_iterator = has_tokens_ && classify_event(event.name) == EventKind::iterator;
    if (!name.is_iterator) name.number = add(columns_of(file, event));
  }
  if (!name.is_iterator) return name.number;
  const EventColumns columns = columns_of(file, event);
  const auto [object, is_first] = name.objects.try_emplace({columns.iterator_id, columns.parent_id});
  if (is_first) object->second = add(columns);
  return object->second;
}

void EventNames::forget_if_full() {
  if (known_ < kMostKnown && known_bytes_ < kMostKnownBytes) return;
  names_.clear();
  known_ = known_bytes_ = 0;
}

std::int64_t EventNames::add(const EventColumns& columns) {
  ++known_;
  rows_.integer(next_).text(columns.name).text(columns.long_name).text(columns.op_type);
  add_token(rows_, columns.iterator_id);
  add_token(rows_, columns.parent_id);
  rows_.end_row();
  return next_++;
}

}  // namespace doctor
