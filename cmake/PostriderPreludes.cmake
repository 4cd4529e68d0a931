# Preludes: precompiled headers shared by groups of targets. Only release builds use them
# (CMakePresets.json); the other builds check that every file includes what it needs.
file(CONFIGURE OUTPUT prelude.cc CONTENT "")  # A target needs a source.

# Tests are compiled more often than they run: less optimization saves a fifth of their time.
set(postrider_test_options $<$<CONFIG:Release>:-O1>)

# postrider_prelude(NAME HEADERS ... LINK ... [OPTIONS ...])
function(postrider_prelude name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  set(target postrider_prelude_${name})
  add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/prelude.cc)
  target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
  target_link_libraries(${target} PRIVATE ${ARG_LINK})
  target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
endfunction()

# postrider_read_prelude(TARGET NAME)
function(postrider_read_prelude target name)
  target_precompile_headers(${target} REUSE_FROM postrider_prelude_${name})
endfunction()

# With a precompiled header, GCC 12 at -O2 reports false positives in system headers.
if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  add_compile_options(-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

set(standard_headers <algorithm> <chrono> <functional> <map> <memory> <optional> <string>
  <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
set(standard_libraries fmt::fmt tl::expected)
set(test_headers <gtest/gtest.h> <rapidcheck.h>)
set(test_libraries GTest::gtest rapidcheck)

postrider_prelude(standard HEADERS ${standard_headers} LINK ${standard_libraries})
postrider_prelude(asio
  HEADERS ${standard_headers} <boost/asio/awaitable.hpp> <boost/asio/steady_timer.hpp>
  LINK ${standard_libraries} postrider_boost)
postrider_prelude(runtime
  HEADERS ${standard_headers} <boost/asio/awaitable.hpp> <boost/asio/steady_timer.hpp>
    <spdlog/spdlog.h> <ports/store.h>
  LINK ${standard_libraries} postrider_boost postrider_ports spdlog::spdlog)
# Nearly every file of the API includes this header of the runtime.
postrider_prelude(api
  HEADERS ${standard_headers} <boost/asio/awaitable.hpp> <boost/asio/steady_timer.hpp>
    <runtime/admin/service.h>
  LINK ${standard_libraries} postrider_runtime Boost::json)
postrider_prelude(json
  HEADERS ${standard_headers} <boost/json/value.hpp>
  LINK ${standard_libraries} postrider_boost)
postrider_prelude(test
  HEADERS ${standard_headers} ${test_headers}
  LINK ${standard_libraries} ${test_libraries}
  OPTIONS ${postrider_test_options})
postrider_prelude(asio_test
  HEADERS ${standard_headers} ${test_headers} <boost/asio/awaitable.hpp> <boost/json/value.hpp>
  LINK ${standard_libraries} ${test_libraries} postrider_boost
  OPTIONS ${postrider_test_options})
postrider_prelude(service_test
  HEADERS ${standard_headers} ${test_headers} <boost/asio/awaitable.hpp> <boost/json/value.hpp>
    <runtime/admin/service.h>
  LINK ${standard_libraries} ${test_libraries} postrider_runtime Boost::json
  OPTIONS ${postrider_test_options})
