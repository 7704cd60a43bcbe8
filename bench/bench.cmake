# Included by the top CMakeLists.txt under DOCTOR_BENCH: what scripts/bench runs. Each program is one .cpp file named
# like it; bench/README.md says what they measure.

# bench_program(NAME [LIBRARY...]): the program bench/NAME.cpp.
function(bench_program name)
  add_executable(${name} bench/${name}.cpp)
  doctor_warnings(${name})
  target_link_libraries(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endfunction()

# Inputs from the base traces.
bench_program(multiply_json)
bench_program(multiply_xspace protobuf::libprotobuf)
