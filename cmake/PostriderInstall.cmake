# Installation: the program, its manual page and completions, and the header for receivers with a
# package for `find_package(postrider)`.
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

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/postrider)
install(TARGETS postrider_verify EXPORT postriderTargets COMPONENT receiver)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT receiver)
install(EXPORT postriderTargets NAMESPACE postrider:: DESTINATION ${package_directory}
  COMPONENT receiver)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/postriderConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/postriderConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/postriderConfigVersion.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/package/postriderConfig.cmake
  ${PROJECT_BINARY_DIR}/package/postriderConfigVersion.cmake
  DESTINATION ${package_directory} COMPONENT receiver)

install(FILES ${PROJECT_SOURCE_DIR}/docs/man/postrider.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)

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
