# dlbench_fuzz(NAME USES rooms...): tests/fuzz/NAME.cpp as the test `fuzz_NAME`. With
# DLBENCH_LIBFUZZER (clang only) it is a libFuzzer target; otherwise dlbench's driver runs it from a
# seed for DLBENCH_FUZZ_SECONDS.
option(DLBENCH_LIBFUZZER "Build the fuzz targets for libFuzzer (clang)" OFF)
set(DLBENCH_FUZZ_SECONDS 2 CACHE STRING "Seconds that each fuzz target runs as a test")

function(dlbench_fuzz name)
  cmake_parse_arguments(arg "" "" "USES" ${ARGN})
  add_executable(fuzz_${name} tests/fuzz/${name}.cpp)
  list(TRANSFORM arg_USES PREPEND dlbench_)
  target_link_libraries(fuzz_${name} PRIVATE ${arg_USES})
  dlbench_compile_options(fuzz_${name})
  if(DLBENCH_LIBFUZZER)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    set(arguments -max_total_time=${DLBENCH_FUZZ_SECONDS} -seed=1 -timeout=10)
  else()
    target_sources(fuzz_${name} PRIVATE tests/fuzz/driver.cpp)
    set(arguments ${DLBENCH_FUZZ_SECONDS} 1)
  endif()
  add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${arguments})
endfunction()
