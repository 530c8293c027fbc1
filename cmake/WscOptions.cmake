# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiler flags, launcher, linker and the packages wsc stands on.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2" CACHE STRING "" FORCE)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

option(WSC_ASAN "Build with address and undefined-behaviour sanitizers" OFF)
option(WSC_FUZZ "Build the fuzzers of test/fuzz, instrumented and with both sanitizers; needs clang" OFF)

find_program(WSC_CCACHE ccache)
if(WSC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WSC_CCACHE})
endif()
find_program(WSC_LLD NAMES ld.lld-22 ld.lld)
if(WSC_LLD)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(--ld-path=${WSC_LLD})
  endif()
endif()

# -ffp-contract=off: an expression a*b+c must never become a fused operation behind our back (I5).
add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffp-contract=off)
if(WSC_FUZZ)
  set(WSC_ASAN ON)
  add_compile_options(-fsanitize=fuzzer-no-link
    -fsanitize-coverage-ignorelist=${CMAKE_SOURCE_DIR}/test/fuzz/uncounted.txt)
endif()
if(WSC_ASAN)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

if(WSC_FUZZ)
  add_compile_options(-fno-sanitize=vptr -fno-sanitize-recover=undefined)
endif()

include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})

if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3) # the system's, with its NumPy, before others in PATH
endif()

find_package(absl REQUIRED)
find_package(TBB REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(mimalloc REQUIRED)
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "wsc needs MLIR 22, found ${LLVM_VERSION_MAJOR}; run tools/setup")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
