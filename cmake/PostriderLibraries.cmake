# Third-party libraries, all of them Debian packages (tools/packages.txt).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(spdlog REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
set(Boost_NO_WARN_NEW_VERSIONS ON)  # CMake 3.25 does not know this version.
find_package(Boost 1.81 EXACT REQUIRED COMPONENTS json)
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(mimalloc REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CARES REQUIRED IMPORTED_TARGET libcares)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(RABBITMQ REQUIRED IMPORTED_TARGET librabbitmq)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

# Linked statically: Debian's shared library does not export the hooks that report RE2's work.
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY libre2.a REQUIRED)
add_library(postrider_re2 INTERFACE)
target_include_directories(postrider_re2 SYSTEM INTERFACE ${RE2_INCLUDE_DIR})
target_link_libraries(postrider_re2 INTERFACE ${RE2_LIBRARY} Threads::Threads)

# Debian's package has neither a CMake package nor the include root that its headers need.
find_path(HIREDIS_INCLUDE_DIR hiredis/hiredis.h REQUIRED)
find_library(HIREDIS_LIBRARY hiredis REQUIRED)
add_library(postrider_hiredis INTERFACE)
target_include_directories(postrider_hiredis SYSTEM INTERFACE ${HIREDIS_INCLUDE_DIR})
target_link_libraries(postrider_hiredis INTERFACE ${HIREDIS_LIBRARY})

# SYSTEM: the project's warning flags do not apply to Boost's headers.
add_library(postrider_boost INTERFACE)
target_include_directories(postrider_boost SYSTEM INTERFACE ${Boost_INCLUDE_DIRS})
target_compile_definitions(postrider_boost INTERFACE BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_BOOST_COROUTINE)
target_link_libraries(postrider_boost INTERFACE Threads::Threads)
# False positive of GCC 12 for Asio's operator new and delete of coroutine frames.
target_compile_options(postrider_boost INTERFACE -Wno-mismatched-new-delete)
