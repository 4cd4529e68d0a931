#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

class SourceRoutesTest : public testing::Test {
 protected:
  SourceRoutesTest() {
    SourceView shop{.name = "shop",
                    .kind = "outbox",
                    .state = SourceState::connected,
                    .since = world_.service().moment.wall};
    shop.lag = {.messages = 12, .oldest_age = Millis{1'500}};
    shop.counts = {
        .received = 9, .stored = 4, .duplicates = 3, .rejected = 1, .deferred = 1, .reconnects = 2};
    shop.last_event_at = world_.service().moment.wall;
    SourceView mq{.name = "mq",
                  .kind = "amqp",
                  .state = SourceState::failing,
                  .since = world_.service().moment.wall,
                  .reason = "Refused by \"mq\\\xff\"."};
    world_.service().source_views = {shop, mq};
  }

  ApiWorld world_;
};

TEST_F(SourceRoutesTest, ListsSourcesWithTheirStates) {
  const Answer answer = world_.call("GET", "/v1/sources");
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.body.starts_with(
      R"({"data":[{"name":"shop","kind":"outbox","state":"connected",)"
      R"("since":"2026-01-01T00:00:00.000Z","reason":null,)"
      R"("lag":{"messages":12,"oldest_age_ms":1500},"received":9,"stored":4,"duplicates":3,)"
      R"("rejected":1,"deferred":1,"reconnects":2,"last_event_at":"2026-01-01T00:00:00.000Z"},)"))
      << answer.body;
  EXPECT_EQ(answer.at("data.1.state"), "failing");
  EXPECT_EQ(answer.at("data.1.reason"), "Refused by \"mq\\\xEF\xBF\xBD\".");
  EXPECT_EQ(answer.at("data.1.lag.messages"), "null");
  EXPECT_EQ(answer.at("data.1.last_event_at"), "null");
  EXPECT_EQ(world_.call("GET", "/v1/sources?x=1").status, 400);
}

TEST_F(SourceRoutesTest, PausesAndResumesASource) {
  const Answer paused = world_.call("POST", "/v1/sources/shop/pause");
  EXPECT_EQ(paused.status, 200);
  EXPECT_EQ(paused.at("state"), "paused");
  EXPECT_EQ(world_.call("GET", "/v1/sources").at("data.0.state"), "paused");
  EXPECT_EQ(world_.call("POST", "/v1/sources/shop/resume", "{}").at("state"), "reconnecting");
  const Answer audit = world_.call("GET", "/v1/audit-log");
  EXPECT_EQ(audit.at("data.0.action"), "source.resume");
  EXPECT_EQ(audit.at("data.1.action"), "source.pause");
  EXPECT_EQ(audit.at("data.1.subject"), "shop");
}

TEST_F(SourceRoutesTest, RefusesWhatItCannotDo) {
  const Answer unknown = world_.call("POST", "/v1/sources/none/pause");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.at("detail"), "There is no source `none`.");
  EXPECT_EQ(world_.call("POST", "/v1/sources/shop/pause", R"({"for":1})").status, 422);
  EXPECT_EQ(world_.call("POST", "/v1/sources/shop/pause?x=1").status, 400);
  EXPECT_EQ(world_.call("GET", "/v1/sources").at("data.0.state"), "connected");
  EXPECT_EQ(world_.call("GET", "/v1/audit-log").body.find("source."), std::string::npos);
}

TEST_F(SourceRoutesTest, ReadinessListsSourcesOnRequest) {
  EXPECT_EQ(world_.call("GET", "/readyz").body, R"({"status":"ready"})");
  EXPECT_EQ(world_.call("GET", "/readyz?verbose=false").body, R"({"status":"ready"})");
  const std::string expected =
      R"({"status":"ready","sources":[)"
      R"({"name":"shop","kind":"outbox","state":"connected","since":"2026-01-01T00:00:00.000Z"},)"
      R"({"name":"mq","kind":"amqp","state":"failing","since":"2026-01-01T00:00:00.000Z"}]})";
  EXPECT_EQ(world_.call("GET", "/readyz?verbose").body, expected);
  EXPECT_EQ(world_.call("GET", "/readyz?verbose=true").body, expected);
  EXPECT_EQ(world_.call("GET", "/readyz?verbose").status, 200) << "although a source is failing";
  world_.service().why_not_ready = "The server is shutting down.";
  EXPECT_EQ(world_.call("GET", "/readyz?verbose").status, 503);
}

}  // namespace
}  // namespace postrider::api
