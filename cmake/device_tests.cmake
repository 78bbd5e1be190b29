# The device tests use the fake drivers, and vendors' headers if they are installed. The run path is
# for a start by hand; a sanitizer's dlopen does not use it.
set_target_properties(device_tests PROPERTIES BUILD_RPATH ${DLBENCH_FAKE_DIR})
set_tests_properties(device PROPERTIES TIMEOUT 120
  ENVIRONMENT "LD_LIBRARY_PATH=${DLBENCH_FAKE_DIR}:$ENV{LD_LIBRARY_PATH}")
add_dependencies(device_tests fake_cuda fake_hip fake_hiprtc)
target_link_libraries(device_tests PRIVATE ${CMAKE_DL_LIBS})

find_path(DLBENCH_CUDA_INCLUDE cuda.h HINTS ENV CUDA_PATH PATHS /usr/local/cuda
  PATH_SUFFIXES include)
find_path(DLBENCH_HIP_INCLUDE hip/hip_runtime_api.h HINTS ENV ROCM_PATH PATHS /opt/rocm
  PATH_SUFFIXES include)
foreach(vendor CUDA HIP)
  if(DLBENCH_${vendor}_INCLUDE)
    target_include_directories(device_tests SYSTEM PRIVATE ${DLBENCH_${vendor}_INCLUDE})
    target_compile_definitions(device_tests PRIVATE DLBENCH_${vendor}_HEADERS)
  endif()
endforeach()
