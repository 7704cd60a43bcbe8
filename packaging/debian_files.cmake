# Run by cpack on the folder that becomes the package: adds what Debian's policy asks for and `cmake --install` does not
# install, that is copyright and changelogs, and compresses what has to be compressed.

set(root ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
set(doc ${root}/doc/${CPACK_PACKAGE_NAME})

# Without name and time, so that the same files make the same package.
function(compress file)
  execute_process(COMMAND gzip --best --no-name --force ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

execute_process(
  COMMAND date --utc --rfc-email --date=${CPACK_DOCTOR_DATE}
  OUTPUT_VARIABLE date
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

file(MAKE_DIRECTORY ${doc})
file(COPY_FILE ${CPACK_DOCTOR_SOURCE_DIR}/CHANGELOG.md ${doc}/CHANGELOG.md)
file(
  WRITE ${doc}/changelog
  "tfdata-doctor (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * This version; CHANGELOG.md.gz says what is new in it.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(
  WRITE ${doc}/copyright
  "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tfdata-doctor

Files: *
Copyright: 2026 the authors of tfdata-doctor
License: Apache-2.0
 On Debian systems the text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")
compress(${doc}/changelog)
compress(${doc}/CHANGELOG.md)
# What is built for another machine may be without: see DOCTOR_NATIVE.
if(EXISTS ${root}/man/man1/tfdata-doctor.1)
  compress(${root}/man/man1/tfdata-doctor.1)
endif()
file(CHMOD_RECURSE ${doc} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
     DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
