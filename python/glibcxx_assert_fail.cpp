// What a failed check of a container calls (_GLIBCXX_ASSERTIONS), for the wheel alone: libstdc++ has it from
// GLIBCXX_3.4.30 on, and manylinux_2_34 ends before. Linking the whole standard library in instead would give the
// program a second one beside that of the libraries in the wheel.

#include <cstdio>
#include <cstdlib>

#if defined(_GLIBCXX_ASSERTIONS) && defined(__GLIBCXX__)
namespace std {  // NOLINT(cert-dcl58-cpp): the name is libstdc++'s own, which declares it

void __glibcxx_assert_fail(const char* file, int line, const char* function, const char* condition) noexcept {
  if (file != nullptr && function != nullptr && condition != nullptr) {
    static_cast<void>(std::fprintf(stderr, "%s:%d: %s: Assertion '%s' failed.\n", file, line, function, condition));
  }
  std::abort();
}

}  // namespace std
#endif
