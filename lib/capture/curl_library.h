#pragma once

#ifdef DOCTOR_HAVE_CURL

#include <curl/curl.h>

#include "base/result.h"

namespace doctor {

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

/// The library of this machine, loaded at the first call. Not linked: it and what it needs (TLS, Kerberos, LDAP, ...)
/// would be loaded by every command, and a package of this program would depend on it. Errors: it is not installed,
/// older than 7.68 (2020), or has no HTTP/2.
const Result<CurlLibrary>& curl_library();

}  // namespace doctor

#endif
