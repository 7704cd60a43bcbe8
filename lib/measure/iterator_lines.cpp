#include "measure/iterator_lines.h"

#include <fmt/format.h>

#include "text/numbers.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

std::optional<SourceLine> line_of(const SourceLines& lines, std::string_view name) {
  if (const auto known = lines.names.find(name); known != lines.names.end()) return known->second;
  std::optional<NamedLine> named = line_of_name(name);
  return named ? std::optional(std::move(named->place)) : std::nullopt;
}

}  // namespace

void add_source_lines(const SourceLines& lines, HostMeasurement& host) {
  for (IteratorMeasurement& iterator : host.iterators) {
    if (iterator.has(Trait::root) || iterator.is_device_hop) continue;
    for (const std::string_view part : fused_parts(iterator.dataset_name)) {
      if (std::optional<SourceLine> line = line_of(lines, part)) iterator.source_lines.push_back(*std::move(line));
    }
  }
  if (!lines.fault.empty()) {
    host.source_lines_fault = fmt::format("{} {}", lines.path, lines.fault);
  } else if (lines.unusable > 0) {
    host.source_lines_fault = fmt::format("{}: {} could not be used", lines.path, format_count(lines.unusable, "name"));
  }
}

}  // namespace doctor
