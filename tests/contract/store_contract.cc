#include "tests/contract/store_contract.h"

namespace postrider::test {

BatchReceipt StoreContract::commit(const Batch& batch) {
  Result<BatchReceipt> receipt = ledger().commit(batch);
  EXPECT_TRUE(receipt.has_value()) << receipt.error().message;
  return receipt ? *std::move(receipt) : BatchReceipt{};
}

PublishReceipt StoreContract::publish(const std::vector<WebhookId>& to,
                                      const PublishOptions& options) {
  const BatchReceipt receipt = commit({.publishes = {script_.publish(to, options)}});
  EXPECT_EQ(receipt.publishes.size(), 1u);
  return receipt.publishes.empty() ? PublishReceipt{Refused{}} : receipt.publishes.front();
}

Delivery StoreContract::accept(WebhookId to, const PublishOptions& options) {
  const PublishReceipt receipt = publish({to}, options);
  const Accepted* accepted = std::get_if<Accepted>(&receipt);
  EXPECT_NE(accepted, nullptr);
  return accepted == nullptr ? Delivery{} : accepted->deliveries.front();
}

void StoreContract::settle(const Settlement& settlement) { commit({.settlements = {settlement}}); }

Result<Delivery> StoreContract::revive(const Revive& order) {
  return commit({.revivals = {order}}).revivals.front();
}

Result<Delivery> StoreContract::cancel(DeliveryId id) {
  return commit({.cancels = {{id, script_.now}}}).cancels.front();
}

std::optional<Delivery> StoreContract::add_late_delivery(EventId event, WebhookId to) {
  return commit({.late_deliveries = {script_.add_late_delivery(event, to)}})
      .late_deliveries.front();
}

LanePage StoreContract::load(const LoadLane& query) {
  Result<LanePage> page = ledger().load_lane(query);
  EXPECT_TRUE(page.has_value()) << page.error().message;
  return page ? *std::move(page) : LanePage{};
}

BroughtForward ReschedulingContract::bring_forward(const BringForward& order) {
  Result<BroughtForward> step = ledger().bring_forward(order);
  EXPECT_TRUE(step.has_value()) << step.error().message;
  return step ? *std::move(step) : BroughtForward{};
}

DeliveryRecord StoreContract::record(DeliveryId id) {
  Result<DeliveryRecord> found = history().find_delivery(id);
  EXPECT_TRUE(found.has_value()) << found.error().message;
  return found ? *std::move(found) : DeliveryRecord{};
}

std::vector<Attempt> StoreContract::attempts(DeliveryId id) {
  Result<std::vector<Attempt>> found = history().attempts_of(id);
  EXPECT_TRUE(found.has_value()) << found.error().message;
  return found ? *std::move(found) : std::vector<Attempt>{};
}

Listed<Alert> StoreContract::list_alerts(const AlertFilter& filter, const Page& page) {
  const Result<Listed<Alert>> listed = store_->reader().alerts->list_alerts(filter, page);
  EXPECT_TRUE(listed.has_value());
  return listed.value_or(Listed<Alert>{});
}

ChannelId NotificationContract::add_channel(const NotificationChannel& channel) {
  EXPECT_TRUE(writer().put_channel(channel).has_value());
  return channel.id;
}

Listed<Notification> NotificationContract::list(const NotificationFilter& filter,
                                                const Page& page) {
  const Result<Listed<Notification>> listed = reader().list_notifications(filter, page);
  EXPECT_TRUE(listed.has_value());
  return listed.value_or(Listed<Notification>{});
}

std::optional<KeyUse> RequestKeysContract::find(const std::string& caller, const std::string& key,
                                                WallTime now) {
  const Result<std::optional<KeyUse>> found = store_->reader().request_keys->find(caller, key, now);
  EXPECT_TRUE(found.has_value());
  return found.value_or(std::nullopt);
}

}  // namespace postrider::test
