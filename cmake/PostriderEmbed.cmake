# postrider_embed(TARGET FUNCTION name NAMESPACE ns FILES ...): compiles text files into TARGET as
#
#   std::span<const postrider::EmbeddedFile> ns::name();     // In the order of FILES.
#
# The caller declares the function in a header of its own. EmbeddedFile is in
# core/base/embedded_file.h.
function(postrider_embed target)
  cmake_parse_arguments(ARG "" "FUNCTION;NAMESPACE" "FILES" ${ARGN})
  list(TRANSFORM ARG_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${ARG_FUNCTION}.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${ARG_FUNCTION}
            -DNAMESPACE=${ARG_NAMESPACE} "-DFILES=${ARG_FILES}" -P ${script}
    DEPENDS ${ARG_FILES} ${script}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
