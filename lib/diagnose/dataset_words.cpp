#include "diagnose/dataset_words.h"

#include <fmt/format.h>

#include <optional>

#include "trace/source_lines.h"

namespace doctor {
namespace {

/// "MapDataset:3" -> "map"; empty for what has no method of that name. A name of the user's does not say, but for one
/// that was made of a line of hers.
std::string_view method_of_node(std::string_view node) {
  if (const std::optional<NamedLine> named = line_of_name(node); named && !named->method.empty()) return named->method;
  return dataset_kind_of_node(node).method();
}

/// "fused(MapDataset:3,BatchDatasetV2:4)" -> "map + batch". Fusions of fusions are flattened: the user's order stays.
std::string fused_methods(std::string_view dataset_name) {
  std::string methods;
  for (const std::string_view part : fused_parts(dataset_name)) {
    const std::string_view method = method_of_node(part);
    if (!method.empty()) methods += fmt::format("{}{}", methods.empty() ? "" : " + ", method);
  }
  return methods;
}

}  // namespace

std::string describe(const IteratorMeasurement& iterator) {
  if (iterator.is_fused()) {
    const std::string methods = fused_methods(iterator.dataset_name);
    if (!methods.empty()) return methods;
  }
  if (iterator.is_device_hop) return "the copy to the device";
  std::string_view words = iterator.kind().words;
  if (words.empty()) words = iterator.short_name;
  return std::string(words) + (iterator.is_injected() ? " (added by TF)" : "");
}

std::string_view reader_expression(const IteratorMeasurement& iterator) {
  const DatasetKind& kind = iterator.kind();
  return kind.is_source() ? kind.code : std::string_view{};
}

}  // namespace doctor
