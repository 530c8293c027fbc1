# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Man pages and bash completion of every command, made from its --help; part of `all` where help2man is installed.
find_program(WSC_HELP2MAN help2man)
find_program(WSC_GZIP gzip)
set(WSC_MANUAL_DIR ${CMAKE_BINARY_DIR}/manual)

# wsc_manual(COMMAND COMPONENT DESCRIPTION)
function(wsc_manual COMMAND COMPONENT DESCRIPTION)
  if(NOT TARGET ${COMMAND})
    return()
  endif()
  set(completion ${WSC_MANUAL_DIR}/completions/${COMMAND})
  add_custom_command(OUTPUT ${completion}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${WSC_MANUAL_DIR}/completions
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/completion.py $<TARGET_FILE:${COMMAND}> -o ${completion}
    DEPENDS ${COMMAND} ${CMAKE_SOURCE_DIR}/tools/completion.py VERBATIM)
  set(made ${completion})
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${COMPONENT})
  if(WSC_HELP2MAN AND WSC_GZIP)
    set(page ${WSC_MANUAL_DIR}/${COMMAND}.1)
    # A date of its own would make every build differ.
    add_custom_command(OUTPUT ${page}.gz
      COMMAND ${CMAKE_COMMAND} -E env SOURCE_DATE_EPOCH=1735689600
        ${WSC_HELP2MAN} --no-info --name=${DESCRIPTION} --version-string=${PROJECT_VERSION} --output=${page}
          $<TARGET_FILE:${COMMAND}>
      COMMAND ${WSC_GZIP} -9nf ${page}
      DEPENDS ${COMMAND} VERBATIM)
    list(APPEND made ${page}.gz)
    install(FILES ${page}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${COMPONENT})
  endif()
  add_custom_target(${COMMAND}-manual ALL DEPENDS ${made})
endfunction()
if(NOT WSC_HELP2MAN)
  message(STATUS "man pages are left out: help2man is missing")
endif()
wsc_manual(wsc-run runtime "execute a wafer executable on the emulator")
wsc_manual(wsc-info runtime "show what a wafer executable holds")
wsc_manual(wsc-compile tools "compile a neural network for a wafer-scale mesh")
wsc_manual(wsc-test tools "compile, emulate and compare backend-test cases")
wsc_manual(wsc-opt tools "run passes on the compiler's IR")
wsc_manual(wsc-lsp-server tools "language server of the compiler's IR")
wsc_manual(wsc-reduce tools "reduce IR that shows a bug")
wsc_manual(wsc-translate tools "assemble core programs to wafer executables and back")
wsc_manual(wsc-place tools "solve sizing, placement and routing problems given as text")
wsc_manual(wsc-bench tools "measure compiler, emulator and solvers")
