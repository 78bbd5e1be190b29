# The recorder of a GPU driver's calls, and the replay that compares a driver with such a trace, in
# BUILD/recorder. The recorder is loaded into other processes, so it needs only the C library and is
# not sanitized.
set(DLBENCH_RECORDER_DIR ${PROJECT_BINARY_DIR}/recorder)
set(folder ${PROJECT_SOURCE_DIR}/tests/recorder)

add_library(dlbench_recorder MODULE ${folder}/recorder.cpp)
target_include_directories(dlbench_recorder PRIVATE ${DLBENCH_INCLUDE})
target_compile_options(dlbench_recorder PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<BOOL:${DLBENCH_WERROR}>:-Werror>)
target_link_options(dlbench_recorder PRIVATE -static-libstdc++ -static-libgcc)
set_target_properties(dlbench_recorder PROPERTIES PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY ${DLBENCH_RECORDER_DIR})

add_executable(replay ${folder}/replay.cpp)
target_link_libraries(replay PRIVATE dlbench_device nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
set_target_properties(replay PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${DLBENCH_RECORDER_DIR})
dlbench_compile_options(replay)
