# `cpack -G DEB` (scripts/deb): the Debian package of what `cmake --install` installs.

set(DOCTOR_MAINTAINER "the authors of tfdata-doctor <tfdata-doctor@maintainers.invalid>"
    CACHE STRING "Who makes the Debian package: name <address>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tfdata-doctor)
set(CPACK_PACKAGE_CONTACT ${DOCTOR_MAINTAINER})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
if(DEFINED ENV{DEB_HOST_ARCH}) # what dpkg-architecture calls the machine that it is for
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE $ENV{DEB_HOST_ARCH})
endif()
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "finds out what holds a tf.data input pipeline back
Reads TensorFlow profiler traces and says whether a job waits for its tf.data
pipeline, which transformation is to blame, why, and what to change. It shows
the evidence, predicts what changes would gain, compares recordings, and
writes documents for CI, for dashboards and for other programs.")

# What Debian's policy asks for besides: see there.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
set(CPACK_DOCTOR_SOURCE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
set(CPACK_DOCTOR_DATE ${DOCTOR_DATE})
include(CPack)
