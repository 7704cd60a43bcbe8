#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/run_summary.h"

namespace doctor {

/// A setting of the user that a trace shows as an attribute of an iterator.
struct SettingKind {
  std::string_view attribute;
  std::string_view words;       ///< "num_parallel_calls"
  bool less_is_slower = false;  ///< a smaller value makes the pipeline slower, or may
  bool may_be_tuned = false;    ///< AUTOTUNE may choose it
};

std::span<const SettingKind> setting_kinds();

/// The values of a setting in the recordings of one side.
struct SettingRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::size_t recordings = 0;  ///< recordings that have it
  bool is_tuned = false;       ///< AUTOTUNE chose it
  bool is_set_by_tf = false;   ///< the same, and the user did not ask for it

  bool is_known() const { return recordings > 0; }
};

/// The values of a setting. `indices` is indexed by recording: the iterator's index in it.
SettingRange range_of(const SettingKind& kind, std::span<const RunSummary> runs,
                      const std::vector<std::size_t>& indices);

/// Tests whether the setting differs. Values that AUTOTUNE chose vary from run to run and do not count.
bool differ(const SettingKind& kind, const SettingRange& before, const SettingRange& after);

/// Tests whether no value of one side occurs on the other side, or only one side leaves the setting to AUTOTUNE.
bool are_apart(const SettingRange& before, const SettingRange& after);

/// The values in words: "4", "2 to 8", "AUTOTUNE (chose 2 to 8)", "chosen by TF, which runs it in parallel by itself
/// (2)".
std::string to_words(const SettingRange& range);

/// The number of elements that one call of the iterator takes from its input; nullopt if it makes no batches or does
/// not say.
std::optional<std::int64_t> batch_size_of(const IteratorSummary& iterator);

}  // namespace doctor
