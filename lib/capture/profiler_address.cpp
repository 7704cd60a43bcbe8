#include "capture/profiler_address.h"

#include <algorithm>

#include "base/parse.h"
#include "base/try.h"

namespace doctor {
namespace {

constexpr std::string_view kScheme = "grpc://";

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_host_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_'; });
}

/// An IPv6 address without a zone: which interface it belongs to, another machine does not know.
bool is_ipv6(std::string_view text) {
  const auto is_part = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
  };
  return text.find(':') != std::string_view::npos && std::all_of(text.begin(), text.end(), is_part);
}

Result<ProfilerAddress> parse_address(std::string_view text) {
  const std::string where(text);
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
    return fail("has no port", where,
                "name it as HOST:PORT, the port that the job gave to tf.profiler.experimental.server.start()");
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  ProfilerAddress address;
  address.port = parse_whole<decltype(address.port)>(digits).value_or(0);
  if (address.port == 0) {
    return fail("'" + std::string(digits) + "' is not a port from 1 to 65535", where);
  }
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets) host = host.substr(1, host.size() - 2);
  if (has_brackets ? !is_ipv6(host) : !is_host_name(host)) {
    return fail("is not an address like worker0:6009 or [::1]:6009", where);
  }
  address.host = host;
  return address;
}

}  // namespace

Result<std::vector<ProfilerAddress>> parse_profiler_addresses(std::string_view text) {
  std::vector<ProfilerAddress> addresses;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    ASSIGN_OR_RETURN(ProfilerAddress address, parse_address(text.substr(begin, end - begin)));
    const auto is_same = [&](const ProfilerAddress& other) { return file_stem(other) == file_stem(address); };
    if (std::any_of(addresses.begin(), addresses.end(), is_same)) {
      return fail("is named twice", to_string(address), "a profiler makes one trace at a time");
    }
    addresses.push_back(std::move(address));
    begin = end + 1;
  }
  return addresses;
}

std::string to_string(const ProfilerAddress& address) {
  const bool is_ipv6_address = address.host.find(':') != std::string::npos;
  const std::string host = is_ipv6_address ? "[" + address.host + "]" : address.host;
  return host + ":" + std::to_string(address.port);
}

std::string file_stem(const ProfilerAddress& address) {
  std::string stem = address.host + "_" + std::to_string(address.port);
  std::replace(stem.begin(), stem.end(), ':', '_');
  return stem;
}

}  // namespace doctor
