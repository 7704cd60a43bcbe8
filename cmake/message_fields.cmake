# Writes the field numbers of a Protocol Buffers schema as a header, so that they stand in the schema alone: field `name` of
# message XPlane is doctor::message_fields::XPlane::name. Knows what our schemas use: messages, oneofs, maps, no nesting.
function(doctor_generate_message_fields schema output)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schema})
  file(STRINGS ${schema} lines)
  set(messages "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^message ([A-Za-z]+) {")
      set(message ${CMAKE_MATCH_1})
      string(APPEND messages "\nnamespace ${message} {\n")
    elseif(line MATCHES "^ +[A-Za-z].* ([a-z0-9_]+) = ([0-9]+)\;")
      string(APPEND messages "inline constexpr std::uint32_t ${CMAKE_MATCH_1} = ${CMAKE_MATCH_2};\n")
    elseif(line MATCHES "^}")
      string(APPEND messages "}  // namespace ${message}\n")
    endif()
  endforeach()
  doctor_write_if_different(${output}
"// Written by cmake/message_fields.cmake from ${schema}; changes here are lost.
#pragma once

#include <cstdint>

namespace doctor::message_fields {
${messages}
}  // namespace doctor::message_fields
")
endfunction()
