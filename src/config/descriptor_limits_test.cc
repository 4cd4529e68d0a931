#include "config/descriptor_limits.h"

#include <gtest/gtest.h>

namespace postrider::config {
namespace {

const SocketLimits defaults{.in_flight = 4'096, .idle = 1'024, .connections = 10'000};

std::uint64_t sockets(const SocketLimits& limits) {
  return std::uint64_t{limits.in_flight} + limits.idle + limits.connections +
         extra_connections_that_fit(limits.connections);
}

TEST(DescriptorLimits, NothingChangesIfEverythingFits) {
  EXPECT_EQ(descriptors_needed(defaults, 1), 32u + 4'096 + 1'024 + 10'000 + 256);
  for (const std::uint64_t descriptors :
       {std::uint64_t{15'408}, std::uint64_t{1'048'576}, ~std::uint64_t{0}}) {
    EXPECT_EQ(fit_to_descriptors(defaults, 1, descriptors), defaults);
  }
  EXPECT_NE(fit_to_descriptors(defaults, 1, 15'407), defaults);
}

TEST(DescriptorLimits, WebhooksAndClientsHaveHalfEach) {
  struct Case {
    std::uint64_t descriptors;
    SocketLimits want;
  };
  const Case cases[] = {
      {64, {.in_flight = 12, .idle = 4, .connections = 15}},
      {256, {.in_flight = 84, .idle = 28, .connections = 100}},
      {1'024, {.in_flight = 372, .idle = 124, .connections = 441}},
      {4'096, {.in_flight = 1'524, .idle = 508, .connections = 1'807}},
  };
  for (const Case& each : cases) {
    const SocketLimits fitted = fit_to_descriptors(defaults, 1, each.descriptors);
    EXPECT_EQ(fitted, each.want) << each.descriptors << ": " << fitted.in_flight << " "
                                 << fitted.idle << " " << fitted.connections;
    EXPECT_LE(sockets(fitted) + 32, each.descriptors);
  }
}

TEST(DescriptorLimits, WhatOneSideDoesNotWantIsLeftForTheOther) {
  const SocketLimits few_clients =
      fit_to_descriptors({.in_flight = 4'096, .idle = 1'024, .connections = 9}, 1, 256);
  EXPECT_EQ(few_clients, (SocketLimits{.in_flight = 161, .idle = 53, .connections = 9}));
  const SocketLimits few_requests =
      fit_to_descriptors({.in_flight = 8, .idle = 4, .connections = 10'000}, 1, 256);
  EXPECT_EQ(few_requests.in_flight, 8u);
  EXPECT_EQ(few_requests.idle, 4u);
  EXPECT_GT(few_requests.connections, 180u);
  EXPECT_LE(sockets(few_requests) + 32, 256u);
}

TEST(DescriptorLimits, NeverExceedTheDescriptorsNorWhatIsWanted) {
  for (std::uint64_t descriptors = 48; descriptors < 20'000; descriptors += 7) {
    const SocketLimits fitted = fit_to_descriptors(defaults, 1, descriptors);
    EXPECT_LE(sockets(fitted) + 32, descriptors) << descriptors;
    EXPECT_LE(fitted.in_flight, defaults.in_flight);
    EXPECT_LE(fitted.idle, defaults.idle);
    EXPECT_LE(fitted.connections, defaults.connections);
    EXPECT_GE(fitted.in_flight, 2u);
    EXPECT_GE(fitted.connections, 2u);
  }
}

TEST(DescriptorLimits, KeepAMinimumWithHardlyAnyDescriptors) {
  for (const std::uint64_t descriptors : {0, 1, 32, 33}) {
    EXPECT_EQ(fit_to_descriptors(defaults, 1, descriptors),
              (SocketLimits{.in_flight = 2, .idle = 0, .connections = 2}));
  }
  EXPECT_EQ(fit_to_descriptors({.in_flight = 1, .idle = 0, .connections = 1}, 1, 0),
            (SocketLimits{.in_flight = 1, .idle = 0, .connections = 1}));
}

TEST(DescriptorLimits, IoThreadsTakeAtMostAQuarter) {
  EXPECT_EQ(io_threads_that_fit(1, 64), 1u);
  EXPECT_EQ(io_threads_that_fit(63, 64), 2u);
  EXPECT_EQ(io_threads_that_fit(63, 256), 8u);
  EXPECT_EQ(io_threads_that_fit(63, 1'048'576), 63u);
  EXPECT_EQ(io_threads_that_fit(4, 0), 1u);
}

}  // namespace
}  // namespace postrider::config
