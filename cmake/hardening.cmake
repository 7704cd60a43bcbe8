# Included by the top CMakeLists.txt: what makes a fault in the program that reads foreign files end it, rather than let
# the file take it over. tests/hardening_test.cpp looks for it in the binary. Sanitizers have checks of their own.

include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)

set(doctor_is_instrumented OFF)
if("${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize|--coverage")
  set(doctor_is_instrumented ON)
endif()

set(hardening_is_useful ON)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR CMAKE_BUILD_TYPE STREQUAL "" OR doctor_is_instrumented)
  set(hardening_is_useful OFF) # _FORTIFY_SOURCE needs an optimised build
endif()
option(DOCTOR_HARDENING "Harden the program (optimised builds without sanitizers)" ${hardening_is_useful})
# What a flag costs is measured without it: scripts/cost-table.
set(DOCTOR_HARDENING_WITHOUT "" CACHE STRING "Flags of the compiler that hardening leaves out")

set(hardening_compile_options)
set(hardening_link_options)
if(DOCTOR_HARDENING)
  foreach(flag -fPIE -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "DOCTOR_COMPILES${flag}" known)
    check_cxx_compiler_flag("-Werror ${flag}" ${known}) # the last two are of x86 and of arm64
    if(${known})
      list(APPEND hardening_compile_options ${flag})
    endif()
  endforeach()
  list(APPEND hardening_compile_options -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS)
  list(REMOVE_ITEM hardening_compile_options ${DOCTOR_HARDENING_WITHOUT})
  foreach(flag -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    string(MAKE_C_IDENTIFIER "DOCTOR_LINKS${flag}" known)
    check_linker_flag(CXX ${flag} ${known})
    if(${known})
      list(APPEND hardening_link_options ${flag})
    endif()
  endforeach()
endif()

# For a library or a program of ours; not for tests, which are not optimised.
function(doctor_harden target)
  if(NOT DOCTOR_HARDENING)
    return()
  endif()
  # Some distributions define the first already, and another value would be a warning.
  target_compile_options(${target} PRIVATE -U_FORTIFY_SOURCE ${hardening_compile_options})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE ${hardening_link_options})
  endif()
endfunction()
