#include "tests/support/stored_shapes.h"

#include <variant>

#include "adapters/openssl/aes_vault.h"

namespace postrider::test {
namespace {

constexpr std::string_view canary = "canary-canary-canary";

std::shared_ptr<const Vault> vault_of(const std::string& letters) {
  std::vector<VaultKey> keys;
  for (const char letter : letters) {
    keys.emplace_back(std::string(32, letter));
  }
  return make_aes_vault(std::move(keys));
}

RequestShapeRef shape(const std::string& url) { return sample_shape(url); }

}  // namespace

Delivery StoredShapes::publish() {
  Batch batch;
  batch.publishes.push_back(script_.publish({webhook_}));
  return std::get<Accepted>(commit(batch).publishes.front()).deliveries.front();
}

void StoredShapes::attempt(Delivery& delivery, const RequestShapeRef& request) {
  script_.request = request;
  Batch batch;
  batch.settlements.push_back(script_.retry(delivery, script_.now));
  delivery = batch.settlements.front().delivery;
  commit(batch);
}

void StoredShapes::finish(Delivery& delivery, const RequestShapeRef& request) {
  script_.request = request;
  Batch batch;
  batch.settlements.push_back(script_.success(delivery));
  commit(batch);
}

BatchReceipt StoredShapes::commit(const Batch& batch) {
  Result<BatchReceipt> receipt = store().ledger->commit(batch);
  EXPECT_TRUE(receipt.has_value());
  return *std::move(receipt);
}

void StoredShapes::put_webhook() {
  ASSERT_TRUE(store().catalog->put_webhook(sample_webhook(webhook_)).has_value());
}

void StoredShapes::remove_webhook() {
  ASSERT_TRUE(store().catalog->remove_webhook(webhook_, WallTime{}).has_value());
}

void StoredShapes::remove_expired() {
  script_.now += std::chrono::hours{2};
  const RetentionCutoffs cutoffs =
      cutoffs_at({.events = std::chrono::hours{1}, .dead_letters = Millis{0}}, script_.now);
  const ExpiredPage page = reader().retention->expired_events({.cutoffs = cutoffs}).value();
  std::vector<ExpiredKey> keys;
  for (const ExpiredEvent& expired : page.items) {
    keys.push_back(key_of(expired));
  }
  ASSERT_TRUE(store().retention->remove(keys, cutoffs).has_value());
}

StoredShapes::Urls StoredShapes::urls(const Delivery& delivery) {
  Urls found;
  const auto requests = reader().history->requests_of(delivery.id);
  EXPECT_TRUE(requests.has_value());
  const auto attempts = reader().history->attempts_of(delivery.id);
  EXPECT_TRUE(attempts.has_value());
  for (const Attempt& each : *attempts) {
    const auto request = requests->find(each.number);
    found.push_back(request == requests->end() ? "none" : request->second.url);
  }
  return found;
}

std::uint32_t StoredShapes::reseal(std::uint32_t limit) {
  std::uint32_t resealed = 0;
  ResealStep step;
  do {
    step = store().catalog->reseal_webhooks(step.next, limit).value();
    resealed += step.resealed;
  } while (step.next);
  return resealed;
}

TEST_P(StoredShapes, UnchangedShapeIsStoredOnce) {
  put_webhook();
  Delivery delivery = publish();
  const RequestShapeRef same = shape("a");
  for (int i = 0; i < 5; ++i) {
    attempt(delivery, same);
    attempt(delivery, shape("a"));
  }
  shapes_->open().reopen();
  attempt(delivery, shape("a"));
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(urls(delivery), Urls(11, "a"));
}

TEST_P(StoredShapes, EachAttemptKeepsItsShapeInAnyOrderOfCompletion) {
  put_webhook();
  Delivery delivery = publish();
  const RequestShapeRef before = shape("before");
  const RequestShapeRef after = shape("after");
  for (const RequestShapeRef& each :
       {before, after, before, after, RequestShapeRef{nullptr}, before}) {
    attempt(delivery, each);
  }
  EXPECT_EQ(urls(delivery), (Urls{"before", "after", "before", "after", "none", "before"}));
  EXPECT_EQ(count(), 2);
}

TEST_P(StoredShapes, RetiredShapeIsReactivatedByANewerDelivery) {
  put_webhook();
  Delivery first = publish();
  attempt(first, shape("a"));
  attempt(first, shape("b"));
  finish(first, shape("a"));  // In flight during the change.
  EXPECT_EQ(query("SELECT number FROM request_shape WHERE named_below IS NULL"), 2);
  shapes_->skip_sequences();
  Delivery second = publish();
  finish(second, shape("a"));  // The change was undone.
  EXPECT_EQ(query("SELECT number FROM request_shape WHERE named_below IS NULL"), 1);
  EXPECT_EQ(count(), 2);
  remove_expired();
  EXPECT_EQ(query("SELECT count(*) FROM request_shape WHERE number = 1"), 1);
  EXPECT_EQ(count(), 1);
}

TEST_P(StoredShapes, ShapeOlderThanTheRecentOnesIsStoredAgain) {
  put_webhook();
  Delivery delivery = publish();
  Urls expected;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 9; ++i) {
      expected.push_back(std::to_string(i));
      attempt(delivery, shape(expected.back()));
    }
  }
  EXPECT_EQ(urls(delivery), expected);
  EXPECT_EQ(count(), 18);
}

TEST_P(StoredShapes, ShapesAreRemovedWithTheLastDeliveryThatCanReferToThem) {
  put_webhook();
  for (const char* url : {"a", "b"}) {
    Delivery old = publish();
    finish(old, shape(url));
  }
  shapes_->skip_sequences();
  Delivery waiting = publish();
  attempt(waiting, shape("b"));
  Delivery young = publish();
  finish(young, shape("c"));
  EXPECT_EQ(count(), 3);
  remove_expired();  // The waiting delivery stays, and so do all shapes that were in use since
                     // then.
  EXPECT_EQ(urls(waiting), (Urls{"b"}));
  EXPECT_EQ(query("SELECT count(*) FROM request_shape WHERE number = 1"), 0);
  EXPECT_EQ(count(), 2);
  finish(waiting, shape("c"));
  EXPECT_EQ(urls(waiting), (Urls{"b", "c"}));
  remove_expired();
  EXPECT_EQ(query("SELECT number FROM request_shape"), 3);  // The one in use.
  EXPECT_EQ(count(), 1);
}

TEST_P(StoredShapes, ShapesOfARemovedWebhookStayAsLongAsItsDeliveries) {
  put_webhook();
  Delivery delivery = publish();
  attempt(delivery, shape("a"));
  Delivery in_flight = publish();
  remove_webhook();
  finish(in_flight, shape("b"));
  EXPECT_EQ(urls(delivery), (Urls{"a"}));
  EXPECT_EQ(urls(in_flight), (Urls{"b"}));
  EXPECT_EQ(query("SELECT count(*) FROM request_shape WHERE named_below IS NULL"), 0);
  ASSERT_TRUE(store().catalog->cancel_waiting(webhook_, script_.now, 10).has_value());
  remove_expired();
  EXPECT_EQ(count(), 0);
}

TEST_P(StoredShapes, RolledBackBatchStoresNoShape) {
  put_webhook();
  Delivery delivery = publish();
  script_.request = shape("a");
  Batch batch;
  batch.settlements.push_back(script_.retry(delivery, script_.now));
  const auto undone = [&]() -> Result<void> {
    EXPECT_TRUE(store().ledger->commit(batch).has_value());
    return fail(Errc::conflict, "undone");
  };
  EXPECT_FALSE(store().atomically(undone).has_value());
  EXPECT_EQ(count(), 0);
  commit(batch);
  EXPECT_EQ(urls(delivery), (Urls{"a"}));
}

TEST_P(StoredShapes, WithAKeyTheStoreContainsNoPlainText) {
  put_webhook();
  Delivery delivery = publish();
  attempt(delivery, shape("plain-" + std::string{canary}));
  EXPECT_TRUE(shapes_->contains(canary));  // The search works.

  shapes_->reopen_with(vault_of("a"));
  remove_webhook();
  EXPECT_EQ(reseal(1), 0u);  // The webhook is removed; its shapes are sealed anyway.
  EXPECT_FALSE(shapes_->contains(canary));
  EXPECT_EQ(urls(delivery), (Urls{"plain-" + std::string{canary}}));

  put_webhook();
  Delivery next = publish();
  attempt(next, shape("sealed-" + std::string{canary}));
  attempt(next, shape("sealed-" + std::string{canary}));
  EXPECT_EQ(count(), 2);
  EXPECT_FALSE(shapes_->contains(canary));
  EXPECT_EQ(urls(next), Urls(2, "sealed-" + std::string{canary}));
}

TEST_P(StoredShapes, ResealingReplacesTheOldKey) {
  shapes_->reopen_with(vault_of("a"));
  put_webhook();
  Delivery delivery = publish();
  attempt(delivery, shape("a"));
  shapes_->reopen_with(vault_of("ba"));
  EXPECT_EQ(urls(delivery), (Urls{"a"}));
  EXPECT_EQ(reseal(), 1u);
  shapes_->reopen_with(vault_of("b"));
  EXPECT_EQ(urls(delivery), (Urls{"a"}));
}

TEST_P(StoredShapes, WithoutTheKeyOldRequestsAreHiddenAndNewOnesRecorded) {
  shapes_->reopen_with(vault_of("a"));
  Delivery delivery = publish();
  attempt(delivery, shape("a"));
  for (const auto& vault : {std::shared_ptr<const Vault>{}, vault_of("b")}) {
    shapes_->reopen_with(vault);
    EXPECT_EQ(urls(delivery).front(), "none");
    attempt(delivery, shape("b"));
    EXPECT_EQ(urls(delivery).back(), "b");
  }
  // Resealing fails while some values cannot be decrypted.
  EXPECT_EQ(store().catalog->reseal_webhooks({}, 10).error().code, Errc::invalid);
}

}  // namespace postrider::test
