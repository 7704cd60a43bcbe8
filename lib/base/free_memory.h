#pragma once

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace doctor {

/// Returns freed memory from the allocator to the system. Use it after freeing many small pieces that lie between
/// others, before asking for larger ones.
inline void give_back_free_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace doctor
