# Included by the top CMakeLists.txt under DOCTOR_BENCH: what scripts/bench runs. Each program is one .cpp file named
# like it; bench/README.md says what they measure.

find_package(RapidJSON REQUIRED)

# What the programs share: the work that is timed, and their main functions.
add_library(bench_common STATIC bench/aggregate.cpp bench/program.cpp)
doctor_warnings(bench_common)
target_include_directories(bench_common PUBLIC bench lib)
target_link_libraries(bench_common PUBLIC fmt::fmt ZLIB::ZLIB)

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
target_include_directories(multiply_xspace PRIVATE ${CMAKE_BINARY_DIR}/message_fields)

# Ours. A reader that is not there yet has no row.
bench_program(aggregate_ours_json bench_common doctor_core)
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/bench/aggregate_ours_xspace.cpp)
  bench_program(aggregate_ours_xspace bench_common doctor_core)
endif()

# Baselines.
bench_program(aggregate_nlohmann bench_common nlohmann_json::nlohmann_json)
bench_program(aggregate_protobuf bench_common xspace_proto)
bench_program(aggregate_rapidjson bench_common)
target_include_directories(aggregate_rapidjson SYSTEM PRIVATE ${RapidJSON_INCLUDE_DIRS})
bench_program(aggregate_simdjson bench_common simdjson::simdjson)

# Floors: what reading costs at least.
bench_program(floor_json bench_common simdjson::simdjson)
bench_program(floor_xspace bench_common)
if(ISAL_LIBRARY)
  bench_program(floor_gzip bench_common simdjson::simdjson ${ISAL_LIBRARY})
endif()

# CPU, wall and memory of one command.
bench_program(measure_command)

# How often comparisons fire: scripts/gate-statistics.
bench_program(gate_statistics doctor_rules)
