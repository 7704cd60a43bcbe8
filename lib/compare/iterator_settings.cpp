#include "compare/iterator_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace doctor {
namespace {

/// All that find_structure_changes() compares. Sizes whose effect has no direction are reported, but are not a
/// regression.
constexpr std::array<SettingKind, 6> kSettingKinds = {{
    {"parallelism", "num_parallel_calls", true, true},
    {"buffer_limit", "the buffer", true, true},
    {"cycle_length", "cycle_length", true, false},
    {"block_length", "block_length", false, false},
    {"batch_size", "batch_size", false, false},
    {"buffer_size", "buffer_size", false, false},
}};

const SettingSummary* find_setting(const IteratorSummary& iterator, std::string_view name) {
  const auto found = std::find_if(iterator.settings.begin(), iterator.settings.end(),
                                  [&](const SettingSummary& setting) { return setting.name == name; });
  return found == iterator.settings.end() ? nullptr : &*found;
}

}  // namespace

std::span<const SettingKind> setting_kinds() {
  return kSettingKinds;
}

SettingRange range_of(const SettingKind& kind, std::span<const RunSummary> runs,
                      const std::vector<std::size_t>& indices) {
  SettingRange range;
  for (std::size_t recording = 0; recording < runs.size(); ++recording) {
    if (indices[recording] == kNoIndex) continue;
    const IteratorSummary& iterator = runs[recording].iterators[indices[recording]];
    const SettingSummary* const setting = find_setting(iterator, kind.attribute);
    if (setting == nullptr) continue;
    range.low = range.is_known() ? std::min(range.low, setting->low) : setting->low;
    range.high = range.is_known() ? std::max(range.high, setting->high) : setting->high;
    range.is_tuned = range.is_tuned || (kind.may_be_tuned && iterator.is_autotuned);
    range.is_set_by_tf = range.is_set_by_tf || (kind.may_be_tuned && iterator.is_parallelised_by_tf);
    ++range.recordings;
  }
  return range;
}

bool differ(const SettingKind& kind, const SettingRange& before, const SettingRange& after) {
  if (before.is_tuned != after.is_tuned) return true;
  if (before.is_tuned && kind.may_be_tuned) return false;
  return before.low != after.low || before.high != after.high;
}

bool are_apart(const SettingRange& before, const SettingRange& after) {
  if (before.is_tuned != after.is_tuned) return true;
  return before.high < after.low || after.high < before.low;
}

std::string to_words(const SettingRange& range) {
  const std::string values =
      range.low == range.high ? fmt::format("{}", range.low) : fmt::format("{} to {}", range.low, range.high);
  if (range.is_set_by_tf) return fmt::format("chosen by TF, which runs it in parallel by itself ({})", values);
  return range.is_tuned ? fmt::format("AUTOTUNE (chose {})", values) : values;
}

std::optional<std::int64_t> batch_size_of(const IteratorSummary& iterator) {
  const SettingSummary* const setting = find_setting(iterator, "batch_size");
  return setting == nullptr || setting->high < 1 ? std::nullopt : std::optional(setting->high);
}

}  // namespace doctor
