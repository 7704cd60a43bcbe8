#include "tree/dataset_kind.h"

#include <algorithm>
#include <array>

#include "trace/event_kind.h"

namespace doctor {
namespace {

template <std::size_t Count>
bool contains(const std::array<std::string_view, Count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <std::size_t Count>
bool starts_with_any(const std::array<std::string_view, Count>& prefixes, std::string_view name) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::string_view short_name_of(std::string_view long_name) {
  const std::size_t separator = long_name.rfind("::");
  return without_element_index(separator == std::string_view::npos ? long_name : long_name.substr(separator + 2));
}

std::string_view without_version(std::string_view short_name) {
  std::size_t end = short_name.size();
  while (end > 0 && short_name[end - 1] >= '0' && short_name[end - 1] <= '9') --end;
  const bool has_version = end < short_name.size() && end > 1 && short_name[end - 1] == 'V';
  std::string_view name = has_version ? short_name.substr(0, end - 1) : short_name;
  constexpr std::string_view kSuffix = "Dataset";
  if (name.size() > kSuffix.size() && name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  return name;
}

bool is_asynchronous(std::string_view short_name) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "Prefetch",        "ParallelMap",        "MapAndBatch",
      "NumaMapAndBatch", "ParallelInterleave", "LegacyParallelInterleave",
      "ParallelBatch",   "ParallelFilter",     "DataService",
      "Snapshot",        "Generator",          "ParseExample",
      "ParallelFlatMap"};
  const std::string_view name = without_version(short_name);
  return contains(kNames, name) || name.starts_with("MultiDeviceIterator");
}

bool reads_files(std::string_view short_name) {
  static constexpr std::array<std::string_view, 13> kPrefixes = {
      "TFRecord", "TextLine",    "FixedLengthRecord", "CSV",           "SSTable", "RecordIO", "LMDB",
      "Sql",      "ArrayRecord", "DataService",       "MatchingFiles", "Reverb",  "Avro"};
  static constexpr std::array<std::string_view, 3> kNames = {"Load", "Parquet", "BigQuery"};
  return contains(kNames, without_version(short_name)) || starts_with_any(kPrefixes, short_name);
}

bool is_source(std::string_view short_name) {
  static constexpr std::array<std::string_view, 3> kPrefixes = {"FromTensor", "SparseTensorSlice", "Glob"};
  static constexpr std::array<std::string_view, 4> kNames = {"Generator", "TensorSlice", "Tensor", "Range"};
  return reads_files(short_name) || contains(kNames, without_version(short_name)) ||
         starts_with_any(kPrefixes, short_name);
}

bool is_cache(std::string_view short_name) {
  return short_name.find("Cache") != std::string_view::npos;
}

bool is_generator(std::string_view short_name) {
  return without_version(short_name) == "Generator";
}

bool has_like_elements(std::string_view short_name) {
  static constexpr std::array<std::string_view, 9> kNames = {"ForeverRepeat", "FiniteRepeat",    "EmptyRepeat",
                                                             "Repeat",        "FlatMap",         "Interleave",
                                                             "MemoryCache",   "WeightedFlatMap", "Load"};
  static constexpr std::array<std::string_view, 10> kPrefixes = {"ParallelInterleave",
                                                                 "LegacyParallelInterleave",
                                                                 "Cache",
                                                                 "Unbatch",
                                                                 "Window",
                                                                 "GroupBy",
                                                                 "Rebatch",
                                                                 "ParallelBatch",
                                                                 "Snapshot",
                                                                 "Sloppy"};
  return contains(kNames, short_name) || short_name == "SaveV2" || starts_with_any(kPrefixes, short_name);
}

bool is_frame(std::string_view short_name) {
  static constexpr std::array<std::string_view, 18> kNames = {"Root",
                                                              "Model",
                                                              "MaxIntraOpParallelism",
                                                              "PrivateThreadPool",
                                                              "Options",
                                                              "ForeverRepeat",
                                                              "FiniteRepeat",
                                                              "FiniteTake",
                                                              "Take",
                                                              "FiniteSkip",
                                                              "Skip",
                                                              "AssertCardinality",
                                                              "AssertNext",
                                                              "AutoShard",
                                                              "Rebalance",
                                                              "OneShot",
                                                              "Finalize",
                                                              "ForeverTake"};
  return contains(kNames, short_name);
}

std::string fold_like_elements(std::string_view long_name) {
  std::string folded;
  folded.reserve(long_name.size());
  for (std::size_t begin = 0; begin <= long_name.size();) {
    const std::size_t separator = long_name.find("::", begin);
    const std::size_t end = separator == std::string_view::npos ? long_name.size() : separator;
    const std::string_view part = long_name.substr(begin, end - begin);
    const std::string_view kind = without_element_index(part);
    if (begin > 0) folded += "::";
    folded += has_like_elements(kind) ? kind : part;
    begin = end + 2;
  }
  return folded;
}

}  // namespace doctor
