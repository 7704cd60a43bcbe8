#pragma once

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace doctor {

/// Gives the system what the allocator keeps of memory that was freed. Worth it where much was freed in small pieces
/// that lie between others, and larger ones are asked for next.
inline void give_back_free_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace doctor
