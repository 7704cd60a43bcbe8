// Usage: multiply_xspace BASE COPIES OUTPUT
//
// Writes an XSpace that is COPIES times as long as the run in BASE: the events of every line are repeated, each copy
// after the one before. Ids of elements, functions and closures are each copy's own, as in a run that went on: repeated
// ids would scatter the producers of an element over the whole file. All other bytes are those of BASE, so that one
// copy is BASE itself.

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "multiply_main.h"
#include "trace/xspace/xspace_fields.h"

namespace {

namespace message_fields = doctor::message_fields;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kBytes = 2;

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
constexpr std::size_t kIdKinds = 3;

/// The statistics of a plane that hold such ids, and the events whose `id` is that of a function.
struct PlaneNames {
  std::unordered_map<std::uint64_t, IdKind> stats;  ///< by metadata id
  std::unordered_set<std::uint64_t> iterators;      ///< metadata ids of events whose `id` is an iterator's
};

std::pair<std::uint64_t, std::string_view> cut_metadata(std::string_view entry) {
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

PlaneNames names_of(std::string_view plane) {
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

std::uint64_t size_of_field(std::uint64_t length) {
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
std::optional<Part> cut_id(const Field& statistic, const PlaneNames& names, bool is_iterator) {
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

Event cut_event(std::string_view message, const PlaneNames& names) {
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

Line cut_line(std::string_view message, const PlaneNames& names) {
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

std::uint64_t size_of(const Line& line, const Repetition& repetition) {
  std::uint64_t size = 0;
  for (const std::string_view field : line.before) size += field.size();
  for (const std::string_view field : line.after) size += field.size();
  for (std::uint64_t copy = 0; copy < repetition.copies; ++copy) {
    for (const Event& event : line.events) size += size_of_field(event.size(copy, repetition));
  }
  return size;
}

void write(CodedOutputStream& output, std::string_view bytes) {
  output.WriteRaw(bytes.data(), static_cast<int>(bytes.size()));
}

void write_header(CodedOutputStream& output, std::uint32_t field, std::uint64_t length) {
  output.WriteTag(tag(field, kBytes));
  output.WriteVarint64(length);
}

void write_part(CodedOutputStream& output, const Part& part, std::uint64_t copy, const Repetition& repetition) {
  if (part.kind) write_header(output, message_fields::XEvent::stats, part.statistic_size(copy, repetition));
  write(output, part.bytes);
  if (part.kind) output.WriteVarint64(part.id_of(copy, repetition));
  write(output, part.after);
}

void write_line(CodedOutputStream& output, const Line& line, const Repetition& repetition) {
  write_header(output, message_fields::XPlane::lines, size_of(line, repetition));
  for (const std::string_view field : line.before) write(output, field);
  for (std::uint64_t copy = 0; copy < repetition.copies; ++copy) {
    for (const Event& event : line.events) {
      write_header(output, message_fields::XLine::events, event.size(copy, repetition));
      write(output, event.before);
      if (event.writes_offset(copy)) {
        output.WriteTag(tag(message_fields::XEvent::offset_ps, kVarint));
        output.WriteVarint64(event.offset_of(copy, repetition.shift));
      }
      for (const Part& part : event.parts) write_part(output, part, copy, repetition);
    }
  }
  for (const std::string_view field : line.after) write(output, field);
}

/// Decodes one line at a time: the lines are many times the bytes that they were read from.
void write_plane(CodedOutputStream& output, std::string_view plane, const Repetition& repetition) {
  const PlaneNames names = names_of(plane);
  std::uint64_t size = 0;
  Fields sized(plane);
  for (Field field; sized.next(field);) {
    const bool is_line = field.tag == tag(message_fields::XPlane::lines, kBytes);
    size += is_line ? size_of_field(size_of(cut_line(field.bytes, names), repetition)) : field.encoded.size();
  }
  write_header(output, message_fields::XSpace::planes, size);
  Fields written(plane);
  for (Field field; written.next(field);) {
    if (field.tag == tag(message_fields::XPlane::lines, kBytes)) {
      write_line(output, cut_line(field.bytes, names), repetition);
    } else {
      write(output, field.encoded);
    }
  }
}

/// What the copies are apart, in time and in their ids.
class Extent {
 public:
  void add(const Line& line, bool is_host) {
    for (const Event& event : line.events) {
      for (const Part& part : event.parts) {
        if (!part.kind) continue;
        std::uint32_t& largest = largest_[static_cast<std::size_t>(*part.kind)];
        largest = std::max(largest, static_cast<std::uint32_t>(part.id));
      }
      if (!event.is_timed || !is_host) continue;
      start_ = std::min(start_, line.start + event.offset);
      end_ = std::max(end_, line.start + event.offset + event.duration);
    }
  }

  /// In whole milliseconds, so that no copy overlaps the next one on any thread.
  std::uint64_t duration() const {
    if (end_ <= start_) throw std::runtime_error("the base has no events on a plane named /host:CPU");
    constexpr std::uint64_t kMillisecond = 1'000'000'000;
    return (end_ - start_ + kMillisecond - 1) / kMillisecond * kMillisecond;
  }

  /// Ids that are counted go on counting. Those that are drawn from all numbers are moved around by an odd number, so
  /// that 2^32 copies differ.
  IdStrides strides() const {
    constexpr std::uint32_t kLargestCounted = 1u << 28;
    constexpr std::uint32_t kOddStride = 0x9e3779b1;
    IdStrides strides{};
    for (std::size_t kind = 0; kind < kIdKinds; ++kind) {
      strides[kind] = largest_[kind] < kLargestCounted ? largest_[kind] + 1 : kOddStride;
    }
    return strides;
  }

 private:
  std::uint64_t start_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end_ = 0;
  std::array<std::uint32_t, kIdKinds> largest_{};
};

Extent extent_of(std::string_view space) {
  Extent extent;
  Fields planes(space);
  for (Field plane; planes.next(plane);) {
    if (plane.tag != tag(message_fields::XSpace::planes, kBytes)) continue;
    const PlaneNames names = names_of(plane.bytes);
    bool is_host = false;
    Fields parts(plane.bytes);
    for (Field part; parts.next(part);) {
      if (part.tag == tag(message_fields::XPlane::name, kBytes)) is_host = part.bytes.starts_with("/host:CPU");
      if (part.tag == tag(message_fields::XPlane::lines, kBytes)) extent.add(cut_line(part.bytes, names), is_host);
    }
  }
  return extent;
}

void multiply(const std::string& base, std::uint64_t copies, const char* path) {
  std::ifstream input(base, std::ios::binary);
  const std::string space((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
  if (!input) throw std::runtime_error("cannot read " + base);
  const Extent extent = extent_of(space);
  const Repetition repetition{copies, extent.duration(), extent.strides()};

  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) throw std::runtime_error("cannot write the output");
  constexpr int kBlock = 1 << 20;
  google::protobuf::io::FileOutputStream stream(file, kBlock);
  {
    CodedOutputStream output(&stream);
    Fields fields(space);
    for (Field field; fields.next(field);) {
      if (field.tag == tag(message_fields::XSpace::planes, kBytes)) {
        write_plane(output, field.bytes, repetition);
      } else {
        write(output, field.encoded);
      }
    }
  }
  if (!stream.Close()) throw std::runtime_error("cannot write the output");
}

}  // namespace

int main(int argc, char** argv) {
  return bench::multiply_main(argc, argv, multiply);
}
