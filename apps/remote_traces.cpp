#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <system_error>

#include "base/try.h"
#include "command_line/option_table.h"
#include "commands.h"
#include "io/file_io.h"
#include "io/trace_folder.h"
#include "io/trace_inputs.h"
#include "process/child_process.h"
#include "process/remote_reader.h"
#include "trace/recording_facts.h"
#include "trace/source_lines.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kTimeBetweenListings{30};

bool is_beside_a_trace(const std::string& url) {
  return std::ranges::any_of(std::array{source_lines_path(url), recording_facts_path(url), memory_samples_path(url)},
                             [&](const std::string& beside) { return beside == url; });
}

class RemoteFolder {
 public:
  RemoteFolder(const std::string& folder, bool is_told) : folder_(folder), reader_(folder, is_told) {}
  RemoteFolder(const RemoteFolder&) = delete;
  RemoteFolder& operator=(const RemoteFolder&) = delete;
  /// Waits until the folder is gone.
  ~RemoteFolder() {
    if (keeper_ <= 0) return;
    end_ = FileDescriptor();
    uninterrupted([&] { return ::waitpid(keeper_, nullptr, 0); });
  }

  /// The traces that a URL denotes or has below it, and what lies beside them. Errors: none, or they cannot be listed.
  Result<std::vector<RemoteFile>> list(const RemotePath& path) const {
    ASSIGN_OR_RETURN(std::vector<RemoteFile> files, reader_.list(path));
    std::erase_if(files, [&](const RemoteFile& file) {
      const bool is_named = file.url == path.url || as_trace_file(fs::path(file.url).filename().string());
      return !is_named && !is_beside_a_trace(file.url);
    });
    if (files.empty()) return fail(std::string(kNoTraceFiles), path.url);
    if (files.size() == 1 && files[0].url == path.url) add_what_lies_beside(path, files);
    return files;
  }

  /// Fetches a file to its place, at once and as a whole. Errors: it cannot be read, ends early, or there is no room.
  Result<void> fetch(const RemoteFile& file) const {
    const std::string partial = file.url + ".part";
    RETURN_IF_ERROR(make_folder_of(file.url));
    const FileDescriptor kept(::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!kept.is_open()) return Unexpected(path_error(file.url, errno));
    ASSIGN_OR_RETURN(const RemotePath path, parse_url(file.url));
    std::uint64_t bytes = 0;
    const Result<void> read = reader_.read(path, [&](std::string_view part) {
      bytes += part.size();
      return add_to_temporary_file(kept, part, file.url);
    });
    // More may be right: of an object that is stored compressed, the listing has the compressed size.
    const bool is_short = read && bytes < file.bytes;
    if (!read || is_short) ::unlink(partial.c_str());
    RETURN_IF_ERROR(read);
    if (is_short) return fail(fmt::format("ends after {} of {} bytes", bytes, file.bytes), file.url);
    set_time(kept, file);
    if (::rename(partial.c_str(), file.url.c_str()) != 0) return Unexpected(path_error(file.url, errno));
    return {};
  }

  /// Makes a file that has a listed size and time, and no bytes.
  static Result<void> make_empty(const RemoteFile& file) {
    RETURN_IF_ERROR(make_folder_of(file.url));
    const FileDescriptor made(::open(file.url.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!made.is_open() || ::ftruncate(made.number(), static_cast<off_t>(file.bytes)) != 0) {
      return Unexpected(path_error(file.url, errno));
    }
    set_time(made, file);
    return {};
  }

  /// Starts the process that removes the folder when this one has ended, however that was. `refresh` is called every
  /// half minute; it may be empty.
  Result<void> start_keeper(const std::function<void()>& refresh) {
    ASSIGN_OR_RETURN(Pipe ends, make_pipe());
    keeper_ = ::fork();
    if (keeper_ < 0) return fail(std::string("no process can be had: ") + std::strerror(errno), {});
    if (keeper_ == 0) keep(ends.read_end.number(), refresh);
    end_ = std::move(ends.write_end);
    return {};
  }

 private:
  /// The lines of the program, facts of the recording and samples of memory; the trace is read without them, too.
  void add_what_lies_beside(const RemotePath& trace, std::vector<RemoteFile>& files) const {
    const std::string folder = trace.url.substr(0, trace.url.rfind('/'));
    const Result<RemotePath> path = parse_url(folder);
    if (!path) return;
    const Result<std::vector<RemoteFile>> listed = reader_.list(*path);
    if (!listed) return;
    for (const RemoteFile& file : *listed) {
      if (is_beside_a_trace(file.url) && file.url.rfind('/') == folder.size()) files.push_back(file);
    }
  }

  [[noreturn]] void keep(int end, const std::function<void()>& refresh) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
    close_descriptors_but({end, STDERR_FILENO});
    const std::chrono::milliseconds wait = refresh ? kTimeBetweenListings : std::chrono::milliseconds(-1);
    while (!comes(end, POLLIN, wait)) {
      if (refresh) refresh();
    }
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    ::_exit(0);
  }

  static Result<void> make_folder_of(const std::string& url) {
    std::error_code error;
    fs::create_directories(fs::path(url).parent_path(), error);
    if (error) return fail("cannot be kept: " + error.message(), url, "set TMPDIR to a directory with room");
    return {};
  }

  static void set_time(const FileDescriptor& file, const RemoteFile& listed) {
    const std::array<timespec, 2> times = {{{listed.changed, 0}, {listed.changed, 0}}};
    ::futimens(file.number(), times.data());
  }

  std::string folder_;
  RemoteReader reader_;
  pid_t keeper_ = 0;
  FileDescriptor end_;
};

/// A path that means the same from another working directory. Of "json=FILE" it is what follows the format.
std::string absolute_path(const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool has_format =
      equals != std::string::npos && equals > 0 && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == equals;
  const std::size_t begin = has_format ? equals + 1 : 0;
  const std::string path = text.substr(begin);
  if (path.empty() || path == "-" || path.starts_with('/') || path == kBetweenSides || is_url(path)) return text;
  std::error_code error;
  return text.substr(0, begin) + fs::absolute(path, error).string();
}

/// The URLs of a request that are read. Makes its other paths absolute if there are any. Errors: one that is written
/// to.
Result<std::vector<RemotePath>> take_urls(Request& request) {
  std::vector<RemotePath> urls;
  std::vector<std::string*> paths;
  for (const ArgumentEntry& argument : entry_of(request.command).arguments) {
    const auto given = request.arguments.find(argument.name);
    if (argument.kind != ArgumentKind::path || given == request.arguments.end()) continue;
    for (std::string& path : given->second) {
      if (is_url(path)) {
        ASSIGN_OR_RETURN(RemotePath url, parse_url(path));
        urls.push_back(std::move(url));
      }
      paths.push_back(&path);
    }
  }
  if (urls.empty()) return urls;
  if (request.is_set("embedded")) {
    return fail("is not read with '--embedded', which starts no program", urls[0].url, "name a local file");
  }
  for (const OptionEntry& option : option_table()) {
    if (option.kind != ValueKind::file || !option.commands.has(request.command)) continue;
    for (GivenValue& value : request.values.of(option.name)) {
      if (is_url(value.text.substr(value.text.find('=') + 1))) {
        return fail("takes no URL", "--" + std::string(option.name), "name a local file");
      }
      value.text = absolute_path(value.text);
    }
  }
  for (std::string* const path : paths) *path = absolute_path(*path);
  return urls;
}

/// Whether a command reads the newest run of a log directory alone.
bool reads_one_run(Command command) {
  constexpr std::array kThose = {Command::diagnose,  Command::show,    Command::whatif,
                                 Command::checklist, Command::explain, Command::convert};
  return std::ranges::find(kThose, command) != kThose.end();
}

/// Fetches the files of the run that is read, and what lies beside them. The others are gone then, or empty.
Result<void> fetch_one_run(RemoteFolder& folder, const std::vector<RemotePath>& urls,
                           const std::vector<RemoteFile>& files, const std::optional<std::string>& run) {
  for (const RemoteFile& file : files) RETURN_IF_ERROR(RemoteFolder::make_empty(file));
  std::vector<std::string> paths;
  for (const RemotePath& path : urls) paths.push_back(path.url);
  ASSIGN_OR_RETURN(const std::vector<std::string> chosen, resolve_inputs(paths, run));
  std::set<std::string> folders;
  for (const std::string& file : chosen) folders.insert(fs::path(file).parent_path().string());
  for (const RemoteFile& file : files) {
    const bool is_beside = is_beside_a_trace(file.url) && folders.contains(fs::path(file.url).parent_path().string());
    const bool is_chosen = std::ranges::any_of(
        chosen, [&](const std::string& path) { return path == file.url || file_to_read(path) == file.url; });
    if (is_beside || is_chosen) {
      RETURN_IF_ERROR(folder.fetch(file));
    } else if (file.bytes > 0) {
      ::unlink(file.url.c_str());
    }
  }
  return {};
}

/// Fetches what is not there yet. The first error ends it.
Result<void> fetch_new(RemoteFolder& folder, const std::vector<RemotePath>& urls) {
  for (const RemotePath& path : urls) {
    ASSIGN_OR_RETURN(const std::vector<RemoteFile> files, folder.list(path));
    for (const RemoteFile& file : files) {
      struct stat status {};
      const bool is_there = ::stat(file.url.c_str(), &status) == 0 && status.st_mtim.tv_sec == file.changed;
      if (!is_there) RETURN_IF_ERROR(folder.fetch(file));
    }
  }
  return {};
}

Result<void> fetch_all(RemoteFolder& folder, const Request& request, const std::vector<RemotePath>& urls) {
  if (!reads_one_run(request.command)) return fetch_new(folder, urls);
  std::vector<RemoteFile> files;
  for (const RemotePath& path : urls) {
    ASSIGN_OR_RETURN(const std::vector<RemoteFile> more, folder.list(path));
    files.insert(files.end(), more.begin(), more.end());
  }
  if (!request.is_set("list-runs")) return fetch_one_run(folder, urls, files, request.given("run"));
  for (const RemoteFile& file : files) RETURN_IF_ERROR(RemoteFolder::make_empty(file));
  return {};
}

}  // namespace

Result<void> fetch_remote_traces(Request& request) {
  ASSIGN_OR_RETURN(const std::vector<RemotePath> urls, take_urls(request));
  if (urls.empty()) return {};
  std::error_code error;
  std::string place = fs::absolute(temporary_directory(), error).string() + "/tfdata-doctor-XXXXXX";
  if (::mkdtemp(place.data()) == nullptr) return Unexpected(path_error(place, errno));
  static std::optional<RemoteFolder> folder;
  folder.emplace(place, request.is_set("verbose") && !request.is_set("quiet"));
  if (::chdir(place.c_str()) != 0) return Unexpected(path_error(place, errno));
  const auto refresh = [&urls] {
    if (const Result<void> done = fetch_new(*folder, urls); !done) print_error(done.error());
  };
  const bool is_watched = request.command == Command::watch;
  RETURN_IF_ERROR(folder->start_keeper(is_watched ? std::function<void()>(refresh) : nullptr));
  return fetch_all(*folder, request, urls);
}

}  // namespace doctor
