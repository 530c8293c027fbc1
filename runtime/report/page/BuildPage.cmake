# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes Page.cpp: installs the packages that page/package-lock.json names into MODULES, then runs build.mjs. Where that
# cannot be done, Page.cpp says why in place of the page.
#
#   cmake -DNODE= -DNPM= -DSOURCE= -DMODULES= -DOUTPUT= -P BuildPage.cmake
function(without_page why)
  message(WARNING
    "HTML reports of this build hold text only: ${why}. Once that is mended, remove ${OUTPUT} and build again.")
  file(WRITE ${OUTPUT} "#include \"runtime/report/Page.h\"\nconst std::string_view wsc::report::kPage = "
    "\"This build has no plotting library, so here is the report as text.\";\n")
endfunction()

if(NOT NODE OR NOT NPM)
  without_page("node and npm are not installed (tools/setup installs them)")
  return()
endif()
file(MAKE_DIRECTORY ${MODULES})
file(SHA256 ${SOURCE}/package-lock.json wanted)
set(installed "")
if(EXISTS ${MODULES}/installed)
  file(READ ${MODULES}/installed installed)
endif()
if(NOT installed STREQUAL wanted)
  file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${MODULES})
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --fetch-timeout=30000 --fetch-retries=1
    WORKING_DIRECTORY ${MODULES} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    without_page("npm ci failed: ${output}")
    return()
  endif()
  file(WRITE ${MODULES}/installed ${wanted})
endif()
execute_process(COMMAND ${NODE} ${SOURCE}/build.mjs ${MODULES} ${OUTPUT} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "page/build.mjs failed")
endif()
