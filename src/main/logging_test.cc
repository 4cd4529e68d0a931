#include "main/logging.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "core/base/assert.h"

namespace postrider {
namespace {

config::Config config_with(config::LogFormat format) {
  config::Config config;
  config.log_format = format;
  return config;
}

void log_and_fail(config::LogFormat format) {
  set_up_logging(config_with(format));
  spdlog::info("a.b c=1");
  POSTRIDER_ASSERT(format == config::LogFormat{9});
}

void fail_unexpectedly() { throw std::runtime_error{"a \"b\""}; }

void log_and_throw() noexcept {
  set_up_logging(config_with(config::LogFormat::json));
  fail_unexpectedly();
}

// The lines before the crash are written as well.
TEST(LoggingDeathTest, AFailedAssertionIsReportedInTheFormatOfTheLog) {
  EXPECT_DEATH(log_and_fail(config::LogFormat::text),
               "level=info a.b c=1\n.*logging_test.cc:[0-9]+: assertion failed: format ==");
  EXPECT_DEATH(log_and_fail(config::LogFormat::json),
               "\"message\":\"a.b\",\"c\":\"1\"}\n[{]\"time\":\"[^\"]+\",\"level\":\"critical\","
               "\"message\":\"server.crashed\",\"reason\":\"[^\"]*assertion failed");
}

TEST(LoggingDeathTest, AnUncaughtExceptionIsReportedInTheFormatOfTheLog) {
  EXPECT_DEATH(log_and_throw(), "\"message\":\"server.crashed\",\"reason\":\"a ..b..\"}\n");
}

TEST(Logging, SaysWhyTheServerDoesNotStart) {
  testing::internal::CaptureStderr();
  report_start_failure(config::LogFormat::text, "Cannot \"listen\".");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "postrider: Cannot \"listen\".\n");
  testing::internal::CaptureStderr();
  report_start_failure(config::LogFormat::json, "Cannot \"listen\".");
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_EQ(line.substr(line.find(",\"level\"")),
            R"(,"level":"error","message":"server.start_failed","reason":"Cannot \"listen\"."})"
            "\n");
}

}  // namespace
}  // namespace postrider
