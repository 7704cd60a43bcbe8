// Ours: the windows of XSpaceWindows, each event with its ids and all its statistics.

#include <bit>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "aggregate.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "program.h"
#include "trace/wire.h"
#include "trace/xspace_windows.h"

namespace {

using bench::Aggregate;
using bench::NameId;
using doctor::WireField;
using doctor::WireMessage;
using doctor::WireType;

/// The names of a plane's events by metadata id. Metadata ids are small and dense.
using Names = std::vector<NameId>;

struct Planes {
  std::vector<doctor::PlaneNames> planes;  ///< as the windows need them
  std::vector<Names> names;
};

void add_name(std::string_view entry, Aggregate& aggregate, Names& names) {
  std::uint64_t id = 0;
  std::string_view name;
  WireMessage message(entry);
  for (WireField field; message.next(field);) {
    if (field.is(1, WireType::varint)) id = field.number;
    if (!field.is(2, WireType::bytes)) continue;
    WireMessage metadata(field.bytes());
    for (WireField inner; metadata.next(inner);) {
      if (inner.is(2, WireType::bytes)) name = inner.bytes();
    }
  }
  if (id >= 1 << 20) throw std::runtime_error("not a trace of the benchmark");
  if (id >= names.size()) names.resize(id + 1);
  names[id] = aggregate.intern(name);
}

Planes read_names(doctor::ByteSource& source, Aggregate& aggregate) {
  Planes result;
  doctor::WireStream stream(source, doctor::WorkOptions{}.window_size);
  while (!stream.at_end()) {
    const auto tag = stream.read_tag();
    const auto length = stream.read_number();
    if (!tag || !length) throw std::runtime_error("not an XSpace");
    const std::uint64_t end = stream.position() + *length;
    if (tag->field == 1) {
      doctor::PlaneNames& plane = result.planes.emplace_back();
      plane.index = result.planes.size() - 1;
      plane.name = "/host:CPU";  // every plane is wanted
      result.names.emplace_back();
      while (stream.position() < end) {
        const auto inner = stream.read_tag();
        const auto number = stream.read_number();
        if (!inner || !number) throw std::runtime_error("not an XSpace");
        if (inner->type != WireType::bytes) continue;
        const std::uint64_t inner_end = stream.position() + *number;
        if (inner->field == 4) add_name(*stream.read_bytes(*number), aggregate, result.names.back());
        stream.skip_to(inner_end);
      }
    }
    stream.skip_to(end);
  }
  return result;
}

void add_stat(std::string_view bytes, Aggregate& aggregate) {
  std::uint64_t id = 0;
  std::uint64_t value = 0;
  WireMessage message(bytes);
  for (WireField field; message.next(field);) {
    if (field.field() == 1) {
      id = field.number;
    } else {
      value = field.number;  // of a text its length
    }
  }
  aggregate.add_stat(id, value);
}

void add_event(std::string_view bytes, const Names& names, doctor::Picoseconds line_start, bench::Thread& thread,
               Aggregate& aggregate) {
  std::uint64_t id = 0;
  doctor::Picoseconds offset = 0;
  doctor::Picoseconds duration = 0;
  WireMessage message(bytes);
  for (WireField field; message.next(field);) {
    if (field.is(4, WireType::bytes)) {
      add_stat(field.bytes(), aggregate);
    } else if (field.is(1, WireType::varint)) {
      id = field.number;
    } else if (field.is(2, WireType::varint)) {
      offset = field.as_signed();
    } else if (field.is(3, WireType::varint)) {
      duration = field.as_signed();
    }
  }
  aggregate.add(thread, names.at(id), line_start + offset, duration);
}

void read(const std::string& path, Aggregate& aggregate) {
  const auto source = doctor::open_source(path);
  if (!source) throw std::runtime_error(to_string(source.error()));
  const Planes planes = read_names(**source, aggregate);
  if (!(*source)->rewind()) throw std::runtime_error("cannot be read again");
  doctor::XSpaceWindows windows(**source, planes.planes, doctor::WorkOptions{}.window_size);
  doctor::EventWindow window;
  while (windows.take(window)) {
    if (!window.loss.complete()) throw std::runtime_error("a damaged file");
    for (const doctor::LinePart& line : window.parts) {
      bench::Thread& thread = aggregate.thread(line.plane->index, line.line_id);
      WireMessage events(window.bytes_of(line));
      for (WireField event; events.next(event);) {
        add_event(event.bytes(), planes.names[line.plane->index], line.line_start, thread, aggregate);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::aggregate_main(argc, argv, read);
}
