# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sources made at build time: headers from FlatBuffers schemas, text files as C++ strings.
find_program(WSC_FLATC flatc REQUIRED)

# wsc_flatbuffers_header(TARGET SCHEMA.fbs): generates <binary folder>/SCHEMA_generated.h, included by its path in the
# tree.
function(wsc_flatbuffers_header TARGET SCHEMA)
  get_filename_component(stem ${SCHEMA} NAME_WE)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${stem}_generated.h)
  add_custom_command(OUTPUT ${header}
    COMMAND ${WSC_FLATC} --cpp --scoped-enums -o ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${SCHEMA}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${SCHEMA} VERBATIM)
  target_sources(${TARGET} PRIVATE ${header})
endfunction()

# wsc_embed_text(TARGET NAMESPACE FILE…): each FILE becomes `extern const std::string_view embedded_<name>` in
# NAMESPACE, in <binary folder>/Embedded.cpp.
function(wsc_embed_text TARGET NAMESPACE)
  set(body "// Generated from the files named below.\n#include <string_view>\nnamespace ${NAMESPACE} {\n")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} text)
    get_filename_component(symbol ${file} NAME)
    string(MAKE_C_IDENTIFIER ${symbol} symbol)
    string(APPEND body "extern const std::string_view embedded_${symbol};\n")
    string(APPEND body "const std::string_view embedded_${symbol} = R\"EMBEDDED(${text})EMBEDDED\";\n")
  endforeach()
  string(APPEND body "} // namespace ${NAMESPACE}\n")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/Embedded.cpp CONTENT "@body@" @ONLY)
  target_sources(${TARGET} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/Embedded.cpp)
endfunction()
