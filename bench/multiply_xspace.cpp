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
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "multiply_main.h"
#include "xspace_parts.h"

namespace xspace_parts {
namespace {

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
}  // namespace xspace_parts

int main(int argc, char** argv) {
  return bench::multiply_main(argc, argv, xspace_parts::multiply);
}
