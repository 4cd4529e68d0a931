# postrider_library(NAME SOURCES ... LINK ... [FOLDERS ...] [PRELUDE standard] [APART]): a static
# library. With APART its sources are never joined (PostriderJoin.cmake).
#
# A library exports the headers of its own FOLDERS (relative to src/; by default the folder it is
# declared in) and of the libraries it links, and no others: an include against the direction of
# ARCHITECTURE.md does not compile. Each library has an include root of its own in the build tree,
# with symbolic links to its folders, so that includes read "core/model/event.h" everywhere.
function(postrider_library name)
  cmake_parse_arguments(ARG "APART" "PRELUDE" "SOURCES;LINK;PRIVATE_LINK;FOLDERS" ${ARGN})
  if(NOT ARG_FOLDERS)
    file(RELATIVE_PATH ARG_FOLDERS ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
    # A library outside of src/ exports no folder.
    list(FILTER ARG_FOLDERS EXCLUDE REGEX "^\\.\\.")
  endif()
  set(root ${PROJECT_BINARY_DIR}/roots/${name})
  foreach(folder IN LISTS ARG_FOLDERS)
    get_filename_component(parent ${root}/${folder} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${folder} ${root}/${folder} SYMBOLIC)
  endforeach()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${root})
    target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
    if(NOT ARG_PRELUDE)
      set(ARG_PRELUDE standard)
    endif()
    postrider_read_prelude(${name} ${ARG_PRELUDE})
    if(NOT ARG_APART)
      postrider_join_sources(${name})
    endif()
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${root})
    target_link_libraries(${name} INTERFACE ${ARG_LINK})
  endif()
endfunction()

# postrider_test(NAME SOURCES ... LINK ... [LABELS ...] [TIMEOUT s] [PRELUDE test]): one GoogleTest
# binary, one ctest entry. `make NAME` without its `_test` suffix builds and runs it alone
# (Makefile).
function(postrider_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;PRELUDE" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${postrider_test_options})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main rapidcheck)
  if(NOT ARG_PRELUDE)
    set(ARG_PRELUDE test)
  endif()
  postrider_read_prelude(${name} ${ARG_PRELUDE})
  postrider_join_sources(${name})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(POSTRIDER_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 6")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()
