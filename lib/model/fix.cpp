#include "model/fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/nearest.h"
#include "tree/dataset_kinds.h"

namespace doctor {
namespace {

struct KindEntry {
  FixKind kind;
  std::string_view name;
  bool takes_iterator = true;
};

constexpr std::array<KindEntry, 18> kKinds = {{
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
    {FixKind::none, "none", false},
}};

StageIndex stage_of(IteratorId iterator) {
  return static_cast<StageIndex>(index_of(iterator));
}

std::string_view family(const IteratorMeasurement& iterator) {
  return family_of(iterator.short_name);
}

/// Whether a fix of this kind can be made to an iterator.
bool applies_to(FixKind kind, const IteratorMeasurement& iterator) {
  const std::string_view name = kind_of(iterator.short_name);
  switch (kind) {
    case FixKind::parallel_map:
      return family(iterator) == "Map";
    case FixKind::parallel_interleave:
      return name == "FlatMap" || family(iterator) == "Interleave";
    case FixKind::parallel_batch:
      return name == "Batch";
    case FixKind::filter_first:
    case FixKind::parallel_filter:
      return name == "Filter";
    case FixKind::map_after:
    case FixKind::split_cache:
      return family(iterator) == "Map";
    case FixKind::skip_first:
      return family(iterator) == "Skip";
    case FixKind::files:
      return dataset_kind(iterator.short_name).source == Source::python;
    case FixKind::vectorize:
      return family(iterator) == "Map" && name != "MapAndBatch";
    case FixKind::buffer:
      return name == "Prefetch";
    case FixKind::unordered:
      return dataset_kind(iterator.short_name).has(Trait::parallel);
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
    if (found == kNoIterator || iterator.calls > host.iterators[index_of(found)].calls) {
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
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr std::int64_t kMost = 100'000;
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > kMost) {
    return fail(fmt::format("'{}' is not a number from 1 to {}", text, kMost), "--fix",
                fmt::format("as in {}=8", name));
  }
  (name == "p" ? fix.parallelism : fix.cycle_length) = number;
  return {};
}

/// The batch that a map feeds: the nearest one above.
double batch_above(const HostMeasurement& host, IteratorId iterator) {
  constexpr double kUsualBatch = 32;
  for (const IteratorId above : iterators_above(host, iterator)) {
    const IteratorMeasurement& batch = host.iterators[index_of(above)];
    if (const std::optional<std::int64_t> size = batch.number("batch_size"); size && *size > 1) {
      return static_cast<double>(*size);
    }
  }
  return kUsualBatch;
}

/// The pool bounds what AUTOTUNE comes to, not the number of cores.
std::int64_t calls_of(const Fix& fix, const PipelineModel& model, const Edit& edit) {
  return fix.parallelism.value_or(edit.pool_threads.value_or(model.sample().pool_threads));
}

void make_parallel_map(const Fix& fix, const PipelineModel& model, Edit& edit) {
  const StageIndex stage = stage_of(fix.iterator);
  const std::int64_t calls = calls_of(fix, model, edit);
  if (model.sample().stages[stage].is_async) {
    edit.parallelism[stage] = calls;
  } else {
    edit.cuts[stage] = {Cut::Kind::map, calls, 1};
  }
}

/// Of the inputs of what makes a dataset for each element, the one that yields those elements: it is called least.
IteratorId input_of_datasets(const HostMeasurement& host, IteratorId iterator) {
  const std::vector<IteratorId>& inputs = host.iterators[index_of(iterator)].children;
  const auto calls = [&](IteratorId id) { return host.iterators[index_of(id)].calls; };
  const auto least =
      std::min_element(inputs.begin(), inputs.end(), [&](IteratorId a, IteratorId b) { return calls(a) < calls(b); });
  return inputs.size() == 2 && calls(inputs.front()) != calls(inputs.back()) ? *least : kNoIterator;
}

/// A parallel interleave makes several datasets at once, but the elements that it makes them of one after another.
void feed_from_one_thread(IteratorId interleave, std::int64_t ahead, const PipelineModel& model, Edit& edit) {
  const IteratorId input = input_of_datasets(*model.host, interleave);
  if (input == kNoIterator || model.sample().stages[stage_of(input)].is_async) return;
  std::vector<IteratorId> of_input = iterators_below(*model.host, input);
  of_input.push_back(input);
  const bool works = std::any_of(of_input.begin(), of_input.end(), [&](IteratorId id) {
    const std::string_view name = model.host->iterators[index_of(id)].short_name;
    return family_of(name) == "Map" || dataset_kind(name).reads_files() || dataset_kind(name).source == Source::python;
  });
  if (works) edit.cuts[stage_of(input)] = {Cut::Kind::prefetch, ahead, 1};
}

void make_parallel_interleave(const Fix& fix, const PipelineModel& model, Edit& edit) {
  const IteratorMeasurement& iterator = model.host->iterators[index_of(fix.iterator)];
  const StageIndex stage = stage_of(fix.iterator);
  constexpr std::int64_t kUsualCycle = 4;
  std::int64_t cycle = fix.cycle_length.value_or(iterator.number("cycle_length").value_or(0));
  if (cycle <= 1) cycle = fix.parallelism.value_or(std::max(kUsualCycle, model.sample().cores));
  const std::int64_t threads = fix.parallelism.value_or(cycle);
  if (model.sample().stages[stage].is_async) {
    edit.parallelism[stage] = std::min(threads, cycle);
  } else {
    edit.cuts[stage] = {Cut::Kind::interleave, threads, cycle};
    feed_from_one_thread(fix.iterator, cycle, model, edit);
  }
}

/// Elements that leave an iterator for each that it takes: a skip takes many with one call, which maps below it make of
/// as many.
double kept_share(const HostMeasurement& host, IteratorId id) {
  const IteratorMeasurement& iterator = host.iterators[index_of(id)];
  std::uint64_t taken = 1;
  std::vector<IteratorId> inputs = iterator.children;
  while (!inputs.empty()) {
    const IteratorMeasurement& input = host.iterators[index_of(inputs.back())];
    inputs.pop_back();
    taken = std::max(taken, input.calls);
    if (family(input) == "Map" && input.children.size() == 1) inputs.push_back(input.children.front());
  }
  return std::min(1.0, static_cast<double>(iterator.calls) / static_cast<double>(taken));
}

/// Lets a map work on what the filter above it lets through.
void move_after_filter(IteratorId map, const PipelineModel& model, Edit& edit) {
  for (const IteratorId above : iterators_above(*model.host, map)) {
    if (kind_of(model.host->iterators[index_of(above)].short_name) != "Filter") continue;
    edit.work_factor[stage_of(map)] = kept_share(*model.host, above);
    return;
  }
}

/// The maps below work on what is not skipped only.
void skip_before_maps(IteratorId skip, const PipelineModel& model, Edit& edit) {
  for (const IteratorId below : iterators_below(*model.host, skip)) {
    if (family(model.host->iterators[index_of(below)]) != "Map") continue;
    edit.work_factor[stage_of(below)] = kept_share(*model.host, skip);
  }
}

/// Half of the map, and what stands before it, is read from memory. How much of a function comes before its random ops
/// a trace does not say.
void split_and_cache(IteratorId map, const PipelineModel& model, Edit& edit) {
  constexpr double kHalf = 0.5;
  edit.work_factor[stage_of(map)] = kHalf;
  for (const IteratorId input : model.host->iterators[index_of(map)].children) edit.cached.insert(stage_of(input));
}

/// Of a pipeline that ends in a prefetch, how many elements it may hold.
void set_buffer_at_end(std::int64_t elements, const PipelineModel& model, Edit& edit) {
  const IteratorId root = model.sample().consumers.front().root;
  if (root == kNoIterator) return;
  for (const IteratorId input : model.host->iterators[index_of(root)].children) {
    if (kind_of(model.host->iterators[index_of(input)].short_name) == "Prefetch")
      edit.buffer[stage_of(input)] = elements;
  }
}

}  // namespace

std::string_view name_of(FixKind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(), [&](const KindEntry& entry) { return entry.kind == kind; })->name;
}

std::vector<std::string_view> fix_kinds() {
  std::vector<std::string_view> names;
  for (const KindEntry& entry : kKinds) names.push_back(entry.name);
  return names;
}

std::string short_path(const HostMeasurement& host, IteratorId iterator) {
  const std::string name = plain_name(host.iterators[index_of(iterator)].long_name);
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

bool can_iterate_once(const HostMeasurement& host, IteratorId root) {
  const std::vector<IteratorId> below = iterators_below(host, root);
  return std::none_of(below.begin(), below.end(),
                      [&](IteratorId id) { return family(host.iterators[index_of(id)]).starts_with("Shuffle"); });
}

void apply(const Fix& fix, const PipelineModel& model, Edit& edit) {
  constexpr std::int64_t kUsualBuffer = 2;
  const HostMeasurement& host = *model.host;
  switch (fix.kind) {
    case FixKind::parallel_map:
      return make_parallel_map(fix, model, edit);
    case FixKind::parallel_interleave:
      return make_parallel_interleave(fix, model, edit);
    case FixKind::parallel_batch:
      edit.cuts[stage_of(fix.iterator)] = {Cut::Kind::map, calls_of(fix, model, edit), 1};
      break;
    case FixKind::prefetch:
      edit.prefetch_at_end = true;
      if (fix.parallelism) set_buffer_at_end(*fix.parallelism, model, edit);
      break;
    case FixKind::iterate_once:
      edit.iterates_once = true;
      break;
    case FixKind::prefetch_below:
      for (const IteratorId input : host.iterators[index_of(fix.iterator)].children) {
        if (model.sample().stages[index_of(input)].is_async) continue;
        edit.cuts[stage_of(input)] = {Cut::Kind::prefetch, fix.parallelism.value_or(kUsualBuffer), 1};
      }
      break;
    case FixKind::cache:
      edit.cached.insert(stage_of(fix.iterator));
      break;
    case FixKind::filter_first: {
      for (const IteratorId input : host.iterators[index_of(fix.iterator)].children) {
        edit.work_factor[stage_of(input)] = kept_share(host, fix.iterator);
      }
      break;
    }
    case FixKind::map_after:
      return move_after_filter(fix.iterator, model, edit);
    case FixKind::skip_first:
      return skip_before_maps(fix.iterator, model, edit);
    case FixKind::split_cache:
      return split_and_cache(fix.iterator, model, edit);
    case FixKind::parallel_filter:
      edit.cuts[stage_of(fix.iterator)] = {Cut::Kind::map, calls_of(fix, model, edit), 1};
      break;
    case FixKind::files: {
      const std::int64_t threads = calls_of(fix, model, edit);
      edit.cuts[stage_of(fix.iterator)] = {Cut::Kind::interleave, threads, threads};
      break;
    }
    case FixKind::vectorize:
      edit.vectorized[stage_of(fix.iterator)] = batch_above(host, fix.iterator);
      break;
    case FixKind::threadpool:
      edit.pool_threads = fix.parallelism.value_or(2 * model.sample().cores);
      break;
    case FixKind::buffer:
      edit.buffer[stage_of(fix.iterator)] = fix.parallelism.value_or(kUsualBuffer);
      break;
    case FixKind::unordered:
      edit.unordered.insert(stage_of(fix.iterator));
      break;
    case FixKind::none:
      break;
  }
}

Edit edit_for(std::span<const Fix> fixes, const PipelineModel& model, Edit edit) {
  // The size of the pool decides what AUTOTUNE comes to, so it is set first.
  for (const Fix& fix : fixes) {
    if (fix.kind == FixKind::threadpool) apply(fix, model, edit);
  }
  for (const Fix& fix : fixes) apply(fix, model, edit);
  return edit;
}

}  // namespace doctor
