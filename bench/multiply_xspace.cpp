// Usage: multiply_xspace BASE COPIES OUTPUT
//
// Writes an XSpace that is COPIES times as long as the run in BASE: the events of every line are repeated, each copy
// behind the one before. All other bytes are those of BASE, so that one copy is BASE itself.

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "multiply_main.h"

namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

// Field numbers of tests/xspace.proto.
constexpr std::uint32_t kPlanes = 1;
constexpr std::uint32_t kPlaneName = 2;
constexpr std::uint32_t kLines = 3;
constexpr std::uint32_t kLineTimestamp = 3;
constexpr std::uint32_t kEvents = 4;
constexpr std::uint32_t kOffset = 2;
constexpr std::uint32_t kDuration = 3;
constexpr std::uint32_t kOccurrences = 5;

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

/// An event, cut where its offset stands. Times in picoseconds.
struct Event {
  std::string_view before;
  std::string_view after;
  bool has_offset = false;  ///< false: a count of occurrences or an event at offset 0
  bool is_timed = true;     ///< false: a count of occurrences, which has no place in time
  std::uint64_t offset = 0;
  std::uint64_t duration = 0;

  std::uint64_t offset_of(std::uint64_t copy, std::uint64_t shift) const {
    return is_timed ? offset + copy * shift : 0;
  }
  bool writes_offset(std::uint64_t copy) const { return has_offset || (is_timed && copy > 0); }

  std::uint64_t size(std::uint64_t copy, std::uint64_t shift) const {
    const std::uint64_t rest = before.size() + after.size();
    return writes_offset(copy) ? rest + 1 + CodedOutputStream::VarintSize64(offset_of(copy, shift)) : rest;
  }
};

Event cut_event(std::string_view message) {
  Event event;
  event.before = message;
  Fields fields(message);
  for (Field field; fields.next(field);) {
    if (field.tag == tag(kOffset, kVarint)) {
      event.has_offset = true;
      event.offset = field.number;
      const auto start = static_cast<std::size_t>(field.encoded.data() - message.data());
      event.before = message.substr(0, start);
      event.after = message.substr(start + field.encoded.size());
    } else if (field.tag == tag(kDuration, kVarint)) {
      event.duration = field.number;
    } else if (field.tag == tag(kOccurrences, kVarint)) {
      event.is_timed = false;
    }
  }
  return event;
}

/// A line: the fields before its events, the events, the fields behind.
struct Line {
  std::vector<std::string_view> before;
  std::vector<Event> events;
  std::vector<std::string_view> after;
  std::uint64_t start = 0;  ///< from which the events' offsets count, in picoseconds
};

Line cut_line(std::string_view message) {
  Line line;
  Fields fields(message);
  for (Field field; fields.next(field);) {
    if (field.tag == tag(kEvents, kBytes)) {
      line.events.push_back(cut_event(field.bytes));
      continue;
    }
    if (field.tag == tag(kLineTimestamp, kVarint)) line.start = field.number * 1000;
    (line.events.empty() ? line.before : line.after).push_back(field.encoded);
  }
  return line;
}

struct Repetition {
  std::uint64_t copies = 1;
  std::uint64_t shift = 0;  ///< from one copy to the next, in picoseconds
};

std::uint64_t size_of_field(std::uint64_t length) {
  return 1 + CodedOutputStream::VarintSize64(length) + length;
}

std::uint64_t size_of(const Line& line, const Repetition& repetition) {
  std::uint64_t size = 0;
  for (const std::string_view field : line.before) size += field.size();
  for (const std::string_view field : line.after) size += field.size();
  for (std::uint64_t copy = 0; copy < repetition.copies; ++copy) {
    for (const Event& event : line.events) size += size_of_field(event.size(copy, repetition.shift));
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

void write_line(CodedOutputStream& output, const Line& line, const Repetition& repetition) {
  write_header(output, kLines, size_of(line, repetition));
  for (const std::string_view field : line.before) write(output, field);
  for (std::uint64_t copy = 0; copy < repetition.copies; ++copy) {
    for (const Event& event : line.events) {
      write_header(output, kEvents, event.size(copy, repetition.shift));
      write(output, event.before);
      if (event.writes_offset(copy)) {
        output.WriteTag(tag(kOffset, kVarint));
        output.WriteVarint64(event.offset_of(copy, repetition.shift));
      }
      write(output, event.after);
    }
  }
  for (const std::string_view field : line.after) write(output, field);
}

/// Decodes one line at a time: the lines are many times the bytes that they were read from.
void write_plane(CodedOutputStream& output, std::string_view plane, const Repetition& repetition) {
  std::uint64_t size = 0;
  Fields sized(plane);
  for (Field field; sized.next(field);) {
    const bool is_line = field.tag == tag(kLines, kBytes);
    size += is_line ? size_of_field(size_of(cut_line(field.bytes), repetition)) : field.encoded.size();
  }
  write_header(output, kPlanes, size);
  Fields written(plane);
  for (Field field; written.next(field);) {
    if (field.tag == tag(kLines, kBytes)) {
      write_line(output, cut_line(field.bytes), repetition);
    } else {
      write(output, field.encoded);
    }
  }
}

/// From the earliest start to the latest end of the host's events, in whole milliseconds, so that no copy overlaps the
/// next one on any thread.
std::uint64_t duration_of_run(std::string_view space) {
  std::uint64_t start = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end = 0;
  Fields planes(space);
  for (Field plane; planes.next(plane);) {
    if (plane.tag != tag(kPlanes, kBytes)) continue;
    bool is_host = false;
    Fields parts(plane.bytes);
    for (Field part; parts.next(part);) {
      if (part.tag == tag(kPlaneName, kBytes)) is_host = part.bytes.starts_with("/host:CPU");
      if (part.tag != tag(kLines, kBytes) || !is_host) continue;
      const Line line = cut_line(part.bytes);
      for (const Event& event : line.events) {
        if (!event.is_timed) continue;
        start = std::min(start, line.start + event.offset);
        end = std::max(end, line.start + event.offset + event.duration);
      }
    }
  }
  if (end <= start) throw std::runtime_error("the base has no events on a plane named /host:CPU");
  constexpr std::uint64_t kMillisecond = 1'000'000'000;
  return (end - start + kMillisecond - 1) / kMillisecond * kMillisecond;
}

void multiply(const std::string& base, std::uint64_t copies, const char* path) {
  std::ifstream input(base, std::ios::binary);
  const std::string space((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
  if (!input) throw std::runtime_error("cannot read " + base);
  const Repetition repetition{copies, duration_of_run(space)};

  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) throw std::runtime_error("cannot write the output");
  constexpr int kBlock = 1 << 20;
  google::protobuf::io::FileOutputStream stream(file, kBlock);
  {
    CodedOutputStream output(&stream);
    Fields fields(space);
    for (Field field; fields.next(field);) {
      if (field.tag == tag(kPlanes, kBytes)) {
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
