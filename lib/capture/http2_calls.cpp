#include "capture/http2_calls.h"

#ifdef DOCTOR_HAVE_CURL
#include <curl/curl.h>
#endif
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>

#include "base/result.h"

namespace doctor {

#ifdef DOCTOR_HAVE_CURL

namespace {

/// What this program calls of libcurl.
struct CurlLibrary {
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_multi_init) multi_init = nullptr;
  decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&curl_multi_perform) multi_perform = nullptr;
  decltype(&curl_multi_poll) multi_poll = nullptr;
  decltype(&curl_multi_info_read) multi_info_read = nullptr;
  decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

/// One interface under several names: Debian's is built with OpenSSL, and once more with GnuTLS.
constexpr std::array<const char*, 2> kFiles = {"libcurl.so.4", "libcurl-gnutls.so.4"};

void* open_library() {
  for (const char* const file : kFiles) {
    if (void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

/// Finds functions by name; is false once one of them is missing.
class Functions {
 public:
  explicit Functions(void* library) : library_(library) {}

  template <typename Function>
  Functions& find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    are_there_ = are_there_ && function != nullptr;
    return *this;
  }
  explicit operator bool() const { return are_there_; }

 private:
  void* library_;
  bool are_there_ = true;
};

Result<CurlLibrary> load() {
  const std::string next = "install it (Debian and Ubuntu: libcurl4)";
  void* const library = open_library();
  if (library == nullptr) return fail("libcurl is not installed, which speaks HTTP/2 to the profiler", {}, next);
  CurlLibrary curl;
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_version_info) version_info = nullptr;
  Functions functions(library);
  functions.find("curl_global_init", global_init)
      .find("curl_version_info", version_info)
      .find("curl_easy_init", curl.easy_init)
      .find("curl_easy_setopt", curl.easy_setopt)
      .find("curl_easy_getinfo", curl.easy_getinfo)
      .find("curl_easy_cleanup", curl.easy_cleanup)
      .find("curl_easy_strerror", curl.easy_strerror)
      .find("curl_multi_init", curl.multi_init)
      .find("curl_multi_add_handle", curl.multi_add_handle)
      .find("curl_multi_remove_handle", curl.multi_remove_handle)
      .find("curl_multi_perform", curl.multi_perform)
      .find("curl_multi_poll", curl.multi_poll)
      .find("curl_multi_info_read", curl.multi_info_read)
      .find("curl_multi_cleanup", curl.multi_cleanup)
      .find("curl_slist_append", curl.slist_append)
      .find("curl_slist_free_all", curl.slist_free_all);
  if (!functions || global_init(CURL_GLOBAL_NOTHING) != CURLE_OK)
    return fail("libcurl is too old", {}, "7.68 or newer is needed");
  if ((version_info(CURLVERSION_NOW)->features & CURL_VERSION_HTTP2) == 0) {
    return fail("libcurl was built without HTTP/2, which the profiler speaks", {}, next);
  }
  return curl;
}

/// The library of this machine, loaded at the first call. Not linked: it and what it needs (TLS, Kerberos, LDAP, ...)
/// would be loaded by every command, and a package of this program would depend on it. Errors: it is not installed,
/// older than 7.68 (2020), or has no HTTP/2.
const Result<CurlLibrary>& curl_library() {
  static const Result<CurlLibrary> kLibrary = load();
  return kLibrary;
}

constexpr int kPollMilliseconds = 200;
constexpr long kBufferBytes = 256L * 1024;  // fewer, larger writes

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string in_lower_case_of_header(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

/// A call while libcurl makes it. Its address is known to libcurl, so it stays where it is.
class RunningCall {
 public:
  RunningCall(const Http2Call& call, const CurlLibrary& curl) : call_(call), curl_(curl), handle_(curl.easy_init()) {
    url_ = "http://" + to_string(call.address) + std::string(call.path);
    for (const char* const header : {"content-type: application/grpc", "te: trailers"}) {
      headers_ = curl.slist_append(headers_, header);
    }
    set_options();
  }
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;
  ~RunningCall() {
    curl_.easy_cleanup(handle_);
    curl_.slist_free_all(headers_);
  }

  CURL* handle() const { return handle_; }
  bool is_running() const { return is_running_; }

  void end(CURLcode code) {
    is_running_ = false;
    curl_.easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &answer_.status);
    if (code == CURLE_OK) return;
    answer_.failure = failure_of(code);
    answer_.detail = error_.front() != '\0' ? error_.data() : curl_.easy_strerror(code);
  }

  void cancel() {
    is_running_ = false;
    answer_.failure = Http2Failure::cancelled;
  }

  Http2Answer take_answer() { return std::move(answer_); }

 private:
  void set_options() {
    const auto set = [this](CURLoption option, auto value) { curl_.easy_setopt(handle_, option, value); };
    set(CURLOPT_URL, url_.c_str());
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
    set(CURLOPT_PROXY, "");
    set(CURLOPT_NOSIGNAL, 1L);  // else looking a name up would take the program's signals
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, call_.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call_.body.size()));
    set(CURLOPT_HTTPHEADER, headers_);
    set(CURLOPT_USERAGENT, "tfdata-doctor/" DOCTOR_VERSION);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(call_.connect_limit.count()));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(call_.time_limit.count()));
    set(CURLOPT_BUFFERSIZE, kBufferBytes);
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_HEADERFUNCTION, &take_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &take_body);
    set(CURLOPT_WRITEDATA, this);
  }

  /// Called by libcurl for each line of headers and trailers.
  static std::size_t take_header(char* data, std::size_t size, std::size_t count, void* self) {
    const std::string_view line(data, size * count);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && colon > 0) {
      static_cast<RunningCall*>(self)->answer_.headers[in_lower_case_of_header(without_blanks(line.substr(0, colon)))] =
          without_blanks(line.substr(colon + 1));
    }
    return size * count;
  }

  static std::size_t take_body(char* data, std::size_t size, std::size_t count, void* self) {
    auto& running = *static_cast<RunningCall*>(self);
    return running.call_.take({data, size * count}) ? size * count : 0;
  }

  bool is_connected() const {
    curl_off_t microseconds = 0;
    curl_.easy_getinfo(handle_, CURLINFO_CONNECT_TIME_T, &microseconds);
    return microseconds > 0;
  }

  Http2Failure failure_of(CURLcode code) const {
    switch (code) {
      case CURLE_COULDNT_RESOLVE_HOST:
        return Http2Failure::unknown_host;
      case CURLE_COULDNT_CONNECT:
        return Http2Failure::not_connected;
      case CURLE_OPERATION_TIMEDOUT:
        return is_connected() ? Http2Failure::timed_out : Http2Failure::connection_timed_out;
      case CURLE_WRITE_ERROR:
        return Http2Failure::refused;
      default:
        return answer_.status == 0 ? Http2Failure::no_answer : Http2Failure::broken_off;
    }
  }

  const Http2Call& call_;
  const CurlLibrary& curl_;
  CURL* const handle_;
  std::string url_;
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_{};
  Http2Answer answer_;
  bool is_running_ = true;
};

}  // namespace

Result<std::vector<Http2Answer>> make_http2_calls(std::span<const Http2Call> calls,
                                                  const std::function<bool()>& is_cancelled) {
  const Result<CurlLibrary>& curl = curl_library();
  if (!curl) return Unexpected(curl.error());
  std::deque<RunningCall> running;
  CURLM* const all = curl->multi_init();
  for (const Http2Call& call : calls) {
    running.emplace_back(call, *curl);
    curl->multi_add_handle(all, running.back().handle());
  }
  for (int active = 1; active > 0 && !is_cancelled();) {
    if (curl->multi_perform(all, &active) != CURLM_OK) break;
    int waiting = 0;
    while (const CURLMsg* const message = curl->multi_info_read(all, &waiting)) {
      const auto ended = std::find_if(running.begin(), running.end(),
                                      [&](const RunningCall& one) { return one.handle() == message->easy_handle; });
      if (message->msg == CURLMSG_DONE && ended != running.end()) ended->end(message->data.result);
    }
    if (active > 0) curl->multi_poll(all, nullptr, 0, kPollMilliseconds, nullptr);
  }
  std::vector<Http2Answer> answers;
  for (RunningCall& one : running) {
    if (one.is_running()) one.cancel();
    curl->multi_remove_handle(all, one.handle());
    answers.push_back(one.take_answer());
  }
  curl->multi_cleanup(all);
  return answers;
}

#else

Result<std::vector<Http2Answer>> make_http2_calls(std::span<const Http2Call>, const std::function<bool()>&) {
  return fail("this program was built without libcurl, which speaks HTTP/2 to the profiler", {},
              "build it where the headers of libcurl are (Debian and Ubuntu: libcurl4-openssl-dev)");
}

#endif

}  // namespace doctor
