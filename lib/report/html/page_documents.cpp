#include <cmath>
#include <map>
#include <set>

#include "report/html/html_page.h"
#include "text/document_keys.h"

namespace doctor {
namespace {

struct ListBound {
  std::string_view key;
  std::size_t most;
  std::size_t fewest = 4;  ///< that stay on the smallest page
};

// Others name stages, iterators and spans by their place, so that these lists are never cut to make a page smaller.
constexpr std::array<ListBound, 18> kBounds = {{{"pipelines", 4, 1},
                                                {"windows", 3, 1},
                                                {"stretches", 2000, 2000},
                                                {"spans", 2000, 2000},
                                                {"held_by", 8},
                                                {"iterators", 200, 200},
                                                {"stages", 60, 60},
                                                {"findings", 40},
                                                {"inquiries", 4},
                                                {"seen", 8},
                                                {"fixes", 20},
                                                {"together", 20},
                                                {"allocators", 4, 1},
                                                {"allocations", 20},
                                                {"structure", 60},
                                                {"times", 60},
                                                {"files", 100},
                                                {"loss_notes", 20}}};
constexpr std::size_t kMostMoments = 60;  // of a series: as many as a person tells apart

/// `share`: of the usual number of entries.
std::size_t bound_of(std::string_view key, double share) {
  const auto* const found = std::ranges::find(kBounds, key, &ListBound::key);
  const ListBound bound = found == kBounds.end() ? ListBound{key, kMostOfList} : *found;
  return std::max(bound.fewest, static_cast<std::size_t>(static_cast<double>(bound.most) * share));
}

/// Every so many changes of a value; the last one stays.
void thin_out_changes(OrderedJson& changes, std::size_t most) {
  const std::size_t distance = (changes.size() + most - 1) / most;
  if (distance < 2) return;
  OrderedJson kept = OrderedJson::array();
  for (std::size_t index = distance - 1; index < changes.size(); index += distance) kept.push_back(changes[index]);
  if (changes.size() % distance != 0) kept.push_back(changes.back());
  changes = std::move(kept);
}

/// Memory in use: spans next to each other become one, with the most of them.
void thin_out_memory(OrderedJson& timeline, std::size_t most) {
  const std::size_t distance = (timeline.size() + most - 1) / most;
  if (distance < 2) return;
  OrderedJson kept = OrderedJson::array();
  for (std::size_t index = 0; index < timeline.size(); ++index) {
    if (index % distance == 0) {
      kept.push_back(timeline[index]);
      continue;
    }
    OrderedJson& merged = kept.back();
    merged[key::end_us] = timeline[index][key::end_us];
    merged[key::last_bytes] = timeline[index][key::last_bytes];
    if (number_of(timeline[index], key::most_bytes) > number_of(merged, key::most_bytes)) {
      merged[key::most_bytes] = timeline[index][key::most_bytes];
    }
  }
  timeline = std::move(kept);
}

/// An attribute that never changed needs no picture over time.
void drop_constants(OrderedJson& history) {
  std::erase_if(history.get_ref<OrderedJson::array_t&>(),
                [](const OrderedJson& attribute) { return known_number(attribute, key::change_count) == 0; });
}

/// Where steps are typical nobody looks at the median call.
void drop_median_call(OrderedJson& windows) {
  const auto is_of = [](std::string_view kind) {
    return [kind](const OrderedJson& window) { return text_of(window, key::kind) == kind; };
  };
  if (std::ranges::none_of(windows, is_of("typical_steps"))) return;
  windows.erase(std::remove_if(windows.begin(), windows.end(), is_of("median_call")), windows.end());
}

/// Of timelines whose pipelines have the same stages and wait as long, as replicas do, the first: it is the worst.
void drop_alike_timelines(OrderedJson& pipelines) {
  std::map<std::string, std::vector<double>> shares;  // of those that stay, by stages
  const auto is_known = [&](const OrderedJson& pipeline) {
    if (list_of(pipeline, key::windows).empty()) return false;
    std::vector<double>& kept = shares[long_names_of(list_of(pipeline, key::stages))];
    const double share = number_of(pipeline, key::input_share);
    const bool is_alike = std::ranges::any_of(kept, [&](double one) { return waits_alike(one, share); });
    if (!is_alike) kept.push_back(share);
    return is_alike;
  };
  std::erase_if(pipelines.get_ref<OrderedJson::array_t&>(), is_known);
  // Of those that stay although another has the same stages, the steps are enough to see how they differ.
  std::set<std::string> seen;
  for (OrderedJson& pipeline : pipelines) {
    if (list_of(pipeline, key::windows).size() < 2) continue;
    OrderedJson& windows = pipeline[key::windows];
    const bool is_first = seen.insert(long_names_of(list_of(pipeline, key::stages))).second;
    if (!is_first) windows.erase(windows.begin() + 1, windows.end());
  }
}

/// Cuts what is below a value, and returns how many entries the list itself lost.
std::size_t bound_list(std::string_view key, OrderedJson& list, double share) {
  const auto moments = static_cast<std::size_t>(kMostMoments * share);
  if (key == "changes") thin_out_changes(list, moments);
  if (key == "timeline") thin_out_memory(list, moments);
  const std::size_t count = list.size();
  if (key == "windows") drop_median_call(list);
  if (key == "history") drop_constants(list);
  if (key == "pipelines") drop_alike_timelines(list);
  const std::size_t most = bound_of(key, share);
  if (key == "pipelines" && list.size() > most) {
    std::stable_partition(list.begin(), list.end(),
                          [](const OrderedJson& pipeline) { return !is_true(pipeline, key::feeds_another); });
  }
  if (list.size() > most) list.erase(list.begin() + static_cast<std::ptrdiff_t>(most), list.end());
  for (OrderedJson& entry : list) bound_for_page(entry, share);
  return count - list.size();
}

/// So that a path is replaced before one that it begins with.
struct LongerFirst {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

/// What stands on the page in place of each path.
using ShownPaths = std::map<std::string, std::string, LongerFirst>;

bool is_key_of_path(std::string_view key) {
  return key == "path" || key == "file" || key == "files" || key == "directory" || key == "recordings";
}

/// The last folders of a path: traces of a fleet are mostly files of one name.
std::string last_folders(const std::string& path) {
  constexpr int kFolders = 2;
  std::size_t begin = path.rfind('/');
  for (int folder = 0; folder < kFolders && begin != std::string::npos && begin > 0; ++folder) {
    begin = path.rfind('/', begin - 1);
  }
  return "\u2026" + path.substr(begin == std::string::npos ? 0 : begin);
}

void collect_path(std::string_view key, const OrderedJson& value, ShownPaths& paths) {
  if (!value.is_string()) return;
  const auto path = value.get<std::string>();
  if (path.find('/') == std::string::npos) return;
  if (is_key_of_path(key)) paths.insert_or_assign(path, path.substr(path.rfind('/') + 1));
  if (key == "example" && path.starts_with('/')) paths.emplace(path, last_folders(path));
}

/// What documents name by the keys of files.
void collect_paths(const OrderedJson& value, ShownPaths& paths) {
  for (const auto& [key, member] : value.items()) {
    if (value.is_object()) collect_path(key, member, paths);
    if (value.is_object() && member.is_array()) {
      for (const OrderedJson& entry : member) collect_path(key, entry, paths);
    }
    if (member.is_structured()) collect_paths(member, paths);
  }
}

/// Sentences name files, too: what was lost, and where.
void replace_paths(OrderedJson& value, const ShownPaths& paths) {
  if (value.is_structured()) {
    for (OrderedJson& member : value) replace_paths(member, paths);
    return;
  }
  if (!value.is_string() || value.get_ref<const std::string&>().find('/') == std::string::npos) return;
  auto text = value.get<std::string>();
  for (const auto& [path, name] : paths) {
    for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + name.size())) {
      text.replace(at, path.size(), name);
    }
  }
  value = std::move(text);
}

}  // namespace

const OrderedJson* find_value(const OrderedJson& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

double number_of(const OrderedJson& object, std::string_view key, double otherwise) {
  return known_number(object, key).value_or(otherwise);
}

std::optional<double> known_number(const OrderedJson& object, std::string_view key) {
  const OrderedJson* const value = find_value(object, key);
  // JSON spells a number that is not finite as null.
  const bool is_known = value != nullptr && value->is_number() && std::isfinite(value->get<double>());
  return is_known ? std::optional(value->get<double>()) : std::nullopt;
}

std::string text_of(const OrderedJson& object, std::string_view key) {
  const OrderedJson* const value = find_value(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool is_true(const OrderedJson& object, std::string_view key) {
  const OrderedJson* const value = find_value(object, key);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const OrderedJson& list_of(const OrderedJson& object, std::string_view key) {
  static const OrderedJson kNone = OrderedJson::array();
  const OrderedJson* const value = find_value(object, key);
  return value != nullptr && value->is_array() ? *value : kNone;
}

std::string name_of_iterator(const OrderedJson& iterator) {
  const std::string name = text_of(iterator, key::name);
  return name.empty() ? text_of(iterator, key::short_name) : name;
}

bool waits_alike(double share, double other_share) {
  constexpr double kAlike = 0.1;
  return std::abs(share - other_share) <= kAlike;
}

std::string long_names_of(const OrderedJson& stages) {
  std::string names;
  for (const OrderedJson& stage : stages) names += text_of(stage, key::long_name) + "\n";
  return names;
}

void drop_folders(PageDocuments& documents) {
  ShownPaths paths;
  collect_paths(documents, paths);
  if (!paths.empty()) replace_paths(documents, paths);
}

void bound_for_page(OrderedJson& document, double share) {
  if (!document.is_object()) return;
  if (const std::string note = text_of(document, key::settings_note); !note.empty()) {
    document[key::settings_note] = note.substr(note.rfind('/', note.find(": ")) + 1);
  }
  std::vector<std::pair<std::string, std::size_t>> left_out;
  for (auto& [key, value] : document.items()) {
    if (value.is_array()) {
      const std::size_t count = bound_list(key, value, share);
      if (count > 0) left_out.emplace_back(key + "_left_out", count);
    } else {
      bound_for_page(value, share);
    }
  }
  for (const auto& [key, count] : left_out) {
    const std::size_t before = document.contains(key) ? document[key].get<std::size_t>() : 0;
    document[key] = before + count;
  }
}

void drop_drawn_spans(PageDocuments& documents) {
  for (auto& [name, document] : documents.items()) {
    if (!name.ends_with("timeline")) continue;
    for (OrderedJson& pipeline : document[key::pipelines]) {
      for (OrderedJson& window : pipeline[key::windows]) {
        for (OrderedJson& call : window[key::calls]) call.erase(std::string(key::stretches));
        for (OrderedJson& lane : window[key::lanes]) lane.erase(std::string(key::spans));
      }
    }
  }
}

}  // namespace doctor
