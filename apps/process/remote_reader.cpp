#include "process/remote_reader.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/parse.h"
#include "base/try.h"
#include "process/child_process.h"
#include "process/output.h"
#include "text/escape.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

/// How a line of a listing begins, before the name.
enum class Listing {
  size_time,      ///< "123  2026-11-28T17:33:06Z  NAME", apart by spaces or tabs
  day_time_size,  ///< "2026-11-28 17:33:06  123 NAME"
};

/// A program that reads URLs of a scheme. In its words, "{url}" and the like stand for parts of a URL; a word whose
/// part is empty is left out.
struct ReaderEntry {
  std::string_view scheme;  ///< empty: of every scheme
  std::string_view program;
  std::vector<std::string_view> list;  ///< prints a line for each file whose URL begins with this one
  std::vector<std::string_view> read;  ///< prints the bytes of a file
  Listing listing = Listing::size_time;
};

const std::vector<std::string_view> kListBlobs = {"storage",
                                                  "blob",
                                                  "list",
                                                  "--num-results=*",
                                                  "--output=tsv",
                                                  "--only-show-errors",
                                                  "--query=[].[properties.contentLength,properties.lastModified,name]",
                                                  "--container-name={bucket}",
                                                  "--account-name={account}",
                                                  "--prefix={key}"};
const std::vector<std::string_view> kReadBlob = {"storage",
                                                 "blob",
                                                 "download",
                                                 "--no-progress",
                                                 "--output=none",
                                                 "--only-show-errors",
                                                 "--container-name={bucket}",
                                                 "--account-name={account}",
                                                 "--name={key}"};

const std::array<ReaderEntry, 8> kReaders = {{
    {"gs://", "gcloud", {"storage", "ls", "--long", "--recursive", "{url}"}, {"storage", "cat", "{url}"}},
    {"gs://", "gsutil", {"ls", "-l", "-r", "{url}"}, {"cat", "{url}"}},
    {"s3://",
     "aws",
     {"s3", "ls", "--recursive", "{url}"},
     {"s3", "cp", "--no-progress", "{url}", "-"},
     Listing::day_time_size},
    {"az://", "az", kListBlobs, kReadBlob},
    {"abfs://", "az", kListBlobs, kReadBlob},
    {"abfss://", "az", kListBlobs, kReadBlob},
    {"hf://", {}, {}, {}},
    {{}, "python3", {"-m", "tfdata_doctor._remote", "list", "{url}"}, {"-m", "tfdata_doctor._remote", "read", "{url}"}},
}};

/// The Python that has the package, where it started the program.
constexpr const char* kPythonVariable = "TFDATA_DOCTOR_PYTHON";

constexpr std::size_t kMostListed = std::size_t{64} << 20;

/// Whether a path stays below the folder that it begins in, and means itself to the programs: a listing is foreign,
/// too.
bool is_plain_path(std::string_view path) {
  constexpr std::string_view kWildcards = "*?[]\\";
  const auto is_odd = [&](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f' || kWildcards.find(c) != std::string_view::npos;
  };
  if (std::ranges::any_of(path, is_odd)) return false;
  return std::ranges::none_of(fs::path(path), [](const fs::path& part) { return part == "." || part == ".."; });
}

std::vector<std::string> words_of(const std::string& program, std::span<const std::string_view> pattern,
                                  const RemotePath& path) {
  const std::array<std::pair<std::string_view, const std::string*>, 4> parts = {
      {{"{url}", &path.url}, {"{bucket}", &path.bucket}, {"{account}", &path.account}, {"{key}", &path.key}}};
  std::vector<std::string> words = {program};
  for (const std::string_view word : pattern) {
    const auto part = std::ranges::find_if(parts, [&](const auto& one) { return word.ends_with(one.first); });
    if (part == parts.end()) {
      words.emplace_back(word);
    } else if (!part->second->empty()) {
      words.push_back(std::string(word.substr(0, word.size() - part->first.size())) + *part->second);
    }
  }
  return words;
}

/// Takes a word off a line.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

std::optional<RemoteFile> parse_line(std::string_view line, Listing listing, const RemotePath& path) {
  std::string time;
  std::string_view size = next_word(line);
  if (listing == Listing::day_time_size) {
    time = std::string(size) + "T" + std::string(next_word(line));
    size = next_word(line);
  } else {
    time = next_word(line);
  }
  const std::optional<std::uint64_t> bytes = parse_whole<std::uint64_t>(size);
  if (!bytes || line.size() < 2) return std::nullopt;
  std::tm parts = {};
  const bool is_known = ::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) != nullptr;
  const std::string name(line.substr(1 + (listing == Listing::size_time ? line.find_first_not_of(" \t", 1) - 1 : 0)));
  RemoteFile file = {is_url(name) ? name : path.root + name, *bytes, is_known ? ::timegm(&parts) : 0};
  const bool is_asked = file.url == path.url || file.url.starts_with(path.url + "/");
  if (!is_asked || file.url.ends_with('/') || !is_plain_path(file.url)) return std::nullopt;
  return file;
}

void tell(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " " + shell_word(word);
  print_note("tfdata-doctor: runs" + escape_for_terminal(line) + "\n");
}

/// What makes a URL readable.
std::string what_to_install(const RemotePath& path) {
  if (path.scheme == "hf://") {
    return "pip install tfdata-doctor huggingface_hub, or fetch it: hf download OWNER/REPO FILE";
  }
  const auto reader = std::ranges::find(kReaders, path.scheme, &ReaderEntry::scheme);
  std::string pipe;
  for (const std::string& word : words_of(std::string(reader->program), reader->read, path)) {
    pipe += (pipe.empty() ? "" : " ") + shell_word(word);
  }
  return "install " + std::string(reader->program) + ", or pip install tfdata-doctor with fsspec's package for " +
         path.scheme + ", or pipe it: " + pipe + " | tfdata-doctor -";
}

/// A reader that is there, and the words to run it with.
struct Ready {
  const ReaderEntry* reader = nullptr;
  std::vector<std::string> words;
};

/// Errors: no reader is there.
Result<Ready> find_reader(const RemotePath& path, std::vector<std::string_view> ReaderEntry::*command) {
  std::string missing;
  for (const ReaderEntry& reader : kReaders) {
    if (reader.program.empty() || (!reader.scheme.empty() && reader.scheme != path.scheme)) continue;
    const char* const python = reader.scheme.empty() ? std::getenv(kPythonVariable) : nullptr;
    const std::string program = python != nullptr ? python : program_on_path(std::string(reader.program));
    if (!program.empty()) return Ready{&reader, words_of(program, reader.*command, path)};
    missing += (missing.empty() ? "" : ", ") + std::string(reader.program);
  }
  return fail("nothing on the PATH can read it: no " + missing, path.url, what_to_install(path));
}

Result<void> run(const Ready& ready, const RemotePath& path, const std::string& folder, bool is_told,
                 const std::function<Result<void>(std::string_view)>& take) {
  if (is_told) tell(ready.words);
  const Result<void> done = run_command(ready.words, folder, take);
  if (done || done.error().where != ready.words[0]) return done;
  const bool is_own_command = !ready.reader->scheme.empty();
  return fail(ready.words[0] + " " + done.error().what, path.url, is_own_command ? "" : what_to_install(path));
}

}  // namespace

bool is_url(std::string_view text) {
  return std::ranges::any_of(
      kReaders, [&](const ReaderEntry& reader) { return !reader.scheme.empty() && text.starts_with(reader.scheme); });
}

Result<RemotePath> parse_url(std::string url) {
  while (url.ends_with('/') && !url.ends_with("://")) url.pop_back();
  const std::size_t begin = url.find("://") + 3;
  const std::size_t slash = std::min(url.find('/', begin), url.size());
  const std::string place = url.substr(begin, slash - begin);
  const std::size_t at = place.find('@');
  RemotePath path = {.url = url,
                     .scheme = url.substr(0, begin),
                     .bucket = place.substr(0, at),
                     .account = at == std::string::npos ? "" : place.substr(at + 1, place.find('.', at) - at - 1),
                     .root = url.substr(0, slash) + "/",
                     .key = url.substr(std::min(slash + 1, url.size()))};
  if (place.empty() || !is_plain_path(url)) {
    return fail("is not a URL that is read: no bucket, a wildcard, '..' or an unprintable character", url);
  }
  return path;
}

Result<std::vector<RemoteFile>> RemoteReader::list(const RemotePath& path) const {
  ASSIGN_OR_RETURN(const Ready ready, find_reader(path, &ReaderEntry::list));
  std::string lines;
  RETURN_IF_ERROR(run(ready, path, folder_, is_told_, [&](std::string_view bytes) -> Result<void> {
    if (lines.size() + bytes.size() > kMostListed) return fail("has too many files to be listed", path.url);
    lines += bytes;
    return {};
  }));
  std::vector<RemoteFile> files;
  for (std::string_view rest = lines; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (std::optional<RemoteFile> file = parse_line(line, ready.reader->listing, path))
      files.push_back(*std::move(file));
  }
  return files;
}

Result<void> RemoteReader::read(const RemotePath& path,
                                const std::function<Result<void>(std::string_view)>& take) const {
  ASSIGN_OR_RETURN(const Ready ready, find_reader(path, &ReaderEntry::read));
  return run(ready, path, folder_, is_told_, take);
}

}  // namespace doctor
