#pragma once

// An XSpace cut into what multiply_xspace repeats and what it changes in each copy.

#include <google/protobuf/io/coded_stream.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/xspace/xspace_fields.h"

namespace xspace_parts {

namespace message_fields = doctor::message_fields;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

inline constexpr std::uint32_t kVarint = 0;
inline constexpr std::uint32_t kBytes = 2;

constexpr std::uint32_t tag(std::uint32_t field, std::uint32_t type) {
  return field << 3 | type;
}

/// One field of a message. Views point into the base.
struct Field {
  std::uint32_t tag = 0;
  std::uint64_t number = 0;  ///< of a varint
  std::string_view bytes;    ///< of a string or message
  std::string_view encoded;  ///< the field as it stands, with its tag
};

/// The fields of one message in order. Throws at damage: the base is ours.
class Fields {
 public:
  explicit Fields(std::string_view message)
      : message_(message),
        input_(reinterpret_cast<const std::uint8_t*>(message.data()), static_cast<int>(message.size())) {}

  bool next(Field& field) {
    const std::size_t start = position();
    if (start == message_.size()) return false;
    field.tag = input_.ReadTag();
    read_value(field);
    field.encoded = message_.substr(start, position() - start);
    return true;
  }

 private:
  std::size_t position() { return static_cast<std::size_t>(input_.CurrentPosition()); }

  void read_value(Field& field) {
    std::uint32_t fixed32 = 0;
    bool is_read = false;
    switch (field.tag & 7) {
      case 0:
        is_read = input_.ReadVarint64(&field.number);
        break;
      case 1:
        is_read = input_.ReadLittleEndian64(&field.number);
        break;
      case 2:
        is_read = input_.ReadVarint64(&field.number) && field.number <= message_.size() - position();
        if (is_read) field.bytes = message_.substr(position(), field.number);
        is_read = is_read && input_.Skip(static_cast<int>(field.number));
        break;
      case 5:
        is_read = input_.ReadLittleEndian32(&fixed32);
        break;
      default:
        break;
    }
    if (!is_read) throw std::runtime_error("the base is no XSpace");
  }

  std::string_view message_;
  CodedInputStream input_;
};

/// Numbers that no two copies share.
enum class IdKind : std::size_t { element, function, closure };
inline constexpr std::size_t kIdKinds = 3;

/// The statistics of a plane that hold such ids, and the events whose `id` is that of a function.
struct PlaneNames {
  std::unordered_map<std::uint64_t, IdKind> stats;  ///< by metadata id
  std::unordered_set<std::uint64_t> iterators;      ///< metadata ids of events whose `id` is an iterator's
};

inline std::pair<std::uint64_t, std::string_view> cut_metadata(std::string_view entry) {
  std::pair<std::uint64_t, std::string_view> metadata{0, {}};
  Fields fields(entry);
  for (Field field; fields.next(field);) {
    if (field.tag == tag(1, kVarint)) metadata.first = field.number;
    if (field.tag != tag(2, kBytes)) continue;
    Fields value(field.bytes);
    for (Field part; value.next(part);) {
      if (part.tag == tag(2, kBytes)) metadata.second = part.bytes;
    }
  }
  return metadata;
}

inline PlaneNames names_of(std::string_view plane) {
  PlaneNames names;
  Fields fields(plane);
  for (Field field; fields.next(field);) {
    if (field.tag == tag(message_fields::XPlane::stat_metadata, kBytes)) {
      const auto [id, name] = cut_metadata(field.bytes);
      if (name == "element_id") names.stats.emplace(id, IdKind::element);
      if (name == "id") names.stats.emplace(id, IdKind::function);
      if (name == "_p" || name == "_c") names.stats.emplace(id, IdKind::closure);
    } else if (field.tag == tag(message_fields::XPlane::event_metadata, kBytes)) {
      const auto [id, name] = cut_metadata(field.bytes);
      if (name.starts_with("Iterator::")) names.iterators.insert(id);
    }
  }
  return names;
}

/// How the lower half of an id changes from one copy to the next; the upper half (the file of an interleave) stays.
using IdStrides = std::array<std::uint32_t, kIdKinds>;

struct Repetition {
  std::uint64_t copies = 1;
  std::uint64_t shift = 0;  ///< from one copy to the next, in picoseconds
  IdStrides strides{};
};

/// Bytes as they stand, or a statistic that holds an id.
struct Part {
  std::string_view bytes;  ///< of a statistic: those before its number
  std::optional<IdKind> kind;
  std::uint64_t id = 0;
  std::string_view after;  ///< of a statistic: those after its number

  std::uint64_t id_of(std::uint64_t copy, const Repetition& repetition) const {
    const auto lower = static_cast<std::uint32_t>(id) +
                       static_cast<std::uint32_t>(copy) * repetition.strides[static_cast<std::size_t>(*kind)];
    return (id & ~std::uint64_t{0xffffffff}) | lower;
  }
  std::uint64_t statistic_size(std::uint64_t copy, const Repetition& repetition) const {
    return bytes.size() + CodedOutputStream::VarintSize64(id_of(copy, repetition)) + after.size();
  }
};

inline std::uint64_t size_of_field(std::uint64_t length) {
  return 1 + CodedOutputStream::VarintSize64(length) + length;
}

/// An event, cut where its offset and its ids stand. Times in picoseconds.
struct Event {
  std::string_view before;  ///< up to the offset
  std::vector<Part> parts;  ///< what follows it
  bool has_offset = false;  ///< false: a count of occurrences or an event at offset 0
  bool is_timed = true;     ///< false: a count of occurrences, which has no place in time
  std::uint64_t offset = 0;
  std::uint64_t duration = 0;

  std::uint64_t offset_of(std::uint64_t copy, std::uint64_t shift) const {
    return is_timed ? offset + copy * shift : 0;
  }
  bool writes_offset(std::uint64_t copy) const { return has_offset || (is_timed && copy > 0); }

  std::uint64_t size(std::uint64_t copy, const Repetition& repetition) const {
    std::uint64_t size = before.size();
    if (writes_offset(copy)) size += 1 + CodedOutputStream::VarintSize64(offset_of(copy, repetition.shift));
    for (const Part& part : parts) {
      size += part.kind ? size_of_field(part.statistic_size(copy, repetition)) : part.bytes.size();
    }
    return size;
  }
};

/// A statistic that holds an id, else nothing.
inline std::optional<Part> cut_id(const Field& statistic, const PlaneNames& names, bool is_iterator) {
  std::optional<Part> part;
  std::optional<IdKind> kind;
  Fields fields(statistic.bytes);
  for (Field field; fields.next(field);) {
    if (field.tag == tag(message_fields::XEvent::metadata_id, kVarint)) {
      const auto named = names.stats.find(field.number);
      if (named != names.stats.end()) kind = named->second;
    } else if (field.tag == tag(message_fields::XStat::uint64_value, kVarint) ||
               field.tag == tag(message_fields::XStat::int64_value, kVarint)) {
      const auto start = static_cast<std::size_t>(field.encoded.data() - statistic.bytes.data());
      part = Part{
          statistic.bytes.substr(0, start + 1), {}, field.number, statistic.bytes.substr(start + field.encoded.size())};
    }
  }
  if (!part || !kind || (*kind == IdKind::function && is_iterator)) return std::nullopt;
  part->kind = kind;
  return part;
}

inline Event cut_event(std::string_view message, const PlaneNames& names) {
  Event event;
  bool is_iterator = false;
  std::string_view* literal = &event.before;
  const auto add = [&](std::string_view encoded) {
    *literal = literal->empty() ? encoded : std::string_view(literal->data(), literal->size() + encoded.size());
  };
  const auto begin_literal = [&] {
    event.parts.emplace_back();
    literal = &event.parts.back().bytes;
  };
  Fields fields(message);
  for (Field field; fields.next(field);) {
    if (field.tag == tag(message_fields::XEvent::metadata_id, kVarint))
      is_iterator = names.iterators.contains(field.number);
    if (field.tag == tag(message_fields::XEvent::duration_ps, kVarint)) event.duration = field.number;
    if (field.tag == tag(message_fields::XEvent::num_occurrences, kVarint)) event.is_timed = false;
    if (field.tag == tag(message_fields::XEvent::offset_ps, kVarint)) {
      event.has_offset = true;
      event.offset = field.number;
      begin_literal();
      continue;
    }
    const std::optional<Part> id =
        field.tag == tag(message_fields::XEvent::stats, kBytes) ? cut_id(field, names, is_iterator) : std::nullopt;
    if (!id) {
      add(field.encoded);
      continue;
    }
    event.parts.push_back(*id);
    begin_literal();
  }
  return event;
}

/// A line: the fields before its events, the events, the fields after.
struct Line {
  std::vector<std::string_view> before;
  std::vector<Event> events;
  std::vector<std::string_view> after;
  std::uint64_t start = 0;  ///< from which the events' offsets count, in picoseconds
};

inline Line cut_line(std::string_view message, const PlaneNames& names) {
  Line line;
  Fields fields(message);
  for (Field field; fields.next(field);) {
    if (field.tag == tag(message_fields::XLine::events, kBytes)) {
      line.events.push_back(cut_event(field.bytes, names));
      continue;
    }
    if (field.tag == tag(message_fields::XLine::timestamp_ns, kVarint)) line.start = field.number * 1000;
    (line.events.empty() ? line.before : line.after).push_back(field.encoded);
  }
  return line;
}

}  // namespace xspace_parts
