# The sources of the kernels become part of the library; drivers compile them at run time.
set(kernels ${PROJECT_SOURCE_DIR}/harness/core/device/kernels)
file(READ ${kernels}/delay.ptx DLBENCH_DELAY_PTX)
file(READ ${kernels}/delay.hip DLBENCH_DELAY_HIP)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${kernels}/delay.ptx ${kernels}/delay.hip)
configure_file(${PROJECT_SOURCE_DIR}/harness/core/device/kernels.cpp.in ${PROJECT_BINARY_DIR}/kernels.cpp
  @ONLY)
target_sources(dlbench_device PRIVATE ${PROJECT_BINARY_DIR}/kernels.cpp)
