#include "runtime/observability/unwritten_alerts.h"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

constexpr WallTime noon = wall_from_unix_ms(1'767'268'800'000);

AlertId id_of(std::uint8_t number) { return AlertId{{number}}; }

Alert make_alert(std::uint8_t number, AlertKind kind = AlertKind::store_failing) {
  return {.id = id_of(number),
          .subject = {kind, std::nullopt},
          .tenant_id = std::nullopt,
          .raised_at = noon,
          .resolved_at = std::nullopt,
          .detail = "It happened.",
          .measure = std::nullopt,
          .webhook_name = std::nullopt,
          .webhook_url = std::nullopt};
}

class BrokenAlertReader final : public AlertReader {
 public:
  Result<Listed<Alert>> list_alerts(const AlertFilter&, const Page&) override {
    return fail(Errc::unavailable, "The disk is full.");
  }
};

class UnwrittenAlertsTest : public testing::Test {
 protected:
  std::vector<int> list(const AlertFilter& filter = {}, const Page& page = {}) {
    const Result<Listed<Alert>> listed = reader_->list_alerts(filter, page);
    EXPECT_TRUE(listed.has_value());
    next_ = listed ? listed->next : std::nullopt;
    std::vector<int> numbers;
    for (const Alert& alert : listed ? listed->items : std::vector<Alert>{}) {
      numbers.push_back(static_cast<int>(alert.id.bytes[0]));
    }
    return numbers;
  }
  void store(std::uint8_t number) { ASSERT_TRUE(roles_.alerts->raise(make_alert(number))); }

  MemoryStore store_;
  Store roles_ = make_memory_store(store_);
  std::shared_ptr<UnwrittenAlerts> unwritten_ = std::make_shared<UnwrittenAlerts>();
  std::unique_ptr<AlertReader> reader_ =
      with_unwritten(make_memory_alert_reader(store_), unwritten_);
  std::optional<std::int64_t> next_;
};

using Numbers = std::vector<int>;

TEST_F(UnwrittenAlertsTest, AreListedBeforeTheStoredOnes) {
  store(1);
  store(2);
  EXPECT_EQ(list(), (Numbers{2, 1}));
  unwritten_->raise(make_alert(3));
  unwritten_->raise(make_alert(4));
  EXPECT_EQ(list(), (Numbers{4, 3, 2, 1}));
  EXPECT_EQ(next_, std::nullopt);
}

TEST_F(UnwrittenAlertsTest, AreListedOnceWhenTheyAreStored) {
  store(1);
  unwritten_->raise(make_alert(2));
  ASSERT_TRUE(roles_.alerts->raise(make_alert(2))) << "written while a reader lists";
  EXPECT_EQ(list(), (Numbers{2, 1}));
  ASSERT_TRUE(unwritten_->write(roles_));
  EXPECT_TRUE(unwritten_->empty());
  EXPECT_EQ(list(), (Numbers{2, 1}));
}

TEST_F(UnwrittenAlertsTest, ArePagedByCursor) {
  store(1);
  store(2);
  for (const int number : {3, 4, 5}) {
    unwritten_->raise(make_alert(static_cast<std::uint8_t>(number)));
  }
  Numbers all;
  Page page{.limit = 2};
  for (int pages = 0; pages < 10; ++pages) {
    const Numbers some = list({}, page);
    EXPECT_LE(some.size(), 2u);
    all.insert(all.end(), some.begin(), some.end());
    if (!next_) {
      break;
    }
    page.before = next_;
  }
  EXPECT_EQ(all, (Numbers{5, 4, 3, 2, 1}));
}

TEST_F(UnwrittenAlertsTest, AFullPageWithNothingAfterItIsTheLast) {
  unwritten_->raise(make_alert(1));
  unwritten_->raise(make_alert(2));
  EXPECT_EQ(list({}, {.limit = 2}), (Numbers{2, 1}));
  EXPECT_EQ(next_, std::nullopt);
  store(3);
  EXPECT_EQ(list({}, {.limit = 2}), (Numbers{2, 1}));
  EXPECT_NE(next_, std::nullopt);
}

TEST_F(UnwrittenAlertsTest, ArePagedByOffset) {
  store(1);
  store(2);
  unwritten_->raise(make_alert(3));
  unwritten_->raise(make_alert(4));
  EXPECT_EQ(list({}, {.limit = 2, .offset = 1}), (Numbers{3, 2}));
  EXPECT_EQ(list({}, {.limit = 2, .offset = 3}), (Numbers{1}));
  EXPECT_EQ(list({}, {.limit = 2, .offset = 9}), (Numbers{}));
}

TEST_F(UnwrittenAlertsTest, ACursorStaysValidWhenTheyAreWritten) {
  store(1);
  unwritten_->raise(make_alert(2));
  EXPECT_EQ(list({}, {.limit = 1}), (Numbers{2}));
  ASSERT_TRUE(next_);
  ASSERT_TRUE(unwritten_->write(roles_));
  EXPECT_EQ(list({}, {.limit = 5, .before = next_}), (Numbers{2, 1})) << "nothing is left out";
}

TEST_F(UnwrittenAlertsTest, AreFiltered) {
  unwritten_->raise(make_alert(1));
  unwritten_->raise(make_alert(2, AlertKind::queue_deep));
  EXPECT_EQ(list({.kinds = {AlertKind::queue_deep}}), (Numbers{2}));
  unwritten_->resolve(id_of(1), noon + 1s);
  EXPECT_EQ(list({.active = true}), (Numbers{2}));
  EXPECT_EQ(list({.active = false}), (Numbers{1}));
  EXPECT_EQ(list({.tenant_id = "acme"}), (Numbers{}));
}

TEST_F(UnwrittenAlertsTest, ChangesOfStoredAlertsAreShown) {
  store(1);
  store(2);
  Alert counted = make_alert(1);
  counted.detail = "It happened again.";
  unwritten_->update(counted);
  unwritten_->resolve(id_of(2), noon + 1s);
  const Result<Listed<Alert>> listed = reader_->list_alerts({}, {});
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->items.size(), 2u);
  EXPECT_EQ(listed->items[0].resolved_at, noon + 1s);
  EXPECT_EQ(listed->items[1].detail, "It happened again.");
  EXPECT_EQ(list({.active = true}), (Numbers{1}));
}

TEST_F(UnwrittenAlertsTest, ANotificationIsStoredBeforeWhatBecameOfIt) {
  Notification sent;
  sent.id = NotificationId{{1}};
  unwritten_->settle({{.id = sent.id, .state = NotificationState::sent, .attempts = 1}});
  unwritten_->notify({sent});
  EXPECT_FALSE(unwritten_->empty());
  ASSERT_TRUE(unwritten_->write(roles_));
  EXPECT_TRUE(unwritten_->empty());
  ASSERT_EQ(store_.notifications.size(), 1u);
  EXPECT_EQ(store_.notifications.begin()->second.state, NotificationState::sent);
}

TEST_F(UnwrittenAlertsTest, AreListedEvenIfTheStoreCannotBeRead) {
  const auto reader = with_unwritten(std::make_unique<BrokenAlertReader>(), unwritten_);
  EXPECT_FALSE(reader->list_alerts({}, {})) << "there is nothing to show";
  unwritten_->raise(make_alert(1));
  const Result<Listed<Alert>> listed = reader->list_alerts({}, {});
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->items.size(), 1u);
}

}  // namespace
}  // namespace postrider
