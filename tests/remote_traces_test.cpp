// Traces that are named by URLs: stand-ins for the commands of clouds read them from a folder.

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "built_paths.h"
#include "process/remote_reader.h"
#include "run_tool.h"
#include "temporary_directory.h"

namespace doctor::remote_traces_test {
namespace {

namespace fs = std::filesystem;

const std::string kTraces = source_dir() + "/testdata/traces/";
const std::string kHealthy = kTraces + "cache_full_tf2.21.xplane.pb";
const std::string kBound = kTraces + "seed_example1.xplane.pb";

/// Lists and reads $STORE/BUCKET as gcloud does, and notes each call.
const std::string kGcloud = R"(#!/bin/sh
for word in "$@"; do printf '%s\n' "$word"; done >> "$STORE/calls"
for url; do :; done
place="$STORE/${url#gs://}"
test -e "$place" || { echo 'ERROR: (gcloud.storage) no such object' >&2; exit 1; }
case $2 in
ls) find "$place" -type f -printf '%10s  %TY-%Tm-%TdT%TH:%TM:%.2TSZ  %p\n' | sed "s|$STORE/|gs://|"; echo 'TOTAL: 9 objects' ;;
cat) cat "$place" ;;
esac
)";
/// The same as aws, whose names are those of the bucket, and whose files end early.
const std::string kAws = R"(#!/bin/sh
case $2 in
ls) url=$4; find "$STORE/${url#s3://}" -type f -printf "%TY-%Tm-%Td %TH:%TM:%.2TS %10s %p\n" | sed "s|$STORE/[^/]*/||" ;;
cp) url=$4; head -c ${MOST:-99999999} "$STORE/${url#s3://}" ;;
esac
)";
/// The same as az, which gets the parts of a URL.
const std::string kAz = R"(#!/bin/sh
printf '%s\n' "$@" >> "$STORE/calls"
for word; do case $word in
--container-name=*) bucket=${word#*=} ;;
--prefix=*|--name=*) key=${word#*=} ;;
esac; done
case $3 in
list) cd "$STORE/$bucket"; find "$key" -type f -printf '%s\t%TY-%Tm-%TdT%TH:%TM:%.2TS+00:00\t%p\n' ;;
download) cat "$STORE/$bucket/$key" ;;
esac
)";

/// A folder that stands for a cloud, and commands that read it.
class Cloud {
 public:
  Cloud() {
    add_run("2026_01_01_00_00_00", kHealthy);
    add_run("2026_01_02_00_00_00", kBound);
  }

  /// Puts a file into the bucket. Returns where it is.
  std::string add(const std::string& name, const std::string& content) {
    return folder_.write("store/bucket/" + name, content);
  }

  /// Puts a run into logs/ of the bucket.
  void add_run(const std::string& name, const std::string& trace) {
    const std::string path = add("logs/plugins/profile/" + name + "/vm.xplane.pb", read_whole_file(trace));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 - ++runs_));
  }

  void add_command(const std::string& name, const std::string& script) {
    fs::permissions(folder_.write("bin/" + name, script), fs::perms::owner_all);
  }

  Ended run(const std::vector<std::string>& arguments) const {
    const EnvironmentVariable path("PATH", folder_ / "bin" + ":/usr/bin:/bin");
    const EnvironmentVariable store("STORE", folder_ / "store");
    fs::create_directories(folder_ / "temporary");
    const EnvironmentVariable temporary("TMPDIR", folder_ / "temporary");
    const Ended ended = run_tool(arguments);
    CHECK(fs::is_empty(folder_ / "temporary"));
    return ended;
  }

  std::string calls() const { return read_whole_file(folder_ / "store/calls"); }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryDirectory folder_;
  int runs_ = 0;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("a log directory in a cloud is its newest run, and goes by its URL") {
  Cloud cloud;
  cloud.add_command("gcloud", kGcloud);
  const Ended ended = cloud.run({"gs://bucket/logs", "-v"});
  CHECK(ended.code == 1);
  CHECK(ended.output.starts_with("INPUT-BOUND"));
  CHECK(contains(ended.output, "gs://bucket/logs"));
  CHECK(
      contains(ended.errors, "gcloud storage cat gs://bucket/logs/plugins/profile/2026_01_02_00_00_00/vm.xplane.pb\n"));
  CHECK(count(cloud.calls(), "cat\n") == 1);

  const Ended older = cloud.run({"gs://bucket/logs/", "--run", "2026_01_01"});
  CHECK(older.output.starts_with("NOT INPUT-BOUND"));
  const Ended runs = cloud.run({"gs://bucket/logs", "--list-runs"});
  CHECK(count(runs.output, "gs://bucket/logs/plugins/profile/") == 2);
  CHECK(count(cloud.calls(), "cat\n") == 2);
}

TEST_CASE("each cloud has a command") {
  const std::string run = "bucket/logs/plugins/profile/2026_01_02_00_00_00";
  const std::vector<std::pair<std::string, std::string>> commands = {{"gcloud", kGcloud}, {"aws", kAws}, {"az", kAz}};
  const std::vector<std::string> urls = {"gs://" + run, "s3://" + run + "/vm.xplane.pb", "az://" + run,
                                         "abfs://bucket@account.dfs.core.windows.net" + run.substr(6)};
  Cloud cloud;
  for (const auto& [name, script] : commands) cloud.add_command(name, script);
  for (const std::string& url : urls) {
    CAPTURE(url);
    const Ended ended = cloud.run({url, "--format", "json"});
    CHECK(ended.code == 1);
    CHECK(contains(ended.output, "\"" + url.substr(0, url.find("/vm"))));
    CHECK(ended.errors.empty());
  }
  CHECK(contains(cloud.calls(), "--account-name=account\n"));
  CHECK(count(cloud.calls(), "--account-name=") == 2);
}

TEST_CASE("a file that is named by itself comes with what lies beside it") {
  Cloud cloud;
  cloud.add_command("gcloud", kGcloud);
  for (const std::string name : {"vm.xplane.pb.gz", "dataset-lines.json"}) {
    cloud.add("lines/" + name, read_whole_file(source_dir() + "/testdata/lines/lines_of_code_tf2.21/" + name));
  }
  CHECK(contains(cloud.run({"gs://bucket/lines/vm.xplane.pb.gz"}).output, "filter at input.py:18"));
}

TEST_CASE("what takes several traces takes all of them") {
  Cloud cloud;
  cloud.add_command("gcloud", kGcloud);
  const Ended rows = cloud.run({"batch", "gs://bucket"});
  CHECK(count(rows.output, "\"path\":\"gs://bucket/logs/plugins/profile/2026_01_0") == 2);
  const Ended watched = cloud.run({"watch", "--once", "gs://bucket/logs"});
  CHECK(count(watched.output, "\"path\":\"gs://bucket/logs") == 2);
  const Ended compared = cloud.run({"compare", "gs://bucket/logs/plugins/profile/2026_01_01_00_00_00", "--", kBound});
  CHECK(contains(compared.output, "Compared  1 base with 1 candidate"));
}

TEST_CASE("paths beside a URL mean what they meant") {
  Cloud cloud;
  cloud.add_command("gcloud", kGcloud);
  const TemporaryDirectory here;
  const fs::path before = fs::current_path();
  fs::current_path(here.path());
  const Ended ended = cloud.run({"gs://bucket/logs", "-o", "json=report.json", "-o", "-"});
  const Ended refused = cloud.run({"gs://bucket/logs", "-o", "json=gs://bucket/report.json"});
  fs::current_path(before);
  CHECK(ended.code == 1);
  CHECK(contains(read_whole_file(here / "report.json"), "gs://bucket/logs"));
  CHECK(refused.code == 2);
  CHECK(contains(refused.errors, "--output: takes no URL"));
}

TEST_CASE("what cannot be read is an error, and never a shorter trace") {
  Cloud cloud;
  cloud.add_command("gcloud", kGcloud);
  cloud.add_command("aws", kAws);
  const EnvironmentVariable most("MOST", "100000");
  const std::string cut = cloud.run({"s3://bucket/logs"}).errors;
  CHECK(contains(cut, "vm.xplane.pb: ends after 100000 of 451729 bytes"));
  CHECK(contains(cloud.run({"gs://bucket/nothing"}).errors, "status 1: ERROR: (gcloud.storage) no such object"));
  CHECK(contains(cloud.run({"gs://bucket/logs", "--embedded"}).errors, "is not read with '--embedded'"));
  const std::string nothing = cloud.run({"az://bucket/logs"}).errors;
  CHECK(contains(nothing, "az://bucket/logs"));
  CHECK(contains(nothing, "--container-name=bucket --name=logs | tfdata-doctor -"));
}

TEST_CASE("names that are more than names are not handed over") {
  for (const std::string path :
       {"bucket/../../etc", "bucket/a\nb", "bucket/*", "bucket/a?", "", "/x", "bucket/\x1b[2J"}) {
    CAPTURE(path);
    CHECK_FALSE(parse_url("gs://" + path).has_value());
  }
  CHECK_FALSE(is_url("--gs://bucket"));
  Cloud cloud;
  cloud.add_command("gcloud", kGcloud);
  const std::string odd = "gs://bucket/a b'; touch x; \"$(touch y)\" -o";
  CHECK(cloud.run({odd}).code == 2);
  CHECK(contains(cloud.calls(), "--recursive\n" + odd + "\n"));
  // A listing is foreign, too.
  cloud.add_command(
      "gcloud",
      "#!/bin/sh\nprintf '%s  2026-01-01T00:00:00Z  gs://%s\\n' 5 b/../../x.xplane.pb 5 other/x.xplane.pb "
      "5 b/logs2/x.xplane.pb x b/logs/x.xplane.pb\n");
  CHECK(contains(cloud.run({"gs://b/logs"}).errors, "gs://b/logs: holds no trace files"));
}

TEST_CASE("Python with fsspec reads what no command does") {
  Cloud cloud;
  const TemporaryDirectory packages;
  packages.write("fsspec/__init__.py",
                 "import os\nfrom types import SimpleNamespace\nclass Files:\n"
                 "  def find(self, root, detail):\n"
                 "    found = [os.path.join(f, n) for f, _, names in os.walk(root) for n in names]\n"
                 "    return {n: {'size': os.path.getsize(n), 'mtime': '2026-01-01 00:00:00+00:00'} for n in found}\n"
                 "  def open(self, path, mode): return open(path, mode)\n"
                 "core = SimpleNamespace(url_to_fs=lambda url: (Files(), os.environ['STORE'] + '/' + url[5:]))\n");
  const EnvironmentVariable path("PYTHONPATH", packages.path() + ":" + source_dir() + "/python");
  const Ended ended = cloud.run({"hf://bucket/logs"});
  CHECK(ended.errors == "");
  CHECK(ended.output.starts_with("INPUT-BOUND"));
  packages.write("fsspec/__init__.py", "raise ImportError");
  const std::string errors = cloud.run({"hf://bucket/logs"}).errors;
  CHECK(contains(errors, "Python has no fsspec; pip install tfdata-doctor huggingface_hub"));
}

}  // namespace
}  // namespace doctor::remote_traces_test
