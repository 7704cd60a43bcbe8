// --host: which host of a run a name means, and that nothing of the others is left.

#include "measure/host_choice.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "run_tool.h"
#include "synthetic_trace.h"
#include "unwrapped.h"

namespace doctor::host_choice_test {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

struct Host {
  std::string machine;
  std::string file;
};

Measurements run_of(const std::vector<Host>& hosts) {
  Measurements run;
  for (const Host& written : hosts) {
    HostMeasurement& host = run.hosts.emplace_back();
    if (!written.machine.empty()) host.hosts = {written.machine};
    host.files = {{written.file, "xspace", 1}};
  }
  return run;
}

/// The file of the host that the name means, or why there is none.
std::string chosen(const std::vector<Host>& hosts, std::string_view name) {
  Measurements run = run_of(hosts);
  const Result<void> kept = keep_host(name, run);
  if (!kept) return kept.error().what + "; " + kept.error().next;
  CHECK(run.hosts.size() == 1);
  CHECK(run.left_out.size() == hosts.size() - 1);
  return run.hosts[0].files[0].path;
}

/// Twelve steps that wait so long for an element.
std::string steps_of(const std::string& machine, double wait_us) {
  SyntheticTrace trace;
  for (int step = 0; step < 12; ++step) {
    const double start = step * 20'000;
    trace.add("main", "IteratorGetNextOp::DoCompute", start, wait_us);
    trace.iterator("main", "Iterator::Root", 1, 0, start + 1, wait_us - 2);
    trace.iterator("main", "Iterator::Root::Map", 2, 1, start + 2, wait_us - 4);
  }
  xspace::XSpace space = trace.to_message();
  space.set_hostnames(0, machine);
  return space.SerializeAsString();
}

/// Two hosts, of which the second waits.
class Run {
 public:
  Run() {
    folder_.write("w0.xplane.pb", steps_of("worker-0", 100));
    folder_.write("w1.xplane.pb", steps_of("worker-1", 15'000));
  }
  std::string file(int host) const { return folder_ / fmt::format("w{}.xplane.pb", host); }
  Ended ask(std::vector<std::string> command) const {
    command.insert(command.end(), {file(0), file(1)});
    return run_tool(command);
  }

 private:
  TemporaryDirectory folder_;
};

TEST_CASE("a host is named by its machine, by its file or as the pages name it") {
  const std::vector<Host> hosts = {{"alpha", "run/a.xplane.pb"}, {"beta", "run/b.trace.json.gz"}, {"", "run/c.pb"}};
  for (const std::string_view name : {"beta", "run/b.trace.json.gz", "b.trace.json.gz", "b"}) {
    CAPTURE(name);
    CHECK(chosen(hosts, name) == "run/b.trace.json.gz");
  }
  CHECK(chosen(hosts, "c.pb") == "run/c.pb");
  CHECK(chosen(hosts, "bet") == "no host 'bet'; the hosts are beta, c.pb, alpha");
  CHECK(chosen(hosts, "") == "no host ''; the hosts are beta, c.pb, alpha");
}

TEST_CASE("several hosts of one name need their files") {
  const std::vector<Host> hosts = {{"vm", "x.xplane.pb"}, {"vm", "y.xplane.pb"}};
  CHECK(names_of_hosts(run_of(hosts)) == Names{"vm (x.xplane.pb)", "vm (y.xplane.pb)"});
  CHECK(chosen(hosts, "vm").starts_with("2 hosts are called 'vm'; name one by its file: "));
  CHECK(chosen(hosts, "vm (y.xplane.pb)") == "y.xplane.pb");
  CHECK(chosen(hosts, "y") == "y.xplane.pb");
  // Folders are not named; files of one name are counted.
  const std::vector<Host> alike = {{"", "a/host.json"}, {"", "b/host.json"}};
  CHECK(names_of_hosts(run_of(alike)) == Names{"host.json #1", "host.json #2"});
  CHECK(chosen(alike, "host.json #2") == "b/host.json");
}

TEST_CASE("a name that a page shows means that host, whatever others are called") {
  CHECK(chosen({{"b", "a.xplane.pb"}, {"other", "b.xplane.pb"}}, "b") == "a.xplane.pb");
}

TEST_CASE("of many names the nearest are listed") {
  std::vector<Host> hosts;
  for (int host = 0; host < 30; ++host) hosts.push_back({fmt::format("worker-{}", host), fmt::format("{}.pb", host)});
  const std::string answer = chosen(hosts, "worker-2O");
  CHECK(answer.find("the hosts are worker-2, worker-20, ") != std::string::npos);
  CHECK(answer.ends_with(" and 22 more"));
}

TEST_CASE("nearness is an order of all names") {
  CHECK(by_nearness("tree", {"steps", "trees", "tree", "free"}) ==
        std::vector<std::string_view>{"tree", "trees", "free", "steps"});
  CHECK(by_nearness("x", {}).empty());
}

TEST_CASE("a diagnosis of one host says so and knows nothing of the others") {
  const Run run;
  const Json page = Json::parse(run.ask({"--format", "json", "--host", "worker-0"}).output);
  CHECK(page["verdict"]["status"] == "healthy");
  CHECK(page["trace"]["hosts"] == Json::array({"worker-0"}));
  CHECK(page["trace"]["hosts_left_out"] == Json::array({"worker-1"}));
  CHECK(page["trace"]["files"].size() == 1);
  const Json alone = Json::parse(run_tool({"--format", "json", run.file(0)}).output);
  CHECK(page["pipelines"] == alone["pipelines"]);
  CHECK(page["verdict"] == alone["verdict"]);
  CHECK_FALSE(alone["trace"].contains("hosts_left_out"));
  const std::string text = unwrapped(run.ask({"--host", "worker-1"}).output);
  CHECK(text.find(" Host worker-1 alone; 1 other host of the run was left out (--host) ") != std::string::npos);
  CHECK(text.find(" --host worker-1 ", text.find("Next")) != std::string::npos);
}

TEST_CASE("every command that shows a run takes it") {
  const Run run;
  for (const Names& command : std::vector<Names>{{"show", "overview"},
                                                 {"show", "input"},
                                                 {"show", "tree"},
                                                 {"show", "calls"},
                                                 {"show", "autotune"},
                                                 {"show", "hosts"},
                                                 {"show", "steps"},
                                                 {"show", "ops"},
                                                 {"show", "kernels"},
                                                 {"whatif"},
                                                 {"checklist"},
                                                 {"explain", "input-bound"}}) {
    CAPTURE(command.back());
    Names wanted = command;
    wanted.insert(wanted.end(), {"--format", "json", "--host", "w1"});
    Names alone = command;
    alone.insert(alone.end(), {"--format", "json", run.file(1)});
    CHECK(run.ask(wanted).output == run_tool(alone).output);
  }
}

TEST_CASE("an unknown host is an error that lists the hosts") {
  const Ended ended = Run().ask({"show", "steps", "--host", "worker-7"});
  CHECK(ended.code == 2);
  CHECK(ended.output.empty());
  CHECK(ended.errors == "tfdata-doctor: --host: no host 'worker-7'; the hosts are worker-0, worker-1\n");
}

TEST_CASE("a file of another host that cannot be read keeps nobody from the one that is wanted") {
  const Run run;
  const TemporaryDirectory folder;
  const std::string torn = folder.write("torn.xplane.pb", "no trace");
  const Ended wanted = run_tool({"--format", "json", "--host", "w0", torn, run.file(0)});
  CHECK(wanted.code == 0);
  CHECK(wanted.errors.find("torn.xplane.pb") != std::string::npos);
  CHECK(Json::parse(wanted.output)["trace"]["files"].size() == 1);
  CHECK(run_tool({"--host", "torn", torn, run.file(0)}).code == 2);
}

}  // namespace
}  // namespace doctor::host_choice_test
