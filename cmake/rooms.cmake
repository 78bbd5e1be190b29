# A room is a folder, a static library and a test executable of the same name. The rooms of `core`
# and `results` are used by all others, those of `supervisor` only by the parent process.
set(DLBENCH_INCLUDE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/harness
  ${PROJECT_SOURCE_DIR}/harness/core)

# Headers take most of the compile time, so eight files in one unit take half the time. The preset
# `edit` compiles file by file, which rebuilds less after a change.
# These are not joined: in `measure` nothing may be inlined into the timed code; in the others,
# files repeat names (module tables of CPython, macros and planted values of tests).
set(DLBENCH_NO_UNITY dlbench_measure _check device_tests exchange_tests stats_tests trace_tests)
# A worker runs these files while it measures, so they are not joined either.
file(GLOB_RECURSE timed RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/harness/worker/*.cpp)
list(FILTER timed INCLUDE REGEX
  "worker/(timing|proxy|exchange|sync)/|/(module|py|capsule|consumer_call|exchange_api|import_call).cpp$")
# The last one has a public class with members of file-local types, of which g++ warns in a joined
# file.
set_source_files_properties(${timed} results/schema/strict_json.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
option(DLBENCH_UNITY "Compile eight files of a room as one" ON)
function(dlbench_unity target)
  if(target IN_LIST DLBENCH_NO_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DLBENCH_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# In files that are not joined, reading headers takes nine tenths of the time, so these are
# precompiled. Not in the preset `edit`, which finds a missing #include.
function(dlbench_read_headers_once target)
  if(DLBENCH_UNITY)
    target_precompile_headers(${target} PRIVATE <Python.h> <algorithm> <array> <chrono> <cstring>
      <functional> <map> <memory> <optional> <span> <string> <string_view> <utility> <vector>)
    # Needed by ccache.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endfunction()

# These plan, supervise and convert, where a run spends no time. At -O1 they compile in a quarter
# less time.
set(DLBENCH_COLD dlbench_plan dlbench_supervisor _core)

function(dlbench_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    $<$<BOOL:${DLBENCH_WERROR}>:-Werror>)
  if(target IN_LIST DLBENCH_COLD)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  # g++ 12 has false warnings for std::string's operator+ and std::optional (GCC bugs 105651 and
  # 80635).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-maybe-uninitialized)
  endif()
  if(DLBENCH_SANITIZE)
    # At -O0 these compile in two thirds of the time, and their tests take the same time.
    if(target MATCHES "^dlbench_(plan|supervisor|results)$")
      target_compile_options(${target} PRIVATE -O0)
    endif()
    target_compile_options(${target} PRIVATE -fsanitize=${DLBENCH_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${DLBENCH_SANITIZE})
  endif()
  # libFuzzer is guided by the code under test, not by the target's own file.
  if(DLBENCH_LIBFUZZER)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# The page guard needs Linux's signal frames and /proc.
function(dlbench_drop_linux_only list)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    list(FILTER ${list} EXCLUDE REGEX "/(guard[^/]*|maps)[.]cpp$")
    set(${list} ${${list}} PARENT_SCOPE)
  endif()
endfunction()

# dlbench_room(NAME IN folders... [USES rooms...] [LINKS targets...] [PUBLIC_LINKS targets...])
function(dlbench_room name)
  cmake_parse_arguments(arg "" "" "IN;USES;LINKS;PUBLIC_LINKS" ${ARGN})
  list(TRANSFORM arg_IN PREPEND ${PROJECT_SOURCE_DIR}/)
  list(TRANSFORM arg_IN APPEND /*.cpp)
  file(GLOB sources CONFIGURE_DEPENDS ${arg_IN})
  dlbench_drop_linux_only(sources)
  if(NOT sources)
    add_library(dlbench_${name} INTERFACE)
    return()
  endif()
  add_library(dlbench_${name} STATIC ${sources})
  target_include_directories(dlbench_${name} PUBLIC ${DLBENCH_INCLUDE})
  list(TRANSFORM arg_USES PREPEND dlbench_)
  target_link_libraries(dlbench_${name} PUBLIC ${arg_USES} ${arg_PUBLIC_LINKS} PRIVATE ${arg_LINKS})
  dlbench_compile_options(dlbench_${name})
  dlbench_unity(dlbench_${name})
endfunction()

function(dlbench_room_tests name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.cpp)
  dlbench_drop_linux_only(sources)
  if(sources)
    add_executable(${name}_tests ${sources})
    target_include_directories(${name}_tests PRIVATE ${PROJECT_SOURCE_DIR}/tests
      ${PROJECT_SOURCE_DIR}/tests/core)
    target_link_libraries(${name}_tests PRIVATE dlbench_${name} GTest::gtest GTest::gtest_main)
    dlbench_compile_options(${name}_tests)
    dlbench_unity(${name}_tests)
    # At -O0 the simulations of `stats` take minutes; the others compare times.
    if(NOT name MATCHES "^(stats|measure|device|sync)$" OR
       DLBENCH_SANITIZE AND NOT name STREQUAL "stats")
      # Halves the compile time; the code under test keeps the optimization of the build.
      target_compile_options(${name}_tests PRIVATE -O0)
    endif()
    # The tests of `supervisor` mostly wait for workers.
    set(shards 1)
    if(name STREQUAL "supervisor")
      set(shards 4)
    endif()
    foreach(shard RANGE 1 ${shards})
      set(test ${name})
      if(shards GREATER 1)
        string(APPEND test _${shard})
      endif()
      math(EXPR index "${shard} - 1")
      add_test(NAME ${test} COMMAND ${name}_tests)
      set_tests_properties(${test} PROPERTIES
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${index}")
      # These compare times, or have threads that must run at the same time.
      if(name MATCHES "^(device|measure|sync)$")
        set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
      endif()
    endforeach()
  endif()
endfunction()

# dlbench_extension(NAME SOURCES_IN folder USES rooms... LINKS targets...)
function(dlbench_extension name)
  cmake_parse_arguments(arg "" "SOURCES_IN" "USES;LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${arg_SOURCES_IN}/*.cpp
    ${PROJECT_SOURCE_DIR}/${arg_SOURCES_IN}/*/*.cpp)
  if(NOT sources)
    return()
  endif()
  python_add_library(${name} MODULE WITH_SOABI ${sources})
  target_include_directories(${name} PRIVATE ${DLBENCH_INCLUDE})
  list(TRANSFORM arg_USES PREPEND dlbench_)
  target_link_libraries(${name} PRIVATE ${arg_USES} ${arg_LINKS})
  dlbench_compile_options(${name})
  dlbench_unity(${name})
  install(TARGETS ${name} LIBRARY DESTINATION dlbench)
endfunction()

# libdlbench_call.so has the body of all functions of the protocol `call`. All modules of a worker
# must share one, so it lies beside them.
function(dlbench_call_library)
  add_library(dlbench_call SHARED ${PROJECT_SOURCE_DIR}/consumers/call/body.cpp)
  target_include_directories(dlbench_call PUBLIC ${PROJECT_SOURCE_DIR}/consumers)
  dlbench_compile_options(dlbench_call)
  install(TARGETS dlbench_call LIBRARY DESTINATION dlbench)
endfunction()
function(dlbench_calls module)
  target_link_libraries(${module} PRIVATE dlbench_call)
  set_target_properties(${module} PROPERTIES BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
endfunction()

# The libraries that dlbench compiles on demand, of the packages of DLBENCH_TOOLS_PYTHON.
function(dlbench_prebuilt_calls)
  add_custom_target(prebuilt_calls ALL
    COMMAND ${CMAKE_COMMAND} -E env "CXX=${CMAKE_CXX_COMPILER}" ${DLBENCH_TOOLS_PYTHON}
      ${PROJECT_SOURCE_DIR}/cmake/prebuild_calls.py ${PROJECT_SOURCE_DIR}
      $<TARGET_FILE_DIR:dlbench_call> ${PROJECT_BINARY_DIR}/calls
    DEPENDS dlbench_call)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/calls/ DESTINATION dlbench/consumers/call)
endfunction()

# A native producer or consumer is measured, so it links no judging code. It uses devices through
# the module `_device`, with headers only.
function(dlbench_native name source)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${source})
    return()
  endif()
  python_add_library(${name} MODULE WITH_SOABI ${PROJECT_SOURCE_DIR}/${source})
  target_include_directories(${name} PRIVATE ${DLBENCH_INCLUDE})
  target_link_libraries(${name} PRIVATE dlbench_dlpack)
  dlbench_compile_options(${name})
  install(TARGETS ${name} LIBRARY DESTINATION dlbench)
endfunction()

# A module of a measured binding library, built as that library documents. It links no judging code.
function(dlbench_subject binding name source)
  if(binding STREQUAL "pybind11")
    pybind11_add_module(${name} MODULE ${PROJECT_SOURCE_DIR}/${source})
  else()
    nanobind_add_module(${name} NB_STATIC NB_SUPPRESS_WARNINGS FREE_THREADED
      ${PROJECT_SOURCE_DIR}/${source})
    # nanobind's nb_combined.cpp joins its files, which halves the compile time.
    foreach(library nanobind-static nanobind-static-ft)
      if(TARGET ${library})
        set_target_properties(${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
      endif()
    endforeach()
  endif()
  target_compile_definitions(${name} PRIVATE BINDING_VERSION="${${binding}_VERSION}")
  dlbench_compile_options(${name})
  install(TARGETS ${name} LIBRARY DESTINATION dlbench)
endfunction()
