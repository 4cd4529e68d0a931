#include "api/resources/route_meters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

namespace postrider::api {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

/// `method route status count` of each counter.
Lines counts_of(const std::vector<MetricSample>& samples) {
  Lines counts;
  for (const MetricSample& sample : samples) {
    if (!sample.histogram) {
      counts.push_back(fmt::format("{} {} {} {}", sample.labels[0].second, sample.labels[1].second,
                                   sample.labels[2].second, sample.value));
    }
  }
  return counts;
}

TEST(RouteMeters, ShowTheRoutesThatHadRequests) {
  RouteMeters meters;
  RouteMeter& list = meters.of("GET", "/v1/webhooks");
  (void)meters.of("POST", "/v1/webhooks");
  EXPECT_TRUE(meters.samples().empty());
  list.record(200, 3ms);
  list.record(404, 2s);
  EXPECT_EQ(&meters.of("GET", "/v1/webhooks"), &list);

  const std::vector<MetricSample> samples = meters.samples();
  EXPECT_EQ(counts_of(samples), (Lines{"GET /v1/webhooks 2xx 1", "GET /v1/webhooks 4xx 1"}));
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[2].name, "postrider_api_request_seconds");
  EXPECT_EQ(samples[2].histogram->count, 2u);
  EXPECT_DOUBLE_EQ(samples[2].histogram->sum, 2.003);
}

TEST(RouteMeters, SurviveAStatusThatIsNone) {
  RouteMeters meters;
  meters.of("GET", "/").record(999, 1ms);
  EXPECT_TRUE(counts_of(meters.samples()).empty());
  EXPECT_EQ(meters.samples().size(), 1u);
}

TEST(RouteMeters, CountWhatTheApiAnswers) {
  ApiWorld world;
  const std::string id = world.make_webhook();
  world.call("GET", "/v1/webhooks/" + id);
  world.call("HEAD", "/v1/webhooks/" + id);
  world.call("GET", "/v1/webhooks/whk_none");
  world.call("GET", "/v1/webhooks", {}, {{"authorization", "Bearer wrong"}});
  world.call("GET", "/no-such-path");
  EXPECT_EQ(counts_of(world.request_samples()),
            (Lines{"POST /v1/webhooks 2xx 1", "GET /v1/webhooks 4xx 1",
                   "GET /v1/webhooks/{id} 2xx 2", "GET /v1/webhooks/{id} 4xx 1"}));
}

}  // namespace
}  // namespace postrider::api
