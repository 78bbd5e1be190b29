# Compares dlbench's declarations of CUPTI with CUPTI's headers, if they are installed.
target_link_libraries(trace_tests PRIVATE dlbench_nvtx)
find_path(DLBENCH_CUPTI_INCLUDE cupti.h
  PATHS /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
if(DLBENCH_CUPTI_INCLUDE)
  # Only for this file, because the toolkit contains its own NVTX.
  set_source_files_properties(tests/core/trace/cupti_abi_test.cpp PROPERTIES
    COMPILE_DEFINITIONS DLBENCH_CUPTI_H
    COMPILE_OPTIONS "-isystem;${DLBENCH_CUPTI_INCLUDE};-isystem;/usr/local/cuda/include")
endif()
