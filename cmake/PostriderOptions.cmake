# Warnings, hardening, sanitizers: everything that is a compiler flag and not a library.
set(POSTRIDER_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")
option(POSTRIDER_COVERAGE "Record line coverage" OFF)

# By default ccache preprocesses every file once more to learn what it reads; the compiler tells it
# anyway.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# Debug info is dear in link time and disk; line tables are enough for a backtrace or a profile.
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -fno-omit-frame-pointer")

# Designated initialisers leave out what keeps its default; that is their point.
add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Werror -Wno-missing-field-initializers)
# GCC 12 warns of impossible overlaps in `"text" + std::string` at -O2 (its bug 105651), and takes
# an empty std::optional<std::string> inside a temporary for an uninitialized one (its bug 80635).
add_compile_options(-Wno-restrict -Wno-maybe-uninitialized)
add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
add_link_options(-Wl,-z,relro,-z,now)

if(POSTRIDER_SANITIZE)
  add_compile_options(-fsanitize=${POSTRIDER_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${POSTRIDER_SANITIZE})
  # GCC's flow analysis sees impossible paths through instrumented code.
  add_compile_options(-Wno-stringop-overflow -Wno-array-bounds)
endif()
if(POSTRIDER_SANITIZE MATCHES thread)
  # TSan does not understand fences; without them Asio relies on its mutexes, which TSan does.
  add_compile_options(-Wno-tsan)
  add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
if(POSTRIDER_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
