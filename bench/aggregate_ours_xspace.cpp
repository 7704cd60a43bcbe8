// Ours: the windows of XSpaceWindows, each event with its ids and all its statistics.

#include <bit>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "aggregate.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "program.h"
#include "trace/wire.h"
#include "trace/xspace/xspace_walk.h"
#include "trace/xspace/xspace_windows.h"
#include "trace/xspace/xspace_wire.h"

namespace {

using bench::Aggregate;
using bench::NameId;
using doctor::WireField;
using doctor::WireMessage;
using doctor::WireType;

/// The names of a plane's events by metadata id. Metadata ids are small and dense.
using Names = std::vector<NameId>;

void add_name(const doctor::MetadataEntry& entry, Aggregate& aggregate, Names& names) {
  if (entry.id >= 1 << 20) throw std::runtime_error("not a trace of the benchmark");
  if (entry.id >= names.size()) names.resize(entry.id + 1);
  names[entry.id] = aggregate.intern(entry.name);
}

class NameReader final : public doctor::PlaneVisitor {
 public:
  explicit NameReader(Aggregate& aggregate) : aggregate_(aggregate) {}

  std::vector<Names> planes;

  void host_name(std::string_view /*name*/) override {}
  void begin_plane() override { planes.emplace_back(); }
  void plane_name(std::string_view /*name*/) override {}
  void event_metadata(const doctor::MetadataEntry& entry) override { add_name(entry, aggregate_, planes.back()); }
  void stat_metadata(const doctor::MetadataEntry& /*entry*/) override {}

 private:
  Aggregate& aggregate_;
};

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
  NameReader names(aggregate);
  doctor::Loss loss;
  const doctor::XSpaceClock clock = doctor::walk_planes(**source, {}, names, loss);
  if (!loss.complete()) throw std::runtime_error("not an XSpace");
  if (!(*source)->rewind()) throw std::runtime_error("cannot be read again");
  doctor::XSpaceWindows windows(**source, std::vector(names.planes.size(), doctor::PlaneUse::decode), clock.origin_ns,
                                doctor::WorkOptions{}.window_size);
  doctor::EventWindow window;
  while (windows.take(window)) {
    if (!window.loss.complete()) throw std::runtime_error("a damaged file");
    for (const doctor::LinePart& line : window.parts) {
      bench::Thread& thread = aggregate.thread(line.plane, line.line_id);
      WireMessage events(window.bytes_of(line));
      for (WireField event; events.next(event);) {
        add_event(event.bytes(), names.planes[line.plane], line.line_start, thread, aggregate);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::aggregate_main(argc, argv, read);
}
