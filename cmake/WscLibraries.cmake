# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# wsc_runtime_objects(NAME SOURCES… [DEPS…]): one folder of the runtime, an object library that ends in
# libwsc-runtime.so.
function(wsc_runtime_objects NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${NAME} OBJECT ${ARG_SOURCES})
  target_link_libraries(${NAME} PUBLIC absl::status absl::statusor absl::strings ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY WSC_RUNTIME_OBJECTS ${NAME})
endfunction()

# wsc_mlir_library(NAME SOURCES… [LINK…]): a static library of the compiler half; MLIR's headers come precompiled.
function(wsc_mlir_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${NAME} STATIC ${ARG_SOURCES})
  target_include_directories(${NAME} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_link_libraries(${NAME} PUBLIC ${ARG_LINK})
  target_compile_options(${NAME} PRIVATE -fno-rtti)
  if(ARG_DEPENDS)
    add_dependencies(${NAME} ${ARG_DEPENDS})
  endif()
  target_precompile_headers(${NAME} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/MlirPch.h)
endfunction()

# wsc_tool(NAME SOURCES… [LINK…]): a command in build/bin.
function(wsc_tool NAME)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_LINK})
  if(ARG_MLIR)
    target_include_directories(${NAME} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_compile_options(${NAME} PRIVATE -fno-rtti)
    target_link_libraries(${NAME} PRIVATE MLIR LLVM)
  endif()
endfunction()

# wsc_unit_test(NAME SOURCES… [LINK…]): a GoogleTest program, run as one ctest case per TEST.
function(wsc_unit_test NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  add_test(NAME ${NAME} COMMAND ${NAME})
endfunction()
