# From the system where it has them, else from their release archives at a pinned hash.
include(FetchContent)

find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
# What is built for one Python needs the packages of the build requirements from any.
set(DLBENCH_TOOLS_PYTHON ${Python_EXECUTABLE} CACHE FILEPATH
  "The Python that has pybind11, nanobind and apache-tvm-ffi")

find_package(benchmark 1.7.1 QUIET)
if(NOT benchmark_FOUND)
  set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "" FORCE)
  set(BENCHMARK_ENABLE_INSTALL OFF CACHE BOOL "" FORCE)
  set(BUILD_SHARED_LIBS OFF)
  FetchContent_Declare(benchmark
    URL https://github.com/google/benchmark/archive/refs/tags/v1.7.1.tar.gz
    URL_HASH SHA256=6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7)
  FetchContent_MakeAvailable(benchmark)
endif()

find_package(nlohmann_json 3.10 QUIET)
if(NOT nlohmann_json_FOUND)
  FetchContent_Declare(nlohmann_json
    URL https://github.com/nlohmann/json/releases/download/v3.11.2/json.tar.xz
    URL_HASH SHA256=8c4b26bf4b422252e13f332bc5e388ec0ab5c3443d24399acb675e68278d341f)
  FetchContent_MakeAvailable(nlohmann_json)
endif()

# Headers alone, of which `results` needs the parser. Its own build has nothing for us.
find_path(RAPIDJSON_INCLUDE_DIR rapidjson/reader.h)
if(NOT RAPIDJSON_INCLUDE_DIR)
  FetchContent_Declare(rapidjson
    URL https://github.com/Tencent/rapidjson/archive/refs/tags/v1.1.0.tar.gz
    URL_HASH SHA256=bf7ced29704a1e696fbccf2a2b4ea068e7774fa37f6d7dd4039d0787f8bed98e
    SOURCE_SUBDIR include)
  FetchContent_MakeAvailable(rapidjson)
  set(RAPIDJSON_INCLUDE_DIR ${rapidjson_SOURCE_DIR}/include)
endif()
add_library(dlbench_rapidjson INTERFACE)
target_include_directories(dlbench_rapidjson SYSTEM INTERFACE ${RAPIDJSON_INCLUDE_DIR})

if(DLBENCH_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    FetchContent_Declare(googletest
      URL https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz
      URL_HASH SHA256=81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2)
    FetchContent_MakeAvailable(googletest)
  endif()
endif()

find_package(pybind11 3.0 CONFIG QUIET)
if(NOT pybind11_FOUND)
  execute_process(COMMAND ${DLBENCH_TOOLS_PYTHON} -m pybind11 --cmakedir
    OUTPUT_VARIABLE pybind11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  find_package(pybind11 3.0 CONFIG REQUIRED)
endif()

# A measured subject, no part of the rest: without it the library nanobind is `not-installed`.
execute_process(COMMAND ${DLBENCH_TOOLS_PYTHON} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind CONFIG QUIET)

# dlpack.h travels with apache-tvm-ffi. The package is looked up, not imported: its import pulls in
# torch where that is installed.
execute_process(
  COMMAND ${DLBENCH_TOOLS_PYTHON} -c
    "import importlib.util as u; print(u.find_spec('tvm_ffi').submodule_search_locations[0])"
  OUTPUT_VARIABLE tvm_ffi_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_path(DLPACK_INCLUDE_DIR dlpack/dlpack.h HINTS ${tvm_ffi_dir}/include NO_DEFAULT_PATH)
if(NOT DLPACK_INCLUDE_DIR)
  message(FATAL_ERROR "dlpack/dlpack.h not found: pip install apache-tvm-ffi")
endif()
add_library(dlbench_dlpack INTERFACE)
target_include_directories(dlbench_dlpack SYSTEM INTERFACE ${DLPACK_INCLUDE_DIR})

find_path(DLBENCH_CALLGRIND_INCLUDE valgrind/callgrind.h)

# Ranges for NVIDIA's tools: headers alone, from the package nvidia-nvtx or the CUDA toolkit. Built
# without them, dlbench gives those tools no ranges, and `doctor` says so.
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
