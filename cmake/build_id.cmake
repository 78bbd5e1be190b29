# The version from pyproject.toml, and a hash of the sources of supervisor and worker.
file(STRINGS ${PROJECT_SOURCE_DIR}/pyproject.toml version_line REGEX "^version = ")
string(REGEX MATCH "[0-9][^\"]*" DLBENCH_VERSION "${version_line}")

file(GLOB_RECURSE hashed_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/harness/*.cpp ${PROJECT_SOURCE_DIR}/harness/*.hpp
  ${PROJECT_SOURCE_DIR}/harness/*.def
  ${PROJECT_SOURCE_DIR}/harness/core/device/kernels/*)
set(hashes "")
foreach(source ${hashed_sources})
  file(SHA256 ${source} hash)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 DLBENCH_SOURCE_HASH "${hashes}")
string(SUBSTRING ${DLBENCH_SOURCE_HASH} 0 12 DLBENCH_SOURCE_HASH)
configure_file(${PROJECT_SOURCE_DIR}/harness/core/model/build.cpp.in ${PROJECT_BINARY_DIR}/build.cpp @ONLY)
target_sources(dlbench_model PRIVATE ${PROJECT_BINARY_DIR}/build.cpp)
