#include <gtest/gtest.h>

#include "api/resources/api_world_test.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

constexpr NodeId self{{1}};
constexpr NodeId other{{2}};
constexpr NodeId elsewhere{{3}};

ClusterNode node(NodeId id, std::string pool, std::string address) {
  return {.identity = {.id = id, .pool = std::move(pool), .address = std::move(address)},
          .leaving = id == other,
          .turns = 5,
          .age = Millis{60'000},
          .left = Millis{14'000}};
}

class NodeRoutesTest : public testing::Test {
 protected:
  void share(std::vector<ClusterNode> nodes) {
    ClusterStatus status{
        .self = self,
        .view = {.nodes = std::move(nodes), .leases = std::vector<Lease>(shard_count)}};
    for (std::size_t shard = 0; shard < 200; ++shard) {
      status.view.leases[shard] = {.owner = shard < 150 ? self : other, .epoch = 1};
    }
    status.view.leases[0].expired = true;
    world_.service().cluster_status = std::move(status);
  }

  ApiWorld world_;
};

TEST_F(NodeRoutesTest, ListsTheServersThatShareTheStore) {
  share({node(self, "", "hooks-1:8080"), node(other, "", "hooks-2:8080"),
         node(elsewhere, "eu", "eu-1:8080")});
  const Answer answer = world_.call("GET", "/v1/nodes");
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(
      answer.body.starts_with(R"({"shared":true,"data":[{"id":")" + self.to_string() +
                              R"(","pool":"","address":"hooks-1:8080","self":true,"leaving":false,)"
                              R"("age_ms":60000,"expires_in_ms":14000,"shards":149},)"))
      << answer.body;
  EXPECT_EQ(answer.at("data.1.id"), other.to_string());
  EXPECT_EQ(answer.at("data.1.self"), "false");
  EXPECT_EQ(answer.at("data.1.leaving"), "true");
  EXPECT_EQ(answer.at("data.1.shards"), "50");
  EXPECT_EQ(answer.at("data.2.pool"), "eu");
  EXPECT_EQ(answer.at("data.2.shards"), "null") << "the leases of another pool are not known";
  EXPECT_EQ(answer.at("pool_shards_free"), "57");
}

TEST_F(NodeRoutesTest, AServerThatHasExpiredKnowsNoShards) {
  share({node(other, "", "hooks-2:8080")});
  const Answer answer = world_.call("GET", "/v1/nodes");
  EXPECT_EQ(answer.at("data.0.self"), "false");
  EXPECT_EQ(answer.at("data.0.shards"), "null");
}

TEST_F(NodeRoutesTest, AnEmbeddedStoreHasNoServersThatShareIt) {
  const Answer answer = world_.call("GET", "/v1/nodes");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"shared":false,"data":[],"pool_shards_free":null})");
  EXPECT_EQ(world_.call("GET", "/v1/nodes?x=1").status, 400);
}

}  // namespace
}  // namespace postrider::api
