// What `capture` says to a profiler and how it reads the answer, against libprotobuf; addresses; texts of gRPC.

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/profile_messages.h"
#include "capture/profiler_address.h"
#include "lib/capture/profiler_service.pb.h"

namespace doctor::profile_answer_test {
namespace {

class StoredBytes final : public ByteSink {
 public:
  Result<void> write(std::string_view part) override {
    if (is_full) return fail("no room", "disk");
    bytes += part;
    return {};
  }
  Result<void> finish() override { return {}; }

  std::string bytes;
  bool is_full = false;
};

constexpr std::uint64_t kMost = 1'000'000;

/// What came of an answer: the trace, or the first error.
struct Taken {
  std::string trace;
  std::string error;
  bool is_empty = false;
  bool is_too_large = false;
};

Taken take(std::string_view body, std::size_t piece, std::uint64_t most = kMost) {
  StoredBytes sink;
  ProfileAnswer answer(sink, most);
  Taken taken;
  for (std::size_t begin = 0; begin < body.size() && taken.error.empty(); begin += piece) {
    const Result<void> result = answer.take(body.substr(begin, piece));
    if (!result) taken.error = result.error().what;
  }
  if (taken.error.empty()) {
    const Result<void> whole = answer.finish();
    if (!whole) taken.error = whole.error().what;
  }
  taken.trace = sink.bytes;
  taken.is_empty = answer.is_empty();
  taken.is_too_large = answer.is_too_large();
  CHECK(answer.trace_bytes() == sink.bytes.size());
  return taken;
}

profiler_service::ProfileResponse response_with(const std::string& trace) {
  profiler_service::ProfileResponse response;
  profiler_service::ProfileToolData* const tool = response.add_tool_data();
  tool->set_name("overview_page.json");
  tool->set_data(std::string(300, 'x'));
  response.set_xspace(trace);
  return response;
}

/// The addresses in a text, or the error.
std::vector<std::string> names(std::string_view text) {
  const Result<std::vector<ProfilerAddress>> addresses = parse_profiler_addresses(text);
  if (!addresses) return {"error: " + addresses.error().what};
  std::vector<std::string> found;
  for (const ProfilerAddress& address : *addresses) found.push_back(to_string(address));
  return found;
}

}  // namespace

TEST_CASE("the request is what TensorFlow's schema says") {
  const std::string body =
      encode_profile_request({std::chrono::milliseconds(70'000), "/logs/plugins/profile", "run", "worker0_6009"});
  REQUIRE(body.size() > kGrpcPrefixSize);
  const GrpcPrefix prefix = read_grpc_prefix(body);
  CHECK_FALSE(prefix.is_compressed);
  CHECK(prefix.length == body.size() - kGrpcPrefixSize);
  profiler_service::ProfileRequest request;
  REQUIRE(request.ParseFromString(body.substr(kGrpcPrefixSize)));
  CHECK(request.duration_ms() == 70'000);
  CHECK(request.opts().duration_ms() == 70'000);
  CHECK(request.opts().version() == 1);
  CHECK(request.opts().host_tracer_level() == 2);
  CHECK(request.opts().device_tracer_level() == 1);
  CHECK(request.opts().python_tracer_level() == 0);
  CHECK(request.repository_root() == "/logs/plugins/profile");
  CHECK(request.session_id() == "run");
  CHECK(request.host_name() == "worker0_6009");
  CHECK(request.emit_xspace());
  CHECK(request.opts().start_timestamp_ns() == 0);
  CHECK(request.GetReflection()->GetUnknownFields(request).empty());
}

TEST_CASE("what is recorded, and when, is asked for as TensorFlow's schema says") {
  const TracerOptions tracers = {.host_level = 3, .device_level = 0, .python_level = 1};
  const std::string body = encode_profile_request({std::chrono::milliseconds(5), "", "", "", tracers, 1'700'000'000});
  profiler_service::ProfileRequest request;
  REQUIRE(request.ParseFromString(body.substr(kGrpcPrefixSize)));
  CHECK(request.opts().host_tracer_level() == 3);
  CHECK(request.opts().device_tracer_level() == 0);
  CHECK(request.opts().python_tracer_level() == 1);
  CHECK(request.opts().start_timestamp_ns() == 1'700'000'000);
}

TEST_CASE("an answer gives its trace, however it is cut into pieces") {
  const std::string trace = std::string(70'000, 't') + "end";
  const std::string body = in_grpc_frame(response_with(trace).SerializeAsString());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{4'096}, body.size()}) {
    CAPTURE(piece);
    const Taken taken = take(body, piece);
    CHECK(taken.error.empty());
    CHECK(taken.trace == trace);
    CHECK_FALSE(taken.is_empty);
  }
}

TEST_CASE("an answer without a trace, and one of a job that is idle") {
  const Taken none = take(in_grpc_frame(""), 1);
  CHECK(none.error.empty());
  CHECK(none.trace.empty());
  profiler_service::ProfileResponse idle = response_with("metadata");
  idle.set_empty_trace(true);
  CHECK(take(in_grpc_frame(idle.SerializeAsString()), 3).is_empty);
}

// protobuf would put them together, and a trace that came twice would be one with everything twice.
TEST_CASE("an answer with two traces is damaged") {
  const std::string message = response_with("one").SerializeAsString() + response_with("two").SerializeAsString();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, 2 * message.size()}) {
    const Taken taken = take(in_grpc_frame(message), piece);
    CHECK(taken.trace == "one");
    CHECK(taken.error == "the answer is not that of a profiler: its message is damaged");
  }
}

TEST_CASE("fields of all types are passed over") {
  const std::string message = std::string("\x09", 1) + "12345678" + "\x15" + "1234" + "\x18\x80\x01" +
                              response_with("trace").SerializeAsString();
  const Taken taken = take(in_grpc_frame(message), 1);
  CHECK(taken.error.empty());
  CHECK(taken.trace == "trace");
}

TEST_CASE("an answer that breaks off says so at every place") {
  const std::string body = in_grpc_frame(response_with("trace").SerializeAsString());
  CHECK(take("", 1).error == "the profiler answered nothing");
  for (std::size_t size = 1; size < body.size(); ++size) {
    CAPTURE(size);
    CHECK(take(std::string_view(body).substr(0, size), 4).error == "the answer broke off");
  }
}

TEST_CASE("damage is found") {
  const std::string damaged = "the answer is not that of a profiler: its message is damaged";
  const std::string whole = in_grpc_frame(response_with("trace").SerializeAsString());
  CHECK(take(whole + whole, 100).error == damaged);                        // a second message
  CHECK(take(in_grpc_frame("\x0b"), 1).error == damaged);                  // a group
  CHECK(take(in_grpc_frame(std::string("\0\0", 2)), 1).error == damaged);  // field 0
  CHECK(take(in_grpc_frame("\x42\x05trac"), 1).error == damaged);          // longer than the message
  CHECK(take(in_grpc_frame("\x42"), 1).error == damaged);                  // without a length
  CHECK(take(in_grpc_frame("\x09"
                           "1234"),
             1)
            .error == damaged);                                                      // half of a number
  CHECK(take(in_grpc_frame(std::string(12, '\xff')), 1).error == damaged);           // a tag without an end
  CHECK(take(in_grpc_frame("\x38" + std::string(12, '\xff')), 1).error == damaged);  // a number without an end
  std::string compressed = whole;
  compressed[0] = 1;
  CHECK(take(compressed, 1).error == "the answer is compressed, which was not asked for");
}

TEST_CASE("nothing of a trace that is too large is stored") {
  const std::string body = in_grpc_frame(response_with(std::string(2'000, 't')).SerializeAsString());
  CHECK(take(body, 100, body.size() - kGrpcPrefixSize).error.empty());
  const Taken taken = take(body, 100, body.size() - kGrpcPrefixSize - 1);
  CHECK(taken.is_too_large);
  CHECK(taken.error == "the trace has 2329 bytes; the limit is 2328 (--max-size)");
  CHECK(taken.trace.empty());
}

TEST_CASE("a sink that takes no more ends it with its own error") {
  StoredBytes sink;
  sink.is_full = true;
  ProfileAnswer answer(sink, kMost);
  const Result<void> taken = answer.take(in_grpc_frame(response_with("trace").SerializeAsString()));
  REQUIRE_FALSE(taken);
  CHECK(taken.error().where == "disk");
}

TEST_CASE("the message of a status is decoded") {
  CHECK(decode_grpc_message("Another profiling session active.") == "Another profiling session active.");
  CHECK(decode_grpc_message("100%25 of %E2%82%ac%0a") == "100% of \xe2\x82\xac\n");
  CHECK(decode_grpc_message("%") == "%");
  CHECK(decode_grpc_message("%4") == "%4");
  CHECK(decode_grpc_message("%zz%4g") == "%zz%4g");
  CHECK(grpc_status_name(13) == "INTERNAL");
  CHECK(grpc_status_name(17) == "status 17");
  CHECK(grpc_status_name(-1) == "status -1");
}

TEST_CASE("addresses") {
  using Names = std::vector<std::string>;
  CHECK(names("localhost:6009") == Names{"localhost:6009"});
  CHECK(names("grpc://worker-0.job_1.svc:1,10.0.0.1:65535") == Names{"worker-0.job_1.svc:1", "10.0.0.1:65535"});
  CHECK(names("[::1]:6009") == Names{"[::1]:6009"});
  CHECK(file_stem((*parse_profiler_addresses("[fe80::1]:6009"))[0]) == "fe80__1_6009");
  CHECK(names("localhost") == Names{"error: has no port"});
  CHECK(names("[::1]") == Names{"error: has no port"});
  CHECK(names("localhost:") == Names{"error: '' is not a port from 1 to 65535"});
  CHECK(names("localhost:0") == Names{"error: '0' is not a port from 1 to 65535"});
  CHECK(names("localhost:65536") == Names{"error: '65536' is not a port from 1 to 65535"});
  CHECK(names("localhost:6009/x") == Names{"error: '6009/x' is not a port from 1 to 65535"});
  const Names no_address = {"error: is not an address like worker0:6009 or [::1]:6009"};
  for (const std::string_view text :
       {":6009", "::1:6009", "user@host:6009", "a b:1", "[x]:1", "[]:1", "http://host:1"}) {
    CAPTURE(text);
    CHECK(names(text) == no_address);
  }
  CHECK(names("a:1,") == Names{"error: has no port"});
  CHECK(names("a:1,grpc://a:1") == Names{"error: is named twice"});
}

}  // namespace doctor::profile_answer_test
