# Adds an SBOM and the licenses of bundled software to the metadata of the wheel.
set(bundled "")
# dlbench_bundles(NAME VERSION SPDX FILE...): the license is in the first FILE that exists.
macro(dlbench_bundles name version spdx)
  set(license "")
  foreach(file ${ARGN})
    if(NOT license AND EXISTS ${file})
      set(license ${file})
    endif()
  endforeach()
  list(APPEND bundled "${name}=${version}=${spdx}=${license}")
endmacro()

dlbench_bundles(google-benchmark "${benchmark_VERSION}" Apache-2.0
  ${benchmark_SOURCE_DIR}/LICENSE /usr/share/doc/libbenchmark-dev/copyright
  /usr/share/licenses/google-benchmark/LICENSE)
file(GLOB dlpack_license ${tvm_ffi_dir}/../apache_tvm_ffi-*.dist-info/licenses/LICENSE)
dlbench_bundles(dlpack ${dlpack_VERSION} Apache-2.0 ${dlpack_license} ${PROJECT_SOURCE_DIR}/LICENSE)
if(nlohmann_json_FOUND OR nlohmann_json_SOURCE_DIR)
  dlbench_bundles(nlohmann-json "${nlohmann_json_VERSION}" MIT ${nlohmann_json_SOURCE_DIR}/LICENSE.MIT
    /usr/share/doc/nlohmann-json3-dev/copyright /usr/share/licenses/json-devel/LICENSE.MIT)
endif()
if(DLBENCH_CALLGRIND_INCLUDE)
  dlbench_bundles(valgrind-headers 3 bzip2-1.0.6
    ${DLBENCH_CALLGRIND_INCLUDE}/valgrind/callgrind.h)
endif()
if(DLBENCH_PREBUILT_CALLS)
  list(APPEND bundled calls)
endif()
execute_process(
  COMMAND ${DLBENCH_TOOLS_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/write_sbom.py
    ${PROJECT_BINARY_DIR}/bundled ${DLBENCH_VERSION} ${bundled}
  COMMAND_ERROR_IS_FATAL ANY)
install(DIRECTORY ${PROJECT_BINARY_DIR}/bundled/ DESTINATION ${SKBUILD_METADATA_DIR})
