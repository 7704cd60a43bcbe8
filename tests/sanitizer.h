#pragma once

namespace doctor {

// A sanitizer's own memory, many times that of the program, counts as the program's: nothing fits under a limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHasSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kHasSanitizer = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kHasSanitizer = false;
#endif

}  // namespace doctor
