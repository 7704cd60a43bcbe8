# Included by the top CMakeLists.txt: unit tests and fuzz targets.

file(GLOB test_sources CONFIGURE_DEPENDS tests/*_test.cpp tests/rules/*_test.cpp)
file(GLOB golden_sources CONFIGURE_DEPENDS tests/golden*_test.cpp)
list(REMOVE_ITEM test_sources ${golden_sources})
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz_*.cpp)
file(GLOB fuzz_corpora CONFIGURE_DEPENDS LIST_DIRECTORIES true testdata/fuzz/*)

# A program of test files, each of which is one ctest entry: <file> of tests/<file>_test.cpp. They are chosen by file
# name: names of test cases may hold characters that CMake lists do not survive. doctest exits with 0 where nothing
# matched, so "0 test cases" is turned into a failure.
function(doctor_test_program target)
  add_executable(${target} tests/main.cpp tests/built_paths.cpp ${ARGN})
  doctor_warnings(${target})
  # Tests call the optimised library; optimising the tests themselves takes half of the time of building them.
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0;-g1>)
  target_link_libraries(${target} PRIVATE doctor_core $<TARGET_NAME_IF_EXISTS:doctor_commands>
                                          $<TARGET_NAME_IF_EXISTS:doctor_rules>
                                          xspace_proto doctest::doctest)
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH file ${CMAKE_CURRENT_SOURCE_DIR}/tests ${source})
    string(REPLACE "_test.cpp" "" name ${file})
    add_test(NAME ${name} COMMAND ${target} --source-file=*/tests/${file})
    set_tests_properties(${name} PROPERTIES FAIL_REGULAR_EXPRESSION "test cases: +0 ")
  endforeach()
endfunction()

if(NOT DOCTOR_FUZZ)
  find_package(doctest REQUIRED)
  # What intrusion_test.cpp and lying_worker_test.cpp load into the program.
  foreach(name intruder lying_worker)
    add_library(${name} MODULE tests/${name}.cpp)
    doctor_warnings(${name})
  endforeach()
  set_property(SOURCE tests/built_paths.cpp PROPERTY COMPILE_DEFINITIONS
    DOCTOR_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}"
    DOCTOR_INTRUDER="$<TARGET_FILE:intruder>"
    DOCTOR_LYING_WORKER="$<TARGET_FILE:lying_worker>")
  if(TARGET tfdata-doctor)
    set_property(SOURCE tests/built_paths.cpp APPEND PROPERTY COMPILE_DEFINITIONS
      DOCTOR_TOOL="$<TARGET_FILE:tfdata-doctor>")
  endif()
  doctor_test_program(unit_tests ${test_sources})
  # The tests of expected files are a program of their own, so that scripts/accept-golden builds no other tests.
  doctor_test_program(golden_tests ${golden_sources})
  # What scripts/check-snippets asks how advice spells code for older versions of TensorFlow.
  add_executable(spell_snippets tests/spell_snippets.cpp)
  doctor_warnings(spell_snippets)
  target_link_libraries(spell_snippets PRIVATE doctor_core)
  # 24 at once take 63 s where 3 times 8 take 113, and 1.4 GB of memory.
  doctor_unity(unit_tests tests *_test.cpp 24)
  doctor_unity(unit_tests tests/rules *_test.cpp 24)
  add_dependencies(unit_tests intruder lying_worker)
  if(TARGET tfdata-doctor)
    target_compile_definitions(unit_tests PRIVATE $<$<BOOL:${DOCTOR_HARDENING}>:DOCTOR_IS_HARDENED>)
    add_dependencies(unit_tests tfdata-doctor)
  endif()
endif()

if(TARGET tfdata-doctor AND NOT DOCTOR_FUZZ)
  add_test(NAME install COMMAND ${CMAKE_COMMAND} -D BUILD=${CMAKE_BINARY_DIR} -D VERSION=${PROJECT_VERSION}
                                -P ${CMAKE_CURRENT_SOURCE_DIR}/tests/install_test.cmake)
  set_tests_properties(install PROPERTIES RUN_SERIAL TRUE) # it may build what others run
endif()

# docs/schemas beside every JSON document that the program writes about testdata.
find_package(Python3 3.9 COMPONENTS Interpreter)
if(TARGET tfdata-doctor AND NOT DOCTOR_FUZZ AND Python3_FOUND)
  add_test(NAME schemas COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/tests/readers/check_schemas.py
                                $<TARGET_FILE:tfdata-doctor>)
  # The picture of the README is what the program shows.
  add_test(NAME pictures COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/pictures --check
                                 $<TARGET_FILE:tfdata-doctor>)
  add_test(NAME annotated_traces
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/tests/readers/check_annotations.py
                   $<TARGET_FILE:tfdata-doctor>)
  # How many files an addition costs.
  add_test(NAME additions COMMAND ${Python3_EXECUTABLE} -B
                                  ${CMAKE_CURRENT_SOURCE_DIR}/tests/scripts/additions_test.py)
  set_tests_properties(additions PROPERTIES SKIP_RETURN_CODE 77)
  # Whether the presets of clang, which no test run builds, would be built.
  add_test(NAME clang COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/tests/scripts/clang_test.py
                              ${CMAKE_BINARY_DIR})
  # Eight minutes of CPU time: it begins first, or the others wait for it, and may take longer than a preset allows.
  set_tests_properties(clang PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1200 COST 1000)
  # First changes of reports beside what they brought.
  add_test(NAME advice_accuracy COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/advice-accuracy
                                        --binary $<TARGET_FILE:tfdata-doctor> ${CMAKE_CURRENT_SOURCE_DIR}/testdata/advice)
endif()

# The engines of docs/batch.md, where scripts/check-engines --prepare has installed them; else it is skipped. The presets
# leave it out, for it takes minutes: ctest --test-dir build/dev -L engines
if(TARGET tfdata-doctor AND NOT DOCTOR_FUZZ)
  add_test(NAME engines COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/check-engines --tool $<TARGET_FILE:tfdata-doctor>)
  set_tests_properties(engines PROPERTIES LABELS engines SKIP_RETURN_CODE 77 TIMEOUT 1200 RUN_SERIAL TRUE)
endif()

# Instructions of fixed inputs against bench/instructions.txt, whose figures are of the optimisation of preset dev.
if(TARGET tfdata-doctor AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo"
   AND CMAKE_CXX_FLAGS_RELWITHDEBINFO STREQUAL "-O2 -g1" AND CMAKE_CXX_FLAGS STREQUAL "")
  add_test(NAME instructions COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/count-instructions --tool
                                     $<TARGET_FILE:tfdata-doctor>)
  set_tests_properties(instructions PROPERTIES SKIP_RETURN_CODE 77)
  add_test(NAME memory COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/measure-memory --tool $<TARGET_FILE:tfdata-doctor>)
  set_tests_properties(memory PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()

# Every command of README.md and docs/install.md in a clean clone, with the builds of the program, the wheel and the
# Debian package: once a run, where nothing is special about the preset.
if(TARGET tfdata-doctor AND Python3_FOUND AND NOT DOCTOR_FUZZ AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo"
   AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_FLAGS STREQUAL "")
  add_test(NAME documented_commands COMMAND ${Python3_EXECUTABLE} -B
                                            ${CMAKE_CURRENT_SOURCE_DIR}/tests/commands/check_commands.py)
  set_tests_properties(documented_commands PROPERTIES LABELS commands SKIP_RETURN_CODE 77 TIMEOUT 1800 RUN_SERIAL TRUE)
endif()

# `capture` from TensorFlow itself: skipped where neither $DOCTOR_PYTHON nor python3 has it.
if(TARGET tfdata-doctor AND NOT DOCTOR_FUZZ)
  add_test(NAME capture_tensorflow COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/tests/scripts/capture_tensorflow_test
                                           $<TARGET_FILE:tfdata-doctor>)
  set_tests_properties(capture_tensorflow PROPERTIES LABELS python SKIP_RETURN_CODE 77)
endif()

# Pages in a real browser: skipped where there is no Chromium with its driver and Selenium.
if(TARGET tfdata-doctor AND NOT DOCTOR_FUZZ AND Python3_FOUND)
  # Selenium is Debian's, and so is its Python.
  add_test(NAME browser COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/tests/browser/check_pages.py
                                $<TARGET_FILE:tfdata-doctor>)
  set_tests_properties(browser PROPERTIES LABELS browser SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()

# DuckDB beside `query`: skipped where scripts/check-warehouse did not install it.
if(TARGET tfdata-doctor AND NOT DOCTOR_FUZZ)
  add_test(NAME warehouse COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/check-warehouse --prepared
                                  $<TARGET_FILE:tfdata-doctor>)
  set_tests_properties(warehouse PROPERTIES LABELS warehouse SKIP_RETURN_CODE 77)
endif()

# The Python package: on stored traces, with a stand-in for TensorFlow; and with label python what PyPI is needed for,
# where scripts/check-python has installed it, else skipped. python_wheel needs the wheel of scripts/wheel, too.
find_package(Python3 3.9 COMPONENTS Interpreter)
if(TARGET tfdata-doctor AND Python3_FOUND AND NOT DOCTOR_FUZZ)
  set(python_environment "TFDATA_DOCTOR=$<TARGET_FILE:tfdata-doctor>;PYTHONDONTWRITEBYTECODE=1")
  file(GLOB python_tests CONFIGURE_DEPENDS python/tests/test_*.py)
  foreach(file IN LISTS python_tests)
    string(REGEX REPLACE ".*/test_(.*)\\.py" "\\1" name "${file}")
    add_test(
      NAME python_${name}
      COMMAND ${Python3_EXECUTABLE} -m unittest tests.test_${name}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/python)
    set_tests_properties(python_${name} PROPERTIES ENVIRONMENT "${python_environment}")
  endforeach()
  add_test(NAME coverage_page COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/coverage --check
                                      $<TARGET_FILE:tfdata-doctor>)
  add_test(NAME warehouse_page COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/scripts/warehouse-guide --check
                                       $<TARGET_FILE:tfdata-doctor>)
  foreach(name style tensorflow wheel)
    add_test(NAME python_${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/scripts/check-python --prepared ${name}
                                         $<TARGET_FILE:tfdata-doctor>)
    set_tests_properties(python_${name} PROPERTIES LABELS python SKIP_RETURN_CODE 77 TIMEOUT 1200)
  endforeach()
endif()

# tests/fuzz_<format>.cpp defines LLVMFuzzerTestOneInput. With preset fuzz it is searched by libFuzzer; in every
# other build a small main replays the stored inputs, so that a bug once found stays found.
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" format ${name})
  add_executable(${name} ${source})
  doctor_warnings(${name})
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  target_link_libraries(${name} PRIVATE doctor_core $<TARGET_NAME_IF_EXISTS:doctor_commands>
                                        $<TARGET_NAME_IF_EXISTS:doctor_rules>)
  set(replay_options)
  if(DOCTOR_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(replay_options -runs=0)
  else()
    target_sources(${name} PRIVATE tests/replay_main.cpp)
  endif()
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/testdata/fuzz/${format})
  if(corpus IN_LIST fuzz_corpora)
    add_test(NAME ${name} COMMAND ${name} ${replay_options} ${corpus})
  endif()
endforeach()
