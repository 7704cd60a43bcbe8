// `capture` against a stand-in of TensorFlow's profiler server: what it stores and says, and each way to fail.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_paths.h"
#include "capture/http2_calls.h"
#include "profiler_stand_in.h"
#include "run_tool.h"
#include "unwrapped.h"

namespace doctor::capture_cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Then = StandInAnswer::Then;

std::string recorded(const std::string& name) {
  return read_whole_file(source_dir() + "/testdata/traces/" + name);
}

StandInAnswer slow() {
  return StandInAnswer::with_trace(recorded("seed_example1.xplane.pb"));
}

StandInAnswer other() {
  return StandInAnswer::with_trace(recorded("sequential_interleave_tf2.21.xplane.pb"));
}

/// The runs in a log directory, and the traces in each: "2026_11_22_18_00_00/127.0.0.1_6009.xplane.pb".
std::vector<std::string> stored_in(const TemporaryDirectory& folder) {
  std::vector<std::string> files;
  const fs::path runs = folder / "logs/plugins/profile";
  if (!fs::exists(runs)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(runs)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), runs).string());
  }
  return files;
}

/// Captures into "logs" of the folder.
Ended capture(const TemporaryDirectory& folder, const std::string& hosts, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"capture", hosts, "-o", folder / "logs", "--duration", "1ms"});
  return run_tool(options);
}

/// The same where there is nothing to diagnose: the message without the program's name.
std::string error_of(const Ended& ended) {
  CHECK(ended.code == 2);
  CHECK(ended.output.empty());
  const std::string program = "tfdata-doctor: ";
  REQUIRE(ended.errors.starts_with(program));
  return ended.errors.substr(program.size());
}

/// What `capture` says of a host that does this.
std::string error_of(const StandInAnswer& answer, std::vector<std::string> options = {}) {
  const TemporaryDirectory folder;
  const ProfilerStandIn host({answer});
  std::string error = error_of(capture(folder, host.address(), std::move(options)));
  CHECK(stored_in(folder).empty());
  CHECK_FALSE(fs::exists(folder / "logs/plugins"));
  const std::string where = host.address() + ": ";
  REQUIRE(error.starts_with(where));
  return error.substr(where.size());
}

/// Whether there is a libcurl: without it nothing of this can be tested.
bool can_capture() {
  const bool can = make_http2_calls({}, [] { return false; }).has_value();
  if (!can) MESSAGE("skipped: no libcurl (scripts/install-packages build)");
  return can;
}

}  // namespace

TEST_CASE("a trace is stored as TensorBoard expects it, and diagnosed as diagnose does") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  const ProfilerStandIn host({slow()});
  const Ended ended = capture(folder, host.address(), {"--format", "json"});
  CHECK(ended.code == 1);
  CHECK(ended.errors.empty());
  const std::vector<std::string> stored = stored_in(folder);
  REQUIRE(stored.size() == 1);
  CHECK(fs::path(stored[0]).filename() == host.file_name());
  CHECK(fs::path(stored[0]).parent_path().string().size() == std::string("2026_11_22_18_00_00").size());
  const std::string path = folder / ("logs/plugins/profile/" + stored[0]);
  CHECK(read_whole_file(path) == recorded("seed_example1.xplane.pb"));
  CHECK(ended.output == run_tool({"--format", "json", path}).output);
  CHECK(ended.output == run_tool({"--format", "json", folder / "logs"}).output);
}

TEST_CASE("a profiler is asked as gRPC asks, for the time that was wanted") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  const ProfilerStandIn host({slow()});
  run_tool({"capture", "grpc://" + host.address(), "-o", folder / "logs", "--duration", "1.5s"});
  const std::vector<ProfilerStandIn::Request> requests = host.requests();
  REQUIRE(requests.size() == 1);
  profiler_service::ProfileRequest request;
  REQUIRE(request.ParseFromString(requests[0].body.substr(kGrpcPrefixSize)));
  CHECK(request.duration_ms() == 1'500);
  CHECK(request.repository_root() == folder / "logs/plugins/profile");
  CHECK(request.session_id() == fs::path(stored_in(folder).at(0)).parent_path());
  CHECK(request.host_name() + ".xplane.pb" == host.file_name());
}

TEST_CASE("a profiler is asked for the levels that were wanted, and the hosts to begin at the same moment") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  const ProfilerStandIn first({slow()});
  const ProfilerStandIn second({slow()});
  const Ended ended = capture(folder, first.address() + "," + second.address(),
                              {"--host-tracer-level", "1", "--device-tracer-level", "0", "--python-tracer-level", "1",
                               "--delay", "20ms", "-q"});
  CHECK(ended.code == 1);
  std::vector<std::uint64_t> starts;
  for (const ProfilerStandIn* host : {&first, &second}) {
    const std::vector<ProfilerStandIn::Request> requests = host->requests();
    REQUIRE(requests.size() == 1);
    profiler_service::ProfileRequest request;
    REQUIRE(request.ParseFromString(requests[0].body.substr(kGrpcPrefixSize)));
    CHECK(request.opts().host_tracer_level() == 1);
    CHECK(request.opts().device_tracer_level() == 0);
    CHECK(request.opts().python_tracer_level() == 1);
    starts.push_back(request.opts().start_timestamp_ns());
  }
  CHECK(starts[0] > 1'600'000'000'000'000'000U);
  CHECK(starts[0] == starts[1]);
}

TEST_CASE("levels that no profiler has are refused before a host is asked") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  const ProfilerStandIn host({slow()});
  for (const char* option : {"--host-tracer-level=4", "--python-tracer-level=2", "--device-tracer-level=-1",
                             "--device-tracer-level=all", "--delay=0"}) {
    CAPTURE(option);
    CHECK(capture(folder, host.address(), {option}).code == 2);
  }
  CHECK(host.requests().empty());
}

TEST_CASE("the text names the folder to look at") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  const ProfilerStandIn host({slow()});
  const Ended ended = capture(folder, host.address());
  CHECK(ended.output.starts_with("INPUT-BOUND: "));
  const std::string run = fs::path(stored_in(folder).at(0)).parent_path();
  CHECK(
      unwrapped(ended.output).ends_with("tfdata-doctor whatif \\ " + (folder / ("logs/plugins/profile/" + run)) + " "));
}

TEST_CASE("several hosts are captured at once, and are hosts of one run") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  const ProfilerStandIn first({slow()});
  const ProfilerStandIn second({other()});
  const Ended ended = capture(folder, first.address() + "," + second.address(), {"--format", "json"});
  CHECK(ended.errors.empty());
  CHECK(Json::parse(ended.output)["trace"]["files"].size() == 2);
  const std::vector<std::string> stored = stored_in(folder);
  REQUIRE(stored.size() == 2);
  CHECK(fs::path(stored[0]).parent_path() == fs::path(stored[1]).parent_path());
}

TEST_CASE("hosts that answered are kept and diagnosed; the others are files that cannot be read") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  const ProfilerStandIn good({slow()});
  const ProfilerStandIn bad({StandInAnswer::with_failure(12, "")});
  const Ended ended = capture(folder, bad.address() + "," + good.address(), {"--format", "json"});
  CHECK(ended.code == 1);
  CHECK(ended.errors.starts_with("tfdata-doctor: " + bad.address() + ": a gRPC server without a profiler"));
  const Json report = Json::parse(ended.output);
  CHECK(report["trace"]["loss"]["files_unreadable"] == 1);
  CHECK(report["trace"]["files"][1]["path"] == bad.address());
  const std::string missing = folder.write("no_trace.xplane.pb", "what is this");
  const Ended diagnosed =
      run_tool({folder / ("logs/plugins/profile/" + stored_in(folder).at(0)), missing, "--format", "json"});
  CHECK(ended.code == diagnosed.code);
  CHECK(report["verdict"] == Json::parse(diagnosed.output)["verdict"]);
}

TEST_CASE("every way to fail says what, where and what next") {
  if (!can_capture()) return;
  CHECK(error_of(StandInAnswer::with_failure(13, "Another profiling session active.")) ==
        "another capture is running; wait for its end, or use --retries; a callback of the job itself is one, too\n");
  CHECK(error_of(StandInAnswer::with_failure(12, "")) ==
        "a gRPC server without a profiler listens there; name the port of tf.profiler.experimental.server.start(), not "
        "that of another service\n");
  CHECK(error_of(StandInAnswer::with_failure(13, "/logs; Permission%20denied%1b[31m"))
            .starts_with("the profiler failed: /logs; Permission denied\\x1b[31m (INTERNAL); "));
  StandInAnswer web;
  web.status = "404";
  web.content_type = "text/html";
  CHECK(error_of(web).starts_with("not a profiler: it answers with HTTP 404 and text/html; "));
  profiler_service::ProfileResponse idle;
  idle.set_empty_trace(true);
  idle.set_xspace("metadata");
  CHECK(error_of(StandInAnswer::with_message(idle)) ==
        "nothing ran during the capture; capture while the job trains, or longer with --duration\n");
  CHECK(error_of(StandInAnswer::that(Then::say_nothing)).starts_with("the connection ended without an answer ("));
  StandInAnswer torn = slow();
  torn.then = Then::break_off;
  CHECK(error_of(torn).starts_with("the answer broke off ("));
  StandInAnswer shorter = slow();
  shorter.body.resize(1'000);
  CHECK(error_of(shorter).starts_with("the answer broke off"));
  StandInAnswer without_status;
  without_status.trailers = {{"x", "y"}};
  CHECK(error_of(without_status) == "the answer has no status of gRPC; is there a proxy between?\n");
  CHECK(error_of(slow(), {"--max-size", "1K"}).starts_with("the trace has "));
  CHECK(error_of(StandInAnswer::that(Then::hang), {"--timeout", "1s"}) ==
        "the profiler did not answer in time; allow more with --timeout, or capture less with --duration\n");
}

TEST_CASE("where nothing listens") {
  if (!can_capture()) return;
  std::string address;
  {
    const ProfilerStandIn host({slow()});
    address = host.address();
  }
  const TemporaryDirectory folder;
  const std::string port = address.substr(address.find(':') + 1);
  CHECK(error_of(capture(folder, address)) ==
        address + ": nothing listens there; does the job run, and does it call tf.profiler.experimental.server.start(" +
            port + ")?\n");
  CHECK_FALSE(fs::exists(folder / "logs/plugins"));
}

TEST_CASE("a server before TensorFlow 2.21 stores the trace itself") {
  if (!can_capture()) return;
  const StandInAnswer elsewhere = StandInAnswer::with_message({});
  CHECK(error_of(elsewhere).starts_with("the profiler wrote the trace to its own disk"));
  StandInAnswer here = elsewhere;
  here.on_disk = recorded("seed_example1.xplane.pb");
  const TemporaryDirectory folder;
  const ProfilerStandIn host({here});
  CHECK(capture(folder, host.address()).code == 1);
  CHECK(stored_in(folder).size() == 1);
  profiler_service::ProfileResponse idle;
  idle.set_empty_trace(true);
  StandInAnswer nothing = StandInAnswer::with_message(idle);
  nothing.on_disk = "metadata";
  CHECK(error_of(nothing).starts_with("nothing ran during the capture; "));
}

TEST_CASE("retries are made where a failure may pass") {
  if (!can_capture()) return;
  const StandInAnswer busy = StandInAnswer::with_failure(13, "Another profiler session is active.");
  const TemporaryDirectory folder;
  const ProfilerStandIn host({busy, busy, slow()});
  CHECK(capture(folder, host.address(), {"--retries", "2", "--retry-after", "0s"}).code == 1);
  CHECK(host.requests().size() == 3);
  CHECK(stored_in(folder).size() == 1);
  const ProfilerStandIn never({busy, busy, slow()});
  CHECK(capture(folder, never.address(), {"--retries", "1", "--retry-after", "0s"}).code == 2);
  CHECK(never.requests().size() == 2);
  const ProfilerStandIn none({StandInAnswer::with_failure(12, ""), slow()});
  CHECK(capture(folder, none.address(), {"--retries", "5", "--retry-after", "0s"}).code == 2);
  CHECK(none.requests().size() == 1);
}

TEST_CASE("captures that repeat keep every trace, or those with another verdict") {
  if (!can_capture()) return;
  const std::vector<StandInAnswer> answers = {slow(), slow(), StandInAnswer::with_failure(12, ""), slow(), other()};
  const std::vector<std::string> repeated = {"--every", "0s", "--count", "5"};
  const TemporaryDirectory all;
  const ProfilerStandIn host(answers);
  const Ended every = capture(all, host.address(), repeated);
  CHECK(stored_in(all).size() == 4);
  std::vector<std::string> changed = repeated;
  changed.push_back("--keep-if-changed");
  const TemporaryDirectory few;
  const ProfilerStandIn same(answers);
  const Ended kept = capture(few, same.address(), changed);
  CHECK(stored_in(few).size() == 2);
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count(every.output, "  Cause   ") == 4);
  CHECK(count(kept.output, "  Cause   ") == 2);
  CHECK(count(kept.errors, "as before: ") == 2);
  CHECK(every.code == kept.code);
}

TEST_CASE("metrics are written after each capture, and say when there is none") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  const ProfilerStandIn host({slow(), StandInAnswer::with_failure(12, "")});
  const std::string file = folder / "tfdata.prom";
  const std::vector<std::string> options = {"-o", "prometheus=" + file, "-q"};
  CHECK(capture(folder, host.address(), options).code == 1);
  const std::string good = read_whole_file(file);
  CHECK(good.find("\ntfdata_doctor_up 1\n") != std::string::npos);
  CHECK(good.find("\ntfdata_doctor_verdict{status=\"input_bound\"} 1\n") != std::string::npos);
  CHECK(capture(folder, host.address(), options).code == 2);
  CHECK(read_whole_file(file).find("\ntfdata_doctor_up 0\n") != std::string::npos);
}

TEST_CASE("a document to standard output takes the place of the text") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  const ProfilerStandIn host({slow()});
  const Ended ended = capture(folder, host.address(), {"-o", "prometheus=-"});
  CHECK(ended.code == 1);
  CHECK(ended.output.starts_with("# HELP tfdata_doctor_info "));
  CHECK(capture(folder, host.address(), {"-o", "json=-", "--format", "prometheus"}).errors ==
        "tfdata-doctor: --output: two documents for standard output; write one of them to a file\n");
}

TEST_CASE("usage") {
  const auto error = [](const std::vector<std::string>& arguments) {
    const Ended ended = run_tool(arguments);
    CHECK(ended.code == 2);
    return ended.errors;
  };
  CHECK(error({"capture"}).starts_with("tfdata-doctor: no host given; "));
  CHECK(error({"capture", "localhost"}).starts_with("tfdata-doctor: localhost: has no port; "));
  CHECK(error({"capture", "a:1", "--count", "2"}) ==
        "tfdata-doctor: --count: is for captures that repeat; say how often with --every\n");
  CHECK(error({"capture", "a:1", "--keep-if-changed"}).starts_with("tfdata-doctor: --keep-if-changed: is for "));
  CHECK(error({"capture", "a:1", "--duration", "2"}).starts_with("tfdata-doctor: --duration: '2' is not a time; "));
  CHECK(error({"capture", "a:1", "--duration", "0s"}) == "tfdata-doctor: --duration: '0s' is less than 1 ms\n");
  CHECK(error({"capture", "a:1", "--every", "8d"}).starts_with("tfdata-doctor: --every: '8d' is not a time; "));
}

TEST_CASE("a log directory that cannot be made is named before anything is captured") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  folder.write("logs", "a file");
  const ProfilerStandIn host({slow()});
  CHECK(error_of(capture(folder, host.address())).find("no folder for traces can be made: ") != std::string::npos);
  CHECK(host.requests().empty());
}

TEST_CASE("without libcurl it says what to install, and other commands do without") {
  if (!can_capture()) return;
  const TemporaryDirectory folder;
  folder.write("libcurl.so.4", "no library");
  folder.write("libcurl-gnutls.so.4", "no library");
  const EnvironmentVariable hidden("LD_LIBRARY_PATH", folder.path());
  CHECK(error_of(capture(folder, "127.0.0.1:1")) ==
        "libcurl is not installed, which speaks HTTP/2 to the profiler; install it (Debian and Ubuntu: libcurl4)\n");
  CHECK(run_tool({"--version"}).code == 0);
}

}  // namespace doctor::capture_cli_test
