#include "model/fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/nearest.h"
#include "base/parse.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

struct KindEntry {
  FixKind kind;
  std::string_view name;
  bool takes_iterator = true;
};

constexpr std::array<KindEntry, 19> kKinds = {{
    {FixKind::parallel_map, "parallel_map"},
    {FixKind::parallel_interleave, "parallel_interleave"},
    {FixKind::parallel_batch, "parallel_batch"},
    {FixKind::prefetch, "prefetch", false},
    {FixKind::iterate_once, "iterate_once", false},
    {FixKind::prefetch_below, "prefetch_below"},
    {FixKind::cache, "cache"},
    {FixKind::filter_first, "filter_first"},
    {FixKind::map_after, "map_after"},
    {FixKind::skip_first, "skip_first"},
    {FixKind::parallel_filter, "parallel_filter"},
    {FixKind::split_cache, "split_cache"},
    {FixKind::files, "files"},
    {FixKind::vectorize, "vectorize"},
    {FixKind::threadpool, "threadpool", false},
    {FixKind::buffer, "buffer"},
    {FixKind::unordered, "unordered"},
    {FixKind::free, "free"},
    {FixKind::none, "none", false},
}};

/// Whether a fix of this kind can be made to an iterator.
bool applies_to(FixKind kind, const IteratorMeasurement& iterator) {
  switch (kind) {
    case FixKind::parallel_map:
      return iterator.has(Trait::map);
    case FixKind::parallel_interleave:
      return iterator.is_sequential(Trait::flat_map) || iterator.has(Trait::interleave);
    case FixKind::parallel_batch:
      return iterator.is_sequential(Trait::batch);
    case FixKind::filter_first:
    case FixKind::parallel_filter:
      return iterator.is_sequential(Trait::filter);
    case FixKind::map_after:
    case FixKind::split_cache:
    case FixKind::vectorize:
      return iterator.has(Trait::map);
    case FixKind::skip_first:
      return iterator.has(Trait::skip);
    case FixKind::files:
      return iterator.kind().source == Source::python;
    case FixKind::buffer:
      return iterator.has(Trait::prefetch);
    case FixKind::unordered:
      return iterator.has(Trait::parallel);
    case FixKind::free:
      return true;
    case FixKind::prefetch_below:
    case FixKind::cache:
      return iterator.parent != kNoIterator;
    default:
      return false;
  }
}

/// A long name without the versions of its parts and the indices of like elements.
std::string plain_name(std::string_view long_name) {
  const std::string folded = fold_like_elements(long_name);
  std::string plain;
  for (std::size_t begin = 0; begin < folded.size();) {
    const std::size_t end = std::min(folded.find("::", begin), folded.size());
    const std::string_view part = std::string_view(folded).substr(begin, end - begin);
    const std::size_t index = std::min(part.find('['), part.size());
    if (!plain.empty()) plain += "::";
    plain += without_version(part.substr(0, index));
    plain += part.substr(index);
    begin = end + 2;
  }
  return plain;
}

bool ends_with_parts(std::string_view name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  return name.size() == end.size() || name.substr(0, name.size() - end.size()).ends_with("::");
}

bool is_named(const IteratorMeasurement& iterator, std::string_view name) {
  return ends_with_parts(iterator.long_name, name) || ends_with_parts(plain_name(iterator.long_name), name);
}

/// What is changed where several may be meant: of an interleave and of flat_maps, which from_generator() has in it, the
/// interleave; else what is called most.
std::pair<bool, std::uint64_t> weight_of(const IteratorMeasurement& iterator) {
  return {iterator.has(Trait::interleave), iterator.calls};
}

Result<IteratorId> find_iterator(FixKind kind, std::string_view name, const HostMeasurement& host) {
  IteratorId found = kNoIterator;
  bool is_known = false;
  std::vector<std::string> names;
  for (std::size_t index = 0; index < host.iterators.size(); ++index) {
    const IteratorMeasurement& iterator = host.iterators[index];
    if (applies_to(kind, iterator)) names.push_back(short_path(host, static_cast<IteratorId>(index)));
    if (!name.empty() && !is_named(iterator, name)) continue;
    is_known = true;
    if (!applies_to(kind, iterator)) continue;
    if (found == kNoIterator || weight_of(iterator) > weight_of(host.iterators[found])) {
      found = static_cast<IteratorId>(index);
    }
  }
  if (found != kNoIterator) return found;
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string takes = names.empty() ? "no iterator of this trace can be changed so" : suggestion(name, views);
  if (name.empty()) return fail(fmt::format("no iterator for '{}'", name_of(kind)), "--fix", takes);
  return fail(is_known ? fmt::format("'{}' cannot be changed by '{}'", name, name_of(kind))
                       : fmt::format("no iterator of this trace ends in '{}'", name),
              "--fix", takes);
}

Result<void> parse_setting(std::string_view setting, Fix& fix) {
  const std::size_t equals = std::min(setting.find('='), setting.size());
  const std::string_view name = setting.substr(0, equals);
  const std::string_view text = setting.substr(std::min(equals + 1, setting.size()));
  if (name != "p" && name != "cycle") {
    return fail(fmt::format("unknown setting '{}'", setting), "--fix", "settings are p=N, p=auto and cycle=N");
  }
  if (name == "p" && text == "auto") return {};
  const std::int64_t number = parse_whole<std::int64_t>(text).value_or(0);
  constexpr std::int64_t kMost = 100'000;  // more than any machine runs at once
  if (number < 1 || number > kMost) {
    return fail(fmt::format("'{}' is not a number from 1 to {}", text, kMost), "--fix",
                fmt::format("as in {}=8", name));
  }
  (name == "p" ? fix.parallelism : fix.cycle_length) = number;
  return {};
}

}  // namespace

std::string_view name_of(FixKind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(), [&](const KindEntry& entry) { return entry.kind == kind; })->name;
}

std::vector<std::string_view> fix_kinds() {
  std::vector<std::string_view> names;
  names.reserve(kKinds.size());
  for (const KindEntry& entry : kKinds) names.push_back(entry.name);
  return names;
}

std::string short_path(const HostMeasurement& host, IteratorId iterator) {
  std::string name = plain_name(host.iterators[iterator].long_name);
  std::size_t begin = name.size();
  while (begin > 0) {
    const std::size_t before = begin < 2 ? std::string::npos : name.rfind("::", begin - 3);
    begin = before == std::string::npos ? 0 : before + 2;
    const std::string_view end = std::string_view(name).substr(begin);
    const auto others = std::count_if(host.iterators.begin(), host.iterators.end(),
                                      [&](const auto& other) { return is_named(other, end); });
    if (others <= 1 || begin == 0) return std::string(end);
  }
  return name;
}

Result<Fix> parse_fix(std::string_view text, const HostMeasurement& host) {
  const std::size_t settings = std::min(text.find(','), text.size());
  const std::string_view head = text.substr(0, settings);
  const std::size_t single_colon = std::min(head.find(':'), head.size());
  const std::string_view kind = head.substr(0, single_colon);
  const auto entry =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const KindEntry& known) { return known.name == kind; });
  if (entry == kKinds.end()) {
    const std::vector<std::string_view> kinds = fix_kinds();
    return fail(fmt::format("unknown kind of fix '{}'", kind), "--fix", suggestion(kind, kinds));
  }
  Fix fix;
  fix.kind = entry->kind;
  const std::string_view name = head.substr(std::min(single_colon + 1, head.size()));
  if (entry->takes_iterator) {
    const Result<IteratorId> iterator = find_iterator(fix.kind, name, host);
    if (!iterator) return Unexpected(iterator.error());
    fix.iterator = *iterator;
  } else if (!name.empty()) {
    return fail(fmt::format("'{}' takes no iterator", kind), "--fix", "leave ':" + std::string(name) + "' out");
  }
  for (std::size_t begin = settings; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin + 1), text.size());
    if (Result<void> read = parse_setting(text.substr(begin + 1, end - begin - 1), fix); !read) {
      return Unexpected(read.error());
    }
    begin = end;
  }
  return fix;
}

std::string to_string(const Fix& fix, const HostMeasurement& host) {
  std::string text(name_of(fix.kind));
  if (fix.iterator != kNoIterator) text += ":" + short_path(host, fix.iterator);
  if (fix.parallelism) text += fmt::format(",p={}", *fix.parallelism);
  if (fix.cycle_length) text += fmt::format(",cycle={}", *fix.cycle_length);
  return text;
}

}  // namespace doctor
