// Any names as those of files, folders and links below a log directory: what is found lies in it, is there, and is
// named once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "fuzz_directory.h"
#include "io/trace_folder.h"
#include "io/trace_inputs.h"

namespace {

using namespace doctor;
namespace fs = std::filesystem;

constexpr std::array<std::string_view, 16> kNames = {"plugins",
                                                     "profile",
                                                     "2026_11_21_10_31_22",
                                                     "run",
                                                     "host.xplane.pb",
                                                     "host.trace.json.gz",
                                                     "host.trace.json",
                                                     "timeline_1.json",
                                                     "local.trace",
                                                     "a",
                                                     "..trace.json",
                                                     ".xplane.pb",
                                                     "dataset-lines.json",
                                                     "events.out.tfevents.1.host.profile-empty",
                                                     "host.xplane.pb.gz",
                                                     "\xff\x1b[31m"};

/// A name of one part, which no file system refuses for what it means.
std::string name_of(FuzzBytes& bytes) {
  const unsigned choice = bytes.byte();
  if (choice < 200) return std::string(kNames[choice % kNames.size()]);
  std::string name(bytes.text(choice % 32));
  std::replace(name.begin(), name.end(), '/', '_');
  std::replace(name.begin(), name.end(), '\0', '_');
  return name.empty() || name == "." || name == ".." ? "x" : name;
}

void make_entries(FuzzBytes& bytes, const fs::path& root) {
  std::error_code ignored;  // what cannot be made is not there
  fs::path folder = root;
  for (int entries = 0; entries < 24 && !bytes.is_at_end(); ++entries) {
    const std::string name = name_of(bytes);
    switch (bytes.below(5)) {
      case 0:
        folder = root;
        break;
      case 1:
        if (fs::create_directory(folder / name, ignored)) folder /= name;
        break;
      case 2:
        fs::create_symlink(bytes.flip() ? root : fs::path(name_of(bytes)), folder / name, ignored);
        break;
      default:
        if (!fs::exists(fs::symlink_status(folder / name, ignored))) std::ofstream(folder / name) << "x";
        break;
    }
  }
}

void expect_below(const std::vector<std::string>& files, const fs::path& root) {
  std::error_code ignored;
  for (const std::string& file : files) {
    expect(file.starts_with(root.string()), "a file that lies elsewhere");
    expect(fs::exists(fs::symlink_status(file, ignored)), "a file that is not there");  // or a link to nothing
  }
  expect(std::set<std::string>(files.begin(), files.end()).size() == files.size(), "a file that is named twice");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FuzzDirectory directory;
  FuzzBytes bytes(data, size);
  static_cast<void>(as_trace_file(std::string_view(reinterpret_cast<const char*>(data), size)));
  directory.clear();
  make_entries(bytes, directory.path());
  const std::string root = directory.path().string();
  if (const auto runs = list_runs(root)) {
    for (const Run& run : *runs) expect_below(run.files, root);
  }
  if (const auto recordings = list_recordings(root)) {
    for (const Run& run : *recordings) expect(!run.files.empty(), "a recording without files");
  }
  if (const auto files = resolve_inputs({root}, std::nullopt)) expect_below(*files, root);
  TraceWalk walk(root);
  std::vector<std::string> walked;
  while (const auto file = walk.next()) {
    if (*file) walked.push_back(**file);
  }
  expect_below(walked, root);
  return 0;
}
