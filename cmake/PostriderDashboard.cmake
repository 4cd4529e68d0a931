# The dashboard: the web application in web/, built by Node and embedded into the program.
option(POSTRIDER_DASHBOARD "Embed the dashboard; building it needs Node 18 or newer and npm" ON)

# postrider_build_dashboard(VARIABLE): sets VARIABLE to a C++ source that defines
# embedded_dashboard() of api/ui/dashboard_file.h.
function(postrider_build_dashboard variable)
  set(web ${PROJECT_SOURCE_DIR}/web)
  find_program(POSTRIDER_NPM npm)
  find_program(POSTRIDER_NODE node)
  set(version "0")
  if(POSTRIDER_NODE)
    execute_process(COMMAND ${POSTRIDER_NODE} --version OUTPUT_VARIABLE version
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX REPLACE "^v" "" version "${version}")
  endif()
  if(NOT POSTRIDER_NPM OR version VERSION_LESS 18)
    message(FATAL_ERROR "The dashboard needs Node 18 or newer and npm. Install them with "
      "`tools/deps.sh build`, or build without the dashboard: -DPOSTRIDER_DASHBOARD=OFF.")
  endif()
  if(NOT EXISTS ${web}/package-lock.json)
    message(FATAL_ERROR "web/package-lock.json is missing, so the dashboard cannot be built. "
      "Restore it, or build without the dashboard: -DPOSTRIDER_DASHBOARD=OFF.")
  endif()

  # All build trees share the packages. npm writes this file last.
  set(packages ${web}/node_modules/.package-lock.json)
  set(script ${PROJECT_SOURCE_DIR}/tools/build_dashboard.sh)
  add_custom_command(OUTPUT ${packages}
    COMMAND ${script} install ${PROJECT_BINARY_DIR}/web
    DEPENDS ${web}/package-lock.json
    COMMENT "Installing the packages of the dashboard"
    VERBATIM)

  # From the contract, the build writes the types of the API's answers to web/generated.
  file(GLOB contract CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/api/openapi/*.json)
  file(GLOB options CONFIGURE_DEPENDS ${web}/*.html ${web}/*.json ${web}/*.ts)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/* ${web}/public/* ${web}/scripts/*)
  set(output ${PROJECT_BINARY_DIR}/web/dashboard_files.cc)
  set(pack ${PROJECT_SOURCE_DIR}/tools/pack_dashboard.mjs)
  add_custom_command(OUTPUT ${output}
    BYPRODUCTS ${PROJECT_BINARY_DIR}/web/dashboard.pack
    COMMAND ${script} build ${PROJECT_BINARY_DIR}/web
    DEPENDS ${packages} ${options} ${sources} ${contract} ${script} ${pack}
    COMMENT "Building the dashboard"
    VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
