# Writes the rule catalogue from the files of rules/, so that adding a rule means adding two files and no list.
#
# rules/<rule-id>.cpp defines `doctor::Rule doctor::rules::<rule_id>::rule()` (dashes become underscores) and
# rules/<rule-id>.md is its page. One without the other stops the configuration.

# Sources and pages must come in pairs, and an id must be a C++ name once its dashes are underscores.
function(doctor_check_rule_pairs rules_dir ids pages)
  foreach(id IN LISTS ids)
    if(NOT id MATCHES "^[a-z][a-z0-9]*(-[a-z0-9]+)*$")
      message(FATAL_ERROR "rules/${id}.cpp: a rule id is lower-case words joined by dashes")
    endif()
    if(NOT id IN_LIST pages)
      message(FATAL_ERROR "rules/${id}.cpp has no page: write rules/${id}.md (rules/README.md says what is in it)")
    endif()
  endforeach()
  foreach(page IN LISTS pages)
    if(NOT page IN_LIST ids)
      message(FATAL_ERROR "rules/${page}.md is the page of no rule: rules/${page}.cpp is missing")
    endif()
  endforeach()
endfunction()

# The page as a literal of C++ in the variable `result`. Configuration runs again when the file changes.
function(doctor_page_literal page_file result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_file})
  file(READ ${page_file} page)
  string(LENGTH "${page}" length)
  if(length GREATER 65000)
    message(FATAL_ERROR "${page_file} has ${length} bytes: compilers need not take string literals above 64 KiB")
  endif()
  string(FIND "${page}" ")rule_page\"" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${page_file} contains )rule_page\", which would end the literal that it is embedded in")
  endif()
  set(${result} "R\"rule_page(${page})rule_page\"" PARENT_SCOPE)
endfunction()

# Written only when the text changed: a configuration alone must not recompile anything.
function(doctor_write_if_different output text)
  file(WRITE ${output}.new "${text}")
  file(COPY_FILE ${output}.new ${output} ONLY_IF_DIFFERENT)
  file(REMOVE ${output}.new)
endfunction()

# A source that defines `name`, the text of a page that belongs to no rule.
function(doctor_generate_page page_file name output)
  doctor_page_literal(${page_file} literal)
  doctor_write_if_different(${output}
"// Written by rules/catalog.cmake from ${page_file}; changes here are lost.
#include <string_view>

namespace doctor {

extern const std::string_view ${name};
const std::string_view ${name} = ${literal};

}  // namespace doctor
")
endfunction()

# A source with the schemas of docs/schemas, as report/report.h declares them.
function(doctor_generate_schemas schemas_dir output)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${schemas_dir} ${schemas_dir}/*.json)
  set(entries "")
  foreach(file IN LISTS files)
    if(NOT file MATCHES "^([a-z]+)-([0-9]+)\\.json$")
      message(FATAL_ERROR "${schemas_dir}/${file}: the name of a schema is DOCUMENT-VERSION.json")
    endif()
    set(document ${CMAKE_MATCH_1})
    doctor_page_literal(${schemas_dir}/${file} literal)
    string(APPEND entries "      {\"${document}\", ${literal}},\n")
  endforeach()

  doctor_write_if_different(${output}
"// Written by rules/catalog.cmake from the files of docs/schemas; changes here are lost.
#include \"report/report.h\"

namespace doctor {

std::span<const DocumentSchema> document_schemas() {
  static const DocumentSchema kSchemas[] = {
${entries}  };
  return kSchemas;
}

}  // namespace doctor
")
endfunction()

# text/document_keys.h: a constant for each member that a schema of docs/schemas names, so that a key that no schema has
# does not compile. Definitions of schemas have one, too.
function(doctor_generate_keys schemas_dir output)
  file(GLOB files CONFIGURE_DEPENDS ${schemas_dir}/*.json)
  set(keys "")
  foreach(file IN LISTS files)
    file(READ ${file} schema)
    string(REGEX MATCHALL "\"[a-z][a-z0-9_]*\": {" members "${schema}")
    list(APPEND keys ${members})
  endforeach()
  list(TRANSFORM keys REPLACE "^\"([a-z0-9_]+)\".*$" "\\1")
  list(SORT keys)
  list(REMOVE_DUPLICATES keys)
  list(REMOVE_ITEM keys properties)
  set(constants "")
  foreach(key IN LISTS keys)
    string(REGEX REPLACE "^(default)$" "\\1_" name ${key}) # a word of C++
    string(APPEND constants "inline constexpr char ${name}[] = \"${key}\";\n")
  endforeach()
  doctor_write_if_different(${output}
"// Written by rules/catalog.cmake from the files of docs/schemas; changes here are lost.
#pragma once

// The keys of JSON documents.
namespace doctor::key {

${constants}
}  // namespace doctor::key
")
endfunction()

function(doctor_generate_catalog rules_dir output)
  file(GLOB ids CONFIGURE_DEPENDS RELATIVE ${rules_dir} ${rules_dir}/*.cpp)
  list(TRANSFORM ids REPLACE "\\.cpp$" "")
  file(GLOB pages CONFIGURE_DEPENDS RELATIVE ${rules_dir} ${rules_dir}/*.md)
  list(REMOVE_ITEM pages README.md)
  list(TRANSFORM pages REPLACE "\\.md$" "")
  doctor_check_rule_pairs(${rules_dir} "${ids}" "${pages}")

  set(declarations "")
  set(entries "")
  foreach(id IN LISTS ids)
    doctor_page_literal(${rules_dir}/${id}.md literal)
    string(REPLACE "-" "_" name ${id})
    string(APPEND declarations "namespace ${name} {\nRule rule();\n}\n")
    string(APPEND entries "      {rules::${name}::rule(), ${literal}},\n")
  endforeach()

  doctor_write_if_different(${output}
"// Written by rules/catalog.cmake from the files of rules/; changes here are lost.
#include \"diagnose/catalog.h\"

namespace doctor {
namespace rules {
${declarations}}  // namespace rules

std::vector<CatalogEntry> rule_catalog() {
  return {
${entries}  };
}

}  // namespace doctor
")
endfunction()
