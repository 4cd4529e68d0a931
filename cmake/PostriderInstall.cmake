# Installation: the program, its manual page, completions, rules for Prometheus and dashboard for
# Grafana, and the libraries for receivers and publishers with a package for
# `find_package(postrider)`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A header-only library for receivers. Needs only C++17 and libcrypto.
add_library(postrider_verify INTERFACE)
add_library(postrider::verify ALIAS postrider_verify)
set_target_properties(postrider_verify PROPERTIES EXPORT_NAME verify)
target_compile_features(postrider_verify INTERFACE cxx_std_17)
target_include_directories(postrider_verify INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(postrider_verify INTERFACE OpenSSL::Crypto)

# A header-only library that builds the INSERT of an outbox. Needs only C++17.
add_library(postrider_outbox INTERFACE)
add_library(postrider::outbox ALIAS postrider_outbox)
set_target_properties(postrider_outbox PROPERTIES EXPORT_NAME outbox)
target_compile_features(postrider_outbox INTERFACE cxx_std_17)
target_include_directories(postrider_outbox INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/postrider)
install(TARGETS postrider_verify postrider_outbox EXPORT postriderTargets COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development)
install(EXPORT postriderTargets NAMESPACE postrider:: DESTINATION ${package_directory}
  COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/postriderConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/postriderConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/postriderConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/postriderConfig.cmake
  ${PROJECT_BINARY_DIR}/package/postriderConfigVersion.cmake
  DESTINATION ${package_directory} COMPONENT development)

install(FILES ${PROJECT_SOURCE_DIR}/docs/man/postrider.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/deploy/prometheus/rules.yml
  DESTINATION ${CMAKE_INSTALL_DATADIR}/postrider/prometheus COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/deploy/grafana/postrider.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/postrider/grafana COMPONENT program)

# postrider_install_client(TARGET): installs the library for publishers.
function(postrider_install_client target)
  install(TARGETS ${target} EXPORT postriderTargets COMPONENT development)
endfunction()

# postrider_install_program(TARGET): installs the program and the completions that it generates.
function(postrider_install_program target)
  install(TARGETS ${target} COMPONENT program)
  set(shells bash zsh fish)
  set(folders bash-completion/completions zsh/vendor-completions fish/vendor_completions.d)
  set(names postrider _postrider postrider.fish)
  foreach(shell folder name IN ZIP_LISTS shells folders names)
    set(script ${PROJECT_BINARY_DIR}/completions/${shell}/${name})
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/completions/${shell}
      COMMAND $<TARGET_FILE:${target}> completion ${shell} > ${script}
      VERBATIM)
    install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT program)
  endforeach()
endfunction()
