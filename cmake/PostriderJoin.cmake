# Joined sources: several sources of a target are compiled as one, so that the headers and templates
# they share are compiled once. Presets without it compile each source alone, as an editor does.
option(POSTRIDER_JOIN_SOURCES "Compile several sources of a target as one" OFF)

# postrider_join_sources(TARGET). The groups are chosen when the build is configured: if an edit
# makes two joined sources define the same name, configure again.
function(postrider_join_sources target)
  if(NOT POSTRIDER_JOIN_SOURCES)
    return()
  endif()
  get_target_property(listed ${target} SOURCES)
  set(sources "")
  foreach(source IN LISTS listed)
    get_filename_component(absolute ${source} ABSOLUTE)
    if(EXISTS ${absolute} AND absolute MATCHES "^${PROJECT_SOURCE_DIR}/(src|tests)/.*\\.cc$")
      list(APPEND sources ${absolute})
    endif()
  endforeach()
  execute_process(
    COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tools/join_sources.py ${sources}
    OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  # A list of lists cannot be iterated: `;` separates the sources of a line.
  string(REPLACE ";" "|" lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  set(number 0)
  foreach(line IN LISTS lines)
    string(REPLACE "|" ";" group "${line}")
    math(EXPR number "${number} + 1")
    list(LENGTH group count)
    if(count GREATER 1)
      set_source_files_properties(${group} PROPERTIES UNITY_GROUP ${target}_${number})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # Unnamed namespaces of joined sources look like those of headers, and a local name may be that
  # of another source's function.
  target_compile_options(${target} PRIVATE -Wno-subobject-linkage -Wno-shadow -Wshadow=local)
endfunction()
