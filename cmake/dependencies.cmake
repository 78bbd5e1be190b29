# Headers and libraries come from the system or from the packages of the build requirements. With
# DLBENCH_FETCH missing ones are downloaded as release archives with a pinned hash.
include(FetchContent)
option(DLBENCH_FETCH "Download the headers and libraries that are missing" OFF)

find_package(Python REQUIRED COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)
# The packages of the build requirements may be installed for another Python than the target.
set(DLBENCH_TOOLS_PYTHON ${Python_EXECUTABLE} CACHE FILEPATH
  "The Python that has pybind11, nanobind, nlohmann-json and apache-tvm-ffi")

# dlbench_package_folder(VARIABLE PACKAGE): the folder of a Python package, or nothing. The package
# is not imported, because importing tvm_ffi imports torch if it is installed.
function(dlbench_package_folder variable package)
  execute_process(
    COMMAND ${DLBENCH_TOOLS_PYTHON} -c
      "import importlib.util as u; print(u.find_spec('${package}').submodule_search_locations[0])"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

# dlbench_may_fetch(VARIABLE NAME URL HASH [ARGUMENT...]): declares an archive of missing sources.
# Sets VARIABLE if they can be used: downloaded, or in FETCHCONTENT_SOURCE_DIR_NAME.
function(dlbench_may_fetch variable name url hash)
  string(TOUPPER "FETCHCONTENT_SOURCE_DIR_${name}" own)
  if(DLBENCH_FETCH OR ${own})
    FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${hash} ${ARGN})
    set(${variable} ON PARENT_SCOPE)
  else()
    set(${variable} OFF PARENT_SCOPE)
  endif()
endfunction()

# Missing dependencies are reported together: a title, then the packages for apt, dnf, conda and
# Homebrew.
set(dlbench_missing "")
set(dlbench_missing_apt "")
set(dlbench_missing_dnf "")
set(dlbench_missing_conda "")
set(dlbench_missing_brew "")
macro(dlbench_is_missing title apt dnf conda brew)
  list(APPEND dlbench_missing "${title}")
  list(APPEND dlbench_missing_apt ${apt})
  list(APPEND dlbench_missing_dnf ${dnf})
  list(APPEND dlbench_missing_conda ${conda})
  list(APPEND dlbench_missing_brew ${brew})
endmacro()

if(NOT Python_Development.Module_FOUND)
  set(python python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR})
  dlbench_is_missing("Python.h of ${Python_EXECUTABLE}" ${python}-dev ${python}-devel python python)
endif()

# A system's library may be older than the one that is downloaded for wheels.
find_package(benchmark 1.7.1 QUIET)
if(NOT benchmark_FOUND)
  dlbench_may_fetch(fetch benchmark
    https://github.com/google/benchmark/archive/refs/tags/v1.9.5.tar.gz
    9631341c82bac4a288bef951f8b26b41f69021794184ece969f8473977eaa340)
  if(fetch)
    # A static library, which becomes part of the only module that uses it.
    set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "" FORCE)
    set(BENCHMARK_ENABLE_INSTALL OFF CACHE BOOL "" FORCE)
    set(BENCHMARK_INSTALL_DOCS OFF CACHE BOOL "" FORCE)
    set(BENCHMARK_ENABLE_WERROR OFF CACHE BOOL "" FORCE)
    set(BUILD_SHARED_LIBS OFF)
    FetchContent_MakeAvailable(benchmark)
    get_directory_property(benchmark_VERSION
      DIRECTORY ${benchmark_SOURCE_DIR} DEFINITION benchmark_VERSION)
    # Compile its many small files as one, which takes half the time.
    set_target_properties(benchmark PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    if(TARGET benchmark_main)
      set_target_properties(benchmark_main PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    # Remove the build folder from the paths in its checks, so that builds are reproducible.
    target_compile_options(benchmark PRIVATE -ffile-prefix-map=${benchmark_SOURCE_DIR}=benchmark)
    # It treats pedantic warnings as errors, and the newest clang has one for its header.
    target_compile_options(benchmark PRIVATE -Wno-pedantic)
  else()
    dlbench_is_missing("Google Benchmark" libbenchmark-dev google-benchmark-devel benchmark
      google-benchmark)
  endif()
endif()

find_package(nlohmann_json 3.10 QUIET)
if(NOT nlohmann_json_FOUND)
  dlbench_package_folder(nlohmann_package nlohmann_json)
  find_path(NLOHMANN_INCLUDE_DIR nlohmann/json.hpp HINTS ${nlohmann_package}/include)
  if(NLOHMANN_INCLUDE_DIR)
    add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
    target_include_directories(nlohmann_json::nlohmann_json SYSTEM INTERFACE
      ${NLOHMANN_INCLUDE_DIR})
  else()
    dlbench_may_fetch(fetch nlohmann_json
      https://github.com/nlohmann/json/releases/download/v3.12.0/json.tar.xz
      42f6e95cad6ec532fd372391373363b62a14af6d771056dbfc86160e6dfff7aa)
    if(fetch)
      FetchContent_MakeAvailable(nlohmann_json)
      get_directory_property(nlohmann_json_VERSION
        DIRECTORY ${nlohmann_json_SOURCE_DIR} DEFINITION nlohmann_json_VERSION)
    else()
      dlbench_is_missing("JSON for Modern C++" nlohmann-json3-dev json-devel nlohmann_json
        nlohmann-json)
    endif()
  endif()
endif()

if(DLBENCH_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    dlbench_may_fetch(fetch googletest
      https://github.com/google/googletest/archive/refs/tags/v1.18.0.tar.gz
      6e3191c1455468b3fc35a417fb565c1c5071aee1b7e7f85e30cf48a98d37d8b5)
    if(fetch)
      FetchContent_MakeAvailable(googletest)
    else()
      dlbench_is_missing("GoogleTest" libgtest-dev gtest-devel gtest googletest)
    endif()
  endif()
endif()

if(dlbench_missing)
  list(JOIN dlbench_missing ", " titles)
  foreach(manager apt dnf conda brew)
    list(JOIN dlbench_missing_${manager} " " names_${manager})
  endforeach()
  set(or_download "Or let the build download it: -DDLBENCH_FETCH=ON for cmake, "
    "-C cmake.define.DLBENCH_FETCH=ON for pip install\n")
  if(NOT Python_Development.Module_FOUND)
    set(or_download "")
  endif()
  message(FATAL_ERROR "dlbench's build needs: ${titles}\n"
    "Install the missing packages, then build again:\n"
    "  Debian, Ubuntu: apt-get install ${names_apt}\n"
    "  Fedora, RHEL:   dnf install ${names_dnf}\n"
    "  conda:          conda install -c conda-forge ${names_conda}\n"
    "  Homebrew:       brew install ${names_brew}\n"
    ${or_download})
endif()

find_package(pybind11 3.0 CONFIG QUIET)
if(NOT pybind11_FOUND)
  execute_process(COMMAND ${DLBENCH_TOOLS_PYTHON} -m pybind11 --cmakedir
    OUTPUT_VARIABLE pybind11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_package(pybind11 3.0 CONFIG REQUIRED)
endif()

# nanobind is a measured library; without it the library nanobind is `not-installed`.
execute_process(COMMAND ${DLBENCH_TOOLS_PYTHON} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind CONFIG QUIET)

# apache-tvm-ffi contains dlpack.h; a system may have it too, as conda's package dlpack.
dlbench_package_folder(tvm_ffi_dir tvm_ffi)
find_path(DLPACK_INCLUDE_DIR dlpack/dlpack.h HINTS ${tvm_ffi_dir}/include)
set(dlpack_VERSION 0)
if(DLPACK_INCLUDE_DIR)
  file(STRINGS ${DLPACK_INCLUDE_DIR}/dlpack/dlpack.h dlpack_lines
    REGEX "define DLPACK_(MAJOR|MINOR)_VERSION")
  if(dlpack_lines MATCHES "MAJOR_VERSION ([0-9]+).*MINOR_VERSION ([0-9]+)")
    set(dlpack_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
  endif()
endif()
if(dlpack_VERSION VERSION_LESS 1.3 OR dlpack_VERSION VERSION_GREATER_EQUAL 2)
  set(dlpack_found ${DLPACK_INCLUDE_DIR})
  unset(DLPACK_INCLUDE_DIR CACHE)  # the next configuration looks again
  message(FATAL_ERROR "dlbench's build needs dlpack/dlpack.h of DLPack 1, 1.3 or newer; found: "
    "${dlpack_found}, version ${dlpack_VERSION}. Install it: pip install apache-tvm-ffi")
endif()
add_library(dlbench_dlpack INTERFACE)
target_include_directories(dlbench_dlpack SYSTEM INTERFACE ${DLPACK_INCLUDE_DIR})

find_path(DLBENCH_CALLGRIND_INCLUDE valgrind/callgrind.h)

# Ranges for NVIDIA's tools need only headers, from the package nvidia-nvtx or the CUDA toolkit. A
# build without them emits no ranges for those tools, which `doctor` reports.
execute_process(
  COMMAND ${DLBENCH_TOOLS_PYTHON} -c "
import importlib.util as u, pathlib
found = u.find_spec('nvidia')
places = found.submodule_search_locations if found else ()
folders = (f for place in places for f in pathlib.Path(place).glob('*/include') if (f / 'nvtx3').is_dir())
print(next(iter(sorted(folders, reverse=True)), ''))"
  OUTPUT_VARIABLE nvtx_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_path(DLBENCH_NVTX_INCLUDE nvtx3/nvToolsExt.h HINTS ${nvtx_dir}
  PATHS /usr/local/cuda/include $ENV{CUDA_HOME}/include)
add_library(dlbench_nvtx INTERFACE)
if(DLBENCH_NVTX_INCLUDE)
  target_compile_definitions(dlbench_nvtx INTERFACE DLBENCH_NVTX)
  target_include_directories(dlbench_nvtx SYSTEM INTERFACE ${DLBENCH_NVTX_INCLUDE})
endif()
