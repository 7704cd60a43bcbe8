#include "measure/host_choice.h"

#include <fmt/format.h>

#include "base/nearest.h"
#include "io/trace_folder.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr std::size_t kShownNames = 8;  // an error is read on one screen

bool is_called(const HostMeasurement& host, std::string_view name) {
  if (std::find(host.hosts.begin(), host.hosts.end(), name) != host.hosts.end()) return true;
  return std::any_of(host.files.begin(), host.files.end(), [&](const TraceFile& file) {
    const std::string in_folder = std::filesystem::path(file.path).filename().string();
    const std::optional<NamedTrace> trace = as_trace_file(in_folder);
    return name == file.path || name == in_folder || (trace && name == trace->host);
  });
}

/// Indices of the hosts that go by the name: the one that is shown by it, else all that are called so.
std::vector<std::size_t> hosts_called(std::string_view name, const Measurements& measurements,
                                      const std::vector<std::string>& shown) {
  const auto exact = std::find(shown.begin(), shown.end(), name);
  if (exact != shown.end()) return {static_cast<std::size_t>(exact - shown.begin())};
  std::vector<std::size_t> found;
  for (std::size_t index = 0; index < measurements.hosts.size(); ++index) {
    if (is_called(measurements.hosts[index], name)) found.push_back(index);
  }
  return found;
}

/// "a, b, c and 12 more", the nearest to `name` first.
std::string list_of_hosts(std::string_view name, const std::vector<std::string>& hosts) {
  const std::vector<std::string_view> sorted = by_nearness(name, {hosts.begin(), hosts.end()});
  const std::size_t shown = std::min(sorted.size(), kShownNames);
  std::string list;
  for (std::size_t index = 0; index < shown; ++index) list += (index > 0 ? ", " : "") + std::string(sorted[index]);
  return sorted.size() > shown ? list + fmt::format(" and {} more", format_count(sorted.size() - shown)) : list;
}

}  // namespace

std::vector<std::string> names_of_hosts(const Measurements& measurements) {
  std::map<std::string, std::size_t> namesakes;
  for (const HostMeasurement& host : measurements.hosts) ++namesakes[host.name()];
  std::vector<std::string> names;
  for (const HostMeasurement& host : measurements.hosts) {
    const std::string name = host.name();
    const bool is_ambiguous = namesakes[name] > 1 && !host.hosts.empty();
    names.push_back(is_ambiguous ? fmt::format("{} ({})", name, name_of_files(host)) : name);
  }
  // Files of one name in several folders are counted in the order in which they were given.
  std::map<std::string, std::size_t> counts;
  for (const std::string& name : names) ++counts[name];
  std::map<std::string, std::size_t> numbers;
  for (std::string& name : names) {
    if (counts[name] > 1) name += fmt::format(" #{}", ++numbers[name]);
  }
  return names;
}

Result<void> keep_host(std::string_view name, Measurements& measurements) {
  std::vector<std::string> names = names_of_hosts(measurements);
  const std::vector<std::size_t> found = hosts_called(name, measurements, names);
  if (found.empty())
    return fail(fmt::format("no host '{}'", name), "--host", "the hosts are " + list_of_hosts(name, names));
  if (found.size() > 1) {
    return fail(fmt::format("{} are called '{}'", format_count(found.size(), "host"), name), "--host",
                "name one by its file: " + list_of_hosts(name, names));
  }
  HostMeasurement kept = std::move(measurements.hosts[found.front()]);
  measurements.hosts.clear();
  measurements.hosts.push_back(std::move(kept));
  names.erase(names.begin() + static_cast<std::ptrdiff_t>(found.front()));
  measurements.left_out = std::move(names);
  return {};
}

}  // namespace doctor
