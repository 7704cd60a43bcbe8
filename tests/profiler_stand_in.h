#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "capture/profile_messages.h"
#include "lib/capture/profiler_service.pb.h"

namespace doctor {

/// What a stand-in does once it has read a request.
struct StandInAnswer {
  enum class Then { end, break_off, say_nothing, hang };

  std::string status = "200";  ///< of HTTP
  std::string content_type = "application/grpc";
  std::string body;
  std::string on_disk;  ///< written where the request says, as servers before TensorFlow 2.21 do; empty: nothing
  std::vector<std::pair<std::string, std::string>> trailers = {{"grpc-status", "0"}};
  Then then =
      Then::end;  ///< break_off: no trailers; say_nothing: close the connection; hang: wait for the client to go

  /// The answer of a profiler that made a trace.
  static StandInAnswer with_trace(std::string xspace) {
    profiler_service::ProfileResponse response;
    response.set_xspace(std::move(xspace));
    return with_message(response);
  }
  static StandInAnswer with_message(const profiler_service::ProfileResponse& response) {
    StandInAnswer answer;
    answer.body = in_grpc_frame(response.SerializeAsString());
    return answer;
  }
  /// gRPC's answer without a message.
  static StandInAnswer with_failure(int status, std::string message) {
    StandInAnswer answer;
    answer.trailers = {{"grpc-status", std::to_string(status)}, {"grpc-message", std::move(message)}};
    return answer;
  }
  static StandInAnswer that(Then then) {
    StandInAnswer answer;
    answer.then = then;
    return answer;
  }
};

/// A profiler server on a port of this machine: as much of HTTP/2 (RFC 9113) as one request at a time needs. Each
/// request gets the next answer, and those after the last get that one.
class ProfilerStandIn {
 public:
  explicit ProfilerStandIn(std::vector<StandInAnswer> answers) : answers_(std::move(answers)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 8) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ProfilerStandIn(const ProfilerStandIn&) = delete;
  ProfilerStandIn& operator=(const ProfilerStandIn&) = delete;
  ~ProfilerStandIn() {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
      ::shutdown(listener_, SHUT_RDWR);
      if (connection_ >= 0) ::shutdown(connection_, SHUT_RDWR);
    }
    thread_.join();
    ::close(listener_);
  }

  /// "127.0.0.1:40123".
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// The name of the file that a trace from here gets.
  std::string file_name() const { return "127.0.0.1_" + std::to_string(port_) + ".xplane.pb"; }

  struct Request {
    std::string headers;  ///< as HPACK has them: literals can be found in it
    std::string body;
  };
  std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  static constexpr std::size_t kFrameHead = 9;
  static constexpr std::size_t kPreface = 24;
  enum FrameType : std::uint8_t { kData = 0, kHeaders = 1, kSettings = 4 };
  enum Flag : std::uint8_t { kAck = 1, kEndStream = 1, kEndHeaders = 4 };

  struct Frame {
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
    std::uint32_t stream = 0;
    std::string payload;
  };

  void serve() {
    for (;;) {
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      {
        const std::lock_guard lock(mutex_);
        connection_ = connection;
        if (is_stopping_ || connection < 0) break;
      }
      talk(connection);
      const std::lock_guard lock(mutex_);
      connection_ = -1;
      ::close(connection);
    }
    if (connection_ >= 0) ::close(connection_);
  }

  void talk(int connection) {
    if (read_bytes(connection, kPreface).size() < kPreface) return;
    send_frame(connection, kSettings, 0, 0, "");
    Request request;
    for (Frame frame; read_frame(connection, frame);) {
      if (frame.type == kSettings && (frame.flags & kAck) == 0) send_frame(connection, kSettings, kAck, 0, "");
      if (frame.type == kHeaders) request.headers += frame.payload;
      if (frame.type == kData) request.body += frame.payload;
      const bool is_request = frame.type == kHeaders || frame.type == kData;
      if (!is_request || (frame.flags & kEndStream) == 0) continue;
      const StandInAnswer answer = take_request(std::exchange(request, {}));
      if (answer.then == StandInAnswer::Then::hang) continue;  // until the client goes
      if (answer.then == StandInAnswer::Then::say_nothing) return;
      send_answer(connection, frame.stream, answer);
      if (answer.then == StandInAnswer::Then::break_off) return;
    }
  }

  StandInAnswer take_request(Request request) {
    const std::lock_guard lock(mutex_);
    const StandInAnswer& answer = answers_[std::min(requests_.size(), answers_.size() - 1)];
    if (!answer.on_disk.empty()) write_trace(request.body, answer.on_disk);
    requests_.push_back(std::move(request));
    return answer;
  }

  static void write_trace(const std::string& body, const std::string& trace) {
    profiler_service::ProfileRequest request;
    request.ParseFromString(body.substr(kGrpcPrefixSize));
    const std::filesystem::path folder = std::filesystem::path(request.repository_root()) / request.session_id();
    std::filesystem::create_directories(folder);
    std::ofstream(folder / (request.host_name() + ".xplane.pb"), std::ios::binary) << trace;
  }

  static void send_answer(int connection, std::uint32_t stream, const StandInAnswer& answer) {
    constexpr std::size_t kMostPayload = 16'384;
    send_frame(connection, kHeaders, kEndHeaders, stream,
               literal(":status", answer.status) + literal("content-type", answer.content_type));
    for (std::size_t begin = 0; begin < answer.body.size(); begin += kMostPayload) {
      send_frame(connection, kData, 0, stream, answer.body.substr(begin, kMostPayload));
    }
    if (answer.then == StandInAnswer::Then::break_off) return;
    std::string trailers;
    for (const auto& [name, value] : answer.trailers) trailers += literal(name, value);
    send_frame(connection, kHeaders, kEndHeaders | kEndStream, stream, trailers);
  }

  /// A header that no table holds (RFC 7541, 6.2.2), of less than 127 bytes.
  static std::string literal(const std::string& name, const std::string& value) {
    return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
  }

  static void send_frame(int connection, unsigned type, unsigned flags, std::uint32_t stream,
                         std::string_view payload) {
    std::string frame;
    for (const unsigned shift : {16U, 8U, 0U}) frame += static_cast<char>(payload.size() >> shift & 0xff);
    frame += static_cast<char>(type);
    frame += static_cast<char>(flags);
    for (const unsigned shift : {24U, 16U, 8U, 0U}) frame += static_cast<char>(stream >> shift & 0xff);
    frame += payload;
    for (std::string_view left = frame; !left.empty();) {
      const ssize_t sent = ::send(connection, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the client went
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  static bool read_frame(int connection, Frame& frame) {
    const std::string head = read_bytes(connection, kFrameHead);
    if (head.size() < kFrameHead) return false;
    const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(head[index]); };
    const std::size_t length = std::size_t{byte(0)} << 16 | std::size_t{byte(1)} << 8 | byte(2);
    frame.type = byte(3);
    frame.flags = byte(4);
    frame.stream =
        (std::uint32_t{byte(5)} & 0x7f) << 24 | std::uint32_t{byte(6)} << 16 | std::uint32_t{byte(7)} << 8 | byte(8);
    frame.payload = read_bytes(connection, length);
    return frame.payload.size() == length;
  }

  /// Fewer where the client went.
  static std::string read_bytes(int connection, std::size_t count) {
    std::string bytes(count, '\0');
    std::size_t done = 0;
    while (done < count) {
      const ssize_t got = ::recv(connection, bytes.data() + done, count - done, 0);
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }

  const std::vector<StandInAnswer> answers_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  int connection_ = -1;
  bool is_stopping_ = false;
  std::vector<Request> requests_;
  std::thread thread_;
};

}  // namespace doctor
