# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` puts where: libraries, commands, headers, CMake and pkg-config files, in components that
# WscPackages.cmake makes packages of:
#   runtime      libwsc-runtime, libwsc (C API); wsc-run, wsc-info: no compiler, no MLIR
#   tools        libwsc-compiler and the other commands
#   development  headers, find_package(wsc), pkg-config
#   python       the package wsc
#   library      the two libraries that a wheel of it takes along
# Everything finds its libraries relative to itself, so that a prefix may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(WSC_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/wsc)
file(RELATIVE_PATH fromBin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})

# wsc_install_library(TARGET EXPORT-NAME SET COMPONENT): a shared library with version, exported as wsc::EXPORT-NAME.
function(wsc_install_library TARGET NAME SET COMPONENT)
  set_target_properties(${TARGET} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} EXPORT_NAME ${NAME})
  target_compile_features(${TARGET} INTERFACE cxx_std_20)
  target_include_directories(${TARGET} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/wsc>)
  install(TARGETS ${TARGET} EXPORT ${SET}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${COMPONENT} NAMELINK_COMPONENT development)
  set_target_properties(${TARGET} PROPERTIES INSTALL_RPATH "$ORIGIN;${ARGN}")
endfunction()
wsc_install_library(wsc-runtime runtime wscRuntimeTargets runtime)
wsc_install_library(wsc-c c wscRuntimeTargets runtime)
wsc_install_library(wsc-compiler compiler wscCompilerTargets tools ${LLVM_LIBRARY_DIR})
install(TARGETS wsc-runtime wsc-compiler LIBRARY DESTINATION wheel COMPONENT library NAMELINK_SKIP EXCLUDE_FROM_ALL)

# wsc_install_commands(COMPONENT LIBRARY-FOLDER COMMANDS…): those of them that this tree builds.
function(wsc_install_commands COMPONENT FOLDER)
  foreach(command ${ARGN})
    if(TARGET ${command})
      install(TARGETS ${command} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${COMPONENT})
      set_target_properties(${command} PROPERTIES INSTALL_RPATH "$ORIGIN/${fromBin};${FOLDER}")
    endif()
  endforeach()
endfunction()
wsc_install_commands(runtime "" wsc-run wsc-info)
wsc_install_commands(tools "${LLVM_LIBRARY_DIR}"
  wsc-compile wsc-test wsc-opt wsc-translate wsc-place wsc-bench wsc-lsp-server wsc-reduce)

# Headers keep their paths in the tree below include/wsc: "wsc/runtime/session/Session.h",
# "wsc/compiler/driver/Compiler.h";
# the C API is "wsc/wsc.h".
install(FILES runtime/capi/wsc.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wsc COMPONENT development)
foreach(folder runtime dialects passes compiler)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wsc COMPONENT development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN capi EXCLUDE)
endforeach()
foreach(folder dialects passes)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wsc/${folder} COMPONENT
    development
    FILES_MATCHING PATTERN "*.h.inc" PATTERN CMakeFiles EXCLUDE)
endforeach()

foreach(set wscRuntimeTargets wscCompilerTargets)
  install(EXPORT ${set} NAMESPACE wsc:: DESTINATION ${WSC_CMAKE_DIR} COMPONENT development)
endforeach()
configure_package_config_file(cmake/wscConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/wscConfig.cmake INSTALL_DESTINATION
  ${WSC_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/wscConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/wscConfig.cmake ${CMAKE_BINARY_DIR}/cmake/wscConfigVersion.cmake
  DESTINATION ${WSC_CMAKE_DIR} COMPONENT development)
file(RELATIVE_PATH WSC_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" WSC_PC_PREFIX ${WSC_PC_PREFIX})
configure_file(cmake/wsc.pc.in ${CMAKE_BINARY_DIR}/cmake/wsc.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cmake/wsc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
foreach(example python c cpp pass counter mesh)
  install(DIRECTORY examples/${example} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT development)
endforeach()

# Python's folder for packages of the system, below the prefix. A wheel puts the libraries beside the modules instead.
if(TARGET wsc-python)
  set(WSC_PYTHON_INSTALL_DIR lib/python3/dist-packages CACHE STRING "where the Python package goes, below the prefix")
  file(RELATIVE_PATH fromPython /${WSC_PYTHON_INSTALL_DIR}/wsc /${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY python-bindings/wsc DESTINATION ${WSC_PYTHON_INSTALL_DIR} COMPONENT python
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  foreach(module wsc-python_runtime wsc-python_compiler)
    set_target_properties(${module} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/${fromPython}")
    install(TARGETS ${module} LIBRARY DESTINATION ${WSC_PYTHON_INSTALL_DIR}/wsc COMPONENT python)
  endforeach()
endif()
