#include "diagnose/dataset_words.h"

#include <fmt/format.h>

#include "trace/source_lines.h"

namespace doctor {
namespace {

constexpr std::string_view kFused = "fused(";

/// "MapDataset:3" -> "map"; empty for what has no method of that name. A name of the user's does not say, but for one
/// that was made of a line of hers.
std::string_view method_of_node(std::string_view node) {
  if (const std::optional<NamedLine> named = line_of_name(node); named && !named->method.empty()) return named->method;
  return method_of(dataset_kind_of_node(node));
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

const DatasetKind& dataset_kind_of_node(std::string_view node) {
  node = node.substr(0, node.find(':'));
  const std::size_t scope = node.rfind('/');
  return dataset_kind(scope == std::string_view::npos ? node : node.substr(scope + 1));
}

std::string describe(const IteratorMeasurement& iterator) {
  if (is_fused(iterator)) {
    const std::string methods = fused_methods(iterator.dataset_name);
    if (!methods.empty()) return methods;
  }
  if (iterator.is_device_hop) return "the copy to the device";
  std::string_view words = dataset_kind(iterator).words;
  if (words.empty()) words = iterator.short_name;
  return std::string(words) + (is_injected(iterator) ? " (added by TF)" : "");
}

bool is_fused(const IteratorMeasurement& iterator) {
  // The root carries the name of what stands below it.
  return iterator.dataset_name.starts_with(kFused) && family_of(iterator) != "Root";
}

bool is_injected(const IteratorMeasurement& iterator) {
  return iterator.dataset_name.starts_with("inject/") && family_of(iterator) != "Root";
}

bool is_sequential_map(const IteratorMeasurement& iterator) {
  if (kind_of(iterator) == "Map") return true;
  return has_trait(iterator, Trait::fused_batch) && iterator.number("parallelism") == 1 &&
         iterator.text("autotune") != "true";
}

bool is_parallel_interleave(const IteratorMeasurement& iterator) {
  return has_trait(iterator, Trait::parallel) && family_of(iterator) == "Interleave";
}

std::string_view reader_expression(const IteratorMeasurement& iterator) {
  const DatasetKind& kind = dataset_kind(iterator);
  return kind.is_source() ? kind.code : std::string_view{};
}

}  // namespace doctor
