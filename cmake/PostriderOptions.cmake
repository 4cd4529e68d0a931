# Compiler flags: warnings, hardening, sanitizers.
set(POSTRIDER_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")
option(POSTRIDER_COVERAGE "Record line coverage" OFF)
option(POSTRIDER_FUZZ "Build the libFuzzer targets in tests/fuzz (clang only)" OFF)

# Depend mode: ccache takes the headers from the compiler's dependency file and skips preprocessing.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# Full debug information costs link time and disk; line tables are enough for a backtrace or a
# profile.
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -fno-omit-frame-pointer")

# Designated initialisers may omit members with a default value.
add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Werror -Wno-missing-field-initializers)
# False positives of GCC 12: overlaps in `"text" + std::string` at -O2 (GCC bug 105651), and an
# empty std::optional<std::string> in a temporary reported as uninitialized (GCC bug 80635).
add_compile_options(-Wno-restrict -Wno-maybe-uninitialized)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wno-unknown-warning-option)  # The options above are GCC's.
endif()
add_compile_options(-fstack-protector-strong -fstack-clash-protection -fcf-protection)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
else()
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
add_link_options(-Wl,-z,relro,-z,now)

if(POSTRIDER_SANITIZE)
  add_compile_options(-fsanitize=${POSTRIDER_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${POSTRIDER_SANITIZE})
  # False positives of GCC's flow analysis in instrumented code.
  add_compile_options(-Wno-stringop-overflow -Wno-array-bounds)
endif()
if(POSTRIDER_SANITIZE MATCHES undefined)
  # This check opens a pipe to look at memory. It fails without free descriptors, which some tests
  # use up.
  add_compile_options(-fno-sanitize=vptr)
endif()
if(POSTRIDER_SANITIZE MATCHES thread)
  # TSan does not support fences. Without them Asio uses mutexes, which TSan supports.
  add_compile_options(-Wno-tsan)
  add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
if(POSTRIDER_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(POSTRIDER_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
