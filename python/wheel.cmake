# Included where scikit-build-core builds the Python package: where its files go in the wheel. The program is a script of
# the package, so an installation has it in its bin. The libraries that it needs and that a machine may lack are in
# libexec/tfdata-doctor beside that bin; the wheel itself has both at data/ and scripts/, which is where auditwheel
# looks for them. So no file of the wheel depends on the version of Python.

set(CMAKE_INSTALL_BINDIR ${SKBUILD_SCRIPTS_DIR})
set(CMAKE_INSTALL_DATADIR ${SKBUILD_DATA_DIR}/share)
set(CMAKE_INSTALL_MANDIR ${SKBUILD_DATA_DIR}/share/man)

set(libraries_dir libexec/tfdata-doctor)
set_target_properties(tfdata-doctor PROPERTIES INSTALL_RPATH
                                               "$ORIGIN/../${libraries_dir};$ORIGIN/../data/${libraries_dir}")
# DT_RPATH: it also holds for what the libraries need, and no LD_LIBRARY_PATH replaces them by others.
target_link_options(tfdata-doctor PRIVATE -Wl,--disable-new-dtags)

# The checks of containers (_GLIBCXX_ASSERTIONS) call what the libstdc++ of manylinux_2_34 does not have.
target_sources(tfdata-doctor PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/python/glibcxx_assert_fail.cpp)

# What every Linux with Python has (the manylinux policies list it) stays out.
install(
  CODE "
  file(
    GET_RUNTIME_DEPENDENCIES
    EXECUTABLES \"$<TARGET_FILE:tfdata-doctor>\"
    RESOLVED_DEPENDENCIES_VAR libraries
    PRE_EXCLUDE_REGEXES \"^lib(c|m|gcc_s|stdc\\\\+\\\\+)\\\\.so\" \"^ld-linux\")
  foreach(library IN LISTS libraries)
    # By the name that the program asks for: a wheel has no symbolic links.
    get_filename_component(name \"\${library}\" NAME)
    file(REAL_PATH \"\${library}\" file)
    file(MAKE_DIRECTORY \"${SKBUILD_DATA_DIR}/${libraries_dir}\")
    file(COPY_FILE \"\${file}\" \"${SKBUILD_DATA_DIR}/${libraries_dir}/\${name}\")
  endforeach()")
