# Fake vendor libraries over devices made of threads, with the vendors' file names, in BUILD/fake.
# Tests find them by their run path, a whole run by LD_LIBRARY_PATH.
set(DLBENCH_FAKE_DIR ${PROJECT_BINARY_DIR}/fake)

# dlbench_fake(NAME LIBRARY VERSION [FOLDER...]): builds libLIBRARY.so.VERSION from tests/fake/*.cpp
# and the folders NAME and FOLDER there.
function(dlbench_fake name library version)
  set(folder ${PROJECT_SOURCE_DIR}/tests/fake)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp ${folder}/${name}/*.cpp)
  foreach(more ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS ${folder}/${more}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  add_library(fake_${name} SHARED ${sources})
  target_include_directories(fake_${name} PRIVATE ${folder})
  target_link_libraries(fake_${name} PRIVATE dlbench_device)
  set_target_properties(fake_${name} PROPERTIES OUTPUT_NAME ${library} SOVERSION ${version}
    LIBRARY_OUTPUT_DIRECTORY ${DLBENCH_FAKE_DIR})
  dlbench_compile_options(fake_${name})
endfunction()

dlbench_fake(cuda cuda 1 gpu)
dlbench_fake(hip amdhip64 6 gpu)
dlbench_fake(hiprtc hiprtc 6)
dlbench_fake(nvml nvidia-ml 1)
