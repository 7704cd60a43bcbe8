// Baseline: libprotobuf, the whole XSpace as messages in an arena.

#include <fcntl.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <bit>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "aggregate.h"
#include "lib/trace/xspace/xspace.pb.h"
#include "program.h"

namespace {

using bench::Aggregate;
using bench::NameId;
namespace xspace = doctor::xspace;

std::uint64_t value_of(const xspace::XStat& stat) {
  switch (stat.value_case()) {
    case xspace::XStat::kDoubleValue:
      return std::bit_cast<std::uint64_t>(stat.double_value());
    case xspace::XStat::kUint64Value:
      return stat.uint64_value();
    case xspace::XStat::kInt64Value:
      return static_cast<std::uint64_t>(stat.int64_value());
    case xspace::XStat::kStrValue:
      return stat.str_value().size();
    case xspace::XStat::kBytesValue:
      return stat.bytes_value().size();
    case xspace::XStat::kRefValue:
      return stat.ref_value();
    case xspace::XStat::VALUE_NOT_SET:
      break;
  }
  return 0;
}

void add_plane(const xspace::XPlane& plane, std::uint64_t index, Aggregate& aggregate) {
  std::unordered_map<std::int64_t, NameId> names;
  for (const auto& [id, metadata] : plane.event_metadata()) names.emplace(id, aggregate.intern(metadata.name()));
  for (const xspace::XLine& line : plane.lines()) {
    bench::Thread& thread = aggregate.thread(index, static_cast<std::uint64_t>(line.id()));
    const bench::Picoseconds line_start = line.timestamp_ns() * doctor::kPicosecondsPerNanosecond;
    for (const xspace::XEvent& event : line.events()) {
      aggregate.add(thread, names.at(event.metadata_id()), line_start + event.offset_ps(), event.duration_ps());
      for (const xspace::XStat& stat : event.stats()) {
        aggregate.add_stat(static_cast<std::uint64_t>(stat.metadata_id()), value_of(stat));
      }
    }
  }
}

void read(const std::string& path, Aggregate& aggregate) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("cannot read the file");
  google::protobuf::io::FileInputStream stream(file, 1 << 20);
  stream.SetCloseOnDelete(true);
  google::protobuf::Arena arena;
  auto* const space = google::protobuf::Arena::CreateMessage<xspace::XSpace>(&arena);
  if (!space->ParseFromZeroCopyStream(&stream)) throw std::runtime_error("not an XSpace");
  for (int index = 0; index < space->planes_size(); ++index) {
    add_plane(space->planes(index), static_cast<std::uint64_t>(index), aggregate);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::aggregate_main(argc, argv, read);
}
