#include "engine/admin/operation_shares.h"

#include <gtest/gtest.h>

#include "engine/admin/operation_step.h"

namespace postrider {
namespace {

Operation of(const std::optional<TenantId>& tenant_id) {
  Operation operation;
  operation.tenant_id = tenant_id;
  return operation;
}

const ShareOwner boss{};
const ShareOwner acme{ShareKind::tenant, "acme"};

TEST(OperationShares, OneTenantCannotHaveAllOfThem) {
  std::vector<Operation> unfinished;
  while (check_room(unfinished, of("acme"), acme)) {
    unfinished.push_back(of("acme"));
  }
  EXPECT_EQ(unfinished.size(), unfinished_max / 4);
  const Result<void> refused = check_room(unfinished, of("acme"), acme);
  EXPECT_EQ(refused.error().code, Errc::conflict);
  EXPECT_EQ(refused.error().message,
            "The limit of tenant `acme` is reached: 25 unfinished operations of the server's 100. "
            "Wait for one to end, or cancel one.");
  EXPECT_TRUE(check_room(unfinished, of("other"), {ShareKind::tenant, "other"}));
  EXPECT_TRUE(check_room(unfinished, of("acme"), boss)) << "the operator, for that tenant";
}

TEST(OperationShares, TheOperatorHasRoomUntilAllAreTaken) {
  std::vector<Operation> unfinished(unfinished_max - 1, of("acme"));
  EXPECT_FALSE(check_room(unfinished, of("other"), {ShareKind::tenant, "other"}));
  EXPECT_TRUE(check_room(unfinished, of(std::nullopt), boss));
  unfinished.push_back(of(std::nullopt));
  EXPECT_EQ(check_room(unfinished, of(std::nullopt), boss).error().message,
            "The server's limit of 100 unfinished operations is reached. Wait for one to end, or "
            "cancel one.");
}

TEST(OperationShares, OneTenantCannotHoldEveryRunningPlace) {
  std::vector<ShareOwner> running;
  while (may_begin(running, acme)) {
    running.push_back(acme);
  }
  EXPECT_EQ(running.size(), running_max / 4);
  EXPECT_TRUE(may_begin(running, {ShareKind::tenant, "other"}));
  EXPECT_TRUE(may_begin(running, boss));
}

}  // namespace
}  // namespace postrider
