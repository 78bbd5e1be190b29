# dlbench's own declarations of CUPTI are compared with its headers, where they are installed.
target_link_libraries(trace_tests PRIVATE dlbench_nvtx)
find_path(DLBENCH_CUPTI_INCLUDE cupti.h
  PATHS /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
if(DLBENCH_CUPTI_INCLUDE)
  # For this file alone: the toolkit has an NVTX of its own.
  set_source_files_properties(tests/trace/cupti_abi_test.cpp PROPERTIES
    COMPILE_DEFINITIONS DLBENCH_CUPTI_H
    COMPILE_OPTIONS "-isystem;${DLBENCH_CUPTI_INCLUDE};-isystem;/usr/local/cuda/include")
endif()
