#include "capture/curl_library.h"

#ifdef DOCTOR_HAVE_CURL

#include <dlfcn.h>

#include <array>
#include <string>

namespace doctor {
namespace {

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

}  // namespace

const Result<CurlLibrary>& curl_library() {
  static const Result<CurlLibrary> kLibrary = load();
  return kLibrary;
}

}  // namespace doctor

#endif
