# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Debian packages: `cpack --config build/CPackConfig.cmake` writes them to build/packages.
#   wsc-runtime   libraries for C and C++, wsc-run, wsc-info; no compiler
#   wsc-tools     the compiler's library and commands
#   wsc-dev       headers, CMake and pkg-config files, examples
#   python3-wsc   the Python package
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME wsc)
set(CPACK_PACKAGE_CONTACT "wsc developers <wsc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "wafer-scale neural graph compiler")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime tools development python)
if(NOT TARGET wsc-python)
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib ${LLVM_LIBRARY_DIR})

# wsc_package(COMPONENT NAME SUMMARY [DEPENDS …] [RECOMMENDS …] [SUGGESTS …])
function(wsc_package COMPONENT NAME SUMMARY)
  cmake_parse_arguments(ARG "" "DEPENDS;RECOMMENDS;SUGGESTS" "" ${ARGN})
  string(TOUPPER ${COMPONENT} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${NAME} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${SUMMARY}" PARENT_SCOPE)
  foreach(field DEPENDS RECOMMENDS SUGGESTS)
    set(CPACK_DEBIAN_${upper}_PACKAGE_${field} "${ARG_${field}}" PARENT_SCOPE)
  endforeach()
endfunction()
set(same "(= ${PROJECT_VERSION})")
math(EXPR next "${Python3_VERSION_MINOR} + 1")
set(python
  "python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}), python3 (<< ${Python3_VERSION_MAJOR}.${next})")
wsc_package(runtime wsc-runtime "wafer-scale neural graph compiler: emulator and libraries" RECOMMENDS "wsc-tools")
wsc_package(tools wsc-tools "wafer-scale neural graph compiler: compiler and tools" DEPENDS "wsc-runtime ${same}")
wsc_package(development wsc-dev "wafer-scale neural graph compiler: headers and CMake files"
  DEPENDS "wsc-runtime ${same}, libabsl-dev" RECOMMENDS "wsc-tools ${same}, libmlir-${LLVM_VERSION_MAJOR}-dev")
wsc_package(python python3-wsc "wafer-scale neural graph compiler: Python package"
  DEPENDS "wsc-runtime ${same}, ${python}, python3-numpy"
  RECOMMENDS "wsc-tools ${same}" SUGGESTS "python3-onnx, python3-tqdm, python3-torch")
include(CPack)
