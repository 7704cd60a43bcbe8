# `cmake --install` where the program was built but not its manual and completions: all is there afterwards, and works.

set(prefix ${BUILD}/install-test)
file(REMOVE_RECURSE ${prefix} ${BUILD}/share)

execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

foreach(file share/man/man1/tfdata-doctor.1 share/bash-completion/completions/tfdata-doctor
             share/zsh/site-functions/_tfdata-doctor share/fish/vendor_completions.d/tfdata-doctor.fish
             share/tfdata-doctor/schemas/report-2.json share/doc/tfdata-doctor/THIRD_PARTY_NOTICES.md)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

execute_process(
  COMMAND ${prefix}/bin/tfdata-doctor --version
  OUTPUT_VARIABLE version
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT version STREQUAL "tfdata-doctor ${VERSION}")
  message(FATAL_ERROR "the installed program says that it is '${version}', not of version ${VERSION}")
endif()
file(REMOVE_RECURSE ${prefix})
