// What a worker of `batch` answers, which is read as what a stranger wrote.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "batch/batch.h"

namespace doctor::trace_worker_test {
namespace {

DiagnosedTrace diagnosed() {
  DiagnosedTrace trace = {1, VerdictStatus::input_bound, true, "max_wait is exceeded\n", "b.xplane.pb"};
  trace.row = failed_row({}, {});
  trace.row->verdict = "input_bound";
  trace.row->culprit = "two\nlines";
  return trace;
}

std::string part(std::string_view text) {
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)).append(text);
}

TEST_CASE("an answer is read as it was written") {
  const std::string text = encode(diagnosed());
  const std::optional<DiagnosedTrace> read = decode_diagnosed_trace(text);
  REQUIRE(read);
  CHECK(encode(*read) == text);
  CHECK(read->exit_code == 1);
  CHECK(read->status == VerdictStatus::input_bound);
  CHECK(read->has_open_budget);
  CHECK(read->budgets == "max_wait is exceeded\n");
  CHECK(read->beside == "b.xplane.pb");
  CHECK(read->row->culprit == "two\nlines");
}

TEST_CASE("the row of the other file may be about this one") {
  DiagnosedTrace trace;
  trace.beside = "b.xplane.pb";
  const std::optional<DiagnosedTrace> read = decode_diagnosed_trace(encode(trace));
  REQUIRE(read);
  CHECK_FALSE(read->row);
  CHECK(read->beside == "b.xplane.pb");
  CHECK_FALSE(decode_diagnosed_trace(encode({})));
}

TEST_CASE("an answer that is cut off or goes on is none") {
  const std::string text = encode(diagnosed());
  for (std::size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(decode_diagnosed_trace(std::string_view(text).substr(0, length)));
  }
  CHECK_FALSE(decode_diagnosed_trace(text + "x"));
  CHECK_FALSE(decode_diagnosed_trace(text + "\n"));
}

TEST_CASE("what is out of range, or says two things, is no answer") {
  const std::string row = render_row(*diagnosed().row);
  const std::string head = {0, 0, 0};
  REQUIRE(decode_diagnosed_trace(head + part("") + part("") + part(row)));
  struct Case {
    const char* what;
    std::string text;
  };
  for (const Case& one : {Case{"exit status", std::string{4, 0, 0} + part("") + part("") + part(row)},
                          {"status", std::string{0, 4, 0} + part("") + part("") + part(row)},
                          {"whether a budget is open", std::string{0, 0, 2} + part("") + part("") + part(row)},
                          {"another verdict", std::string{0, 1, 0} + part("") + part("") + part(row)},
                          {"a failure with a verdict", std::string{2, 0, 0} + part("") + part("") + part(row)},
                          {"two rows", head + part("") + part("") + part(row + row)},
                          {"an empty line", head + part("") + part("") + part("\n" + row)},
                          {"half a line", head + part("") + part("") + part(row.substr(0, row.size() - 1))},
                          {"no row", head + part("") + part("") + part("{}\n")},
                          {"a budget without an end", head + part("budget") + part("") + part(row)}}) {
    CAPTURE(one.what);
    CHECK_FALSE(decode_diagnosed_trace(one.text));
  }
}

TEST_CASE("a trace belongs to one of its own folder alone") {
  CHECK(may_be_beside("run/a.xplane.pb", "run/b.xplane.pb"));
  CHECK(may_be_beside("a.xplane.pb", "b.jax.xplane.pb"));
  for (const char* other : {"run/a.xplane.pb", "b.xplane.pb", "other/b.xplane.pb", "/run/b.xplane.pb",
                            "run/../b.xplane.pb", "run/in/b.xplane.pb", "run/.ssh", "run/", ""}) {
    CAPTURE(other);
    CHECK_FALSE(may_be_beside("run/a.xplane.pb", other));
  }
}

}  // namespace
}  // namespace doctor::trace_worker_test
