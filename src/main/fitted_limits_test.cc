#include "main/fitted_limits.h"

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(FitLimits, LeavesTheConfigurationAloneIfItFits) {
  const FittedLimits fitted = fit_limits({}, 2, 1'048'576);
  EXPECT_FALSE(fitted.is_lowered);
  EXPECT_EQ(fitted.config.engine.in_flight_max, 4'096u);
  EXPECT_EQ(fitted.config.api.connections_max, 10'000u);
  EXPECT_EQ(fitted.config.api.extra_connections_max, 256u);
  EXPECT_EQ(fitted.config.io_threads, 1u);
  EXPECT_EQ(fitted.idle_per_thread, 1'024u);
}

TEST(FitLimits, LowersWhatDoesNotFitAndSaysSo) {
  const FittedLimits fitted = fit_limits({}, 2, 64);
  EXPECT_TRUE(fitted.is_lowered);
  EXPECT_EQ(fitted.config.engine.in_flight_max, 12u);
  EXPECT_EQ(fitted.config.api.connections_max, 15u);
  EXPECT_EQ(fitted.config.api.extra_connections_max, 1u);
  EXPECT_EQ(fitted.idle_per_thread, 4u);
  const std::string line = describe(fitted, 64);
  EXPECT_NE(line.find("open_files=64 in_flight_max=12 connections_max=15"), std::string::npos);
  EXPECT_NE(line.find("Raise it to at least 15408"), std::string::npos);
}

TEST(FitLimits, LowersTheIoThreadsOfALargeMachine) {
  const FittedLimits fitted = fit_limits({}, 64, 256);
  EXPECT_EQ(fitted.config.io_threads, 8u);
  EXPECT_GE(fitted.config.engine.in_flight_max, 2u);
  EXPECT_TRUE(fitted.is_lowered);
}

TEST(FitLimits, LowersLimitsThatWereConfigured) {
  config::Config config;
  config.io_threads = 2;
  config.engine.in_flight_max = 100'000;
  config.api.connections_max = 50;
  const FittedLimits fitted = fit_limits(config, 8, 10'000);
  EXPECT_EQ(fitted.config.io_threads, 2u);
  EXPECT_EQ(fitted.config.api.connections_max, 50u);
  EXPECT_LT(fitted.config.engine.in_flight_max, 10'000u);
  EXPECT_GT(fitted.config.engine.in_flight_max, 7'000u);
  EXPECT_TRUE(fitted.is_lowered);
}

}  // namespace
}  // namespace postrider
