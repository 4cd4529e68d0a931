#include "main/store_incident.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"
#include "adapters/openssl/digest.h"

namespace postrider {
namespace {

using testing::HasSubstr;

const WallTime now = wall_from_unix_ms(1'700'000'000'000);
const AlertId id{Uuid{1}};

class StoreIncidentTest : public testing::Test {
 protected:
  StoreIncidentTest() { memory_.digest = sha256; }

  void record(std::optional<StoreIncident> incident) {
    Store store = make_memory_store(memory_);
    store.incident = std::move(incident);
    ASSERT_TRUE(record_incident(store, id, now).has_value());
  }

  MemoryStore memory_;
};

TEST_F(StoreIncidentTest, ACompleteStoreIsNothingToRecord) {
  record(std::nullopt);
  EXPECT_TRUE(memory_.audit.empty());
  EXPECT_TRUE(memory_.alerts.empty());
}

TEST_F(StoreIncidentTest, AcceptedLossIsAuditedAndAnAlertUntilTheNextStart) {
  record(StoreIncident{.kind = StoreIncident::Kind::data_loss, .detail = "5 \"are\" gone."});
  ASSERT_EQ(memory_.audit.size(), 1u);
  EXPECT_EQ(memory_.audit[0].entry.action, "store.data_loss_accepted");
  EXPECT_EQ(memory_.audit[0].entry.detail, R"({"found":"5 \"are\" gone."})");
  ASSERT_EQ(memory_.alerts.size(), 1u);
  const Alert& alert = memory_.alerts.begin()->second;
  EXPECT_EQ(alert.subject, (AlertSubject{AlertKind::store_data_lost, std::nullopt}));
  EXPECT_THAT(alert.detail, HasSubstr("5 \"are\" gone."));
  EXPECT_FALSE(alert.resolved_at.has_value());

  record(std::nullopt);
  EXPECT_EQ(alert.resolved_at, now);
}

TEST_F(StoreIncidentTest, ARestoreIsAuditedOnly) {
  record(StoreIncident{.kind = StoreIncident::Kind::restored, .detail = "A backup."});
  ASSERT_EQ(memory_.audit.size(), 1u);
  EXPECT_EQ(memory_.audit[0].entry.action, "store.restored");
  EXPECT_TRUE(memory_.alerts.empty());
}

}  // namespace
}  // namespace postrider
