// The audit log: entries are read back and form a valid chain.
#include <set>
#include <string>
#include <vector>

#include "ports/audit_chain.h"

#include "tests/contract/store_contract.h"
#include "tests/support/test_digest.h"

namespace postrider::test {
namespace {

AuditEntry sample_entry(int number) {
  return {.at = store_epoch + Millis{number},
          .actor = number % 2 == 0 ? "key_even" : "key_odd",
          .actor_name = "name \"quoted\"",
          .remote_ip = "192.0.2.1",
          .request_id = "req_" + std::to_string(number),
          .action = number % 3 == 0 ? "webhook.update" : "webhook.create",
          .subject = "whk_" + std::to_string(number % 4),
          .tenant_id = number % 2 == 0 ? "acme" : "",
          .detail = R"({"n":)" + std::to_string(number) + "}"};
}

}  // namespace

void AuditContract::append(int first, int last) {
  for (int number = first; number <= last; ++number) {
    ASSERT_TRUE(audit_writer().append(sample_entry(number)).has_value());
  }
}

Listed<AuditRecord> AuditContract::list(const AuditFilter& filter, const Page& page) {
  Result<Listed<AuditRecord>> listed = audit_reader().list(filter, page);
  EXPECT_TRUE(listed.has_value());
  return listed ? *std::move(listed) : Listed<AuditRecord>{};
}

std::vector<std::int64_t> AuditContract::sequences(const AuditFilter& filter, const Page& page) {
  std::vector<std::int64_t> found;
  for (const AuditRecord& record : list(filter, page).items) {
    found.push_back(record.sequence);
  }
  return found;
}

TEST_P(AuditContract, EmptyLogIsValid) {
  EXPECT_TRUE(list({}).items.empty());
  EXPECT_EQ(audit_reader().verify(0, 10).value(), ChainWalk{});
}

TEST_P(AuditContract, ListsEntriesNewestFirstInAChain) {
  append(1, 3);
  store_->reopen();
  append(4, 4);
  const Listed<AuditRecord> listed = list({});
  ASSERT_EQ(listed.items.size(), 4u);
  std::string previous;
  for (int number = 1; number <= 4; ++number) {
    const AuditRecord& record = listed.items[static_cast<std::size_t>(4 - number)];
    EXPECT_EQ(record.sequence, number);
    EXPECT_EQ(record.entry, sample_entry(number));
    EXPECT_EQ(record.hash, test_digest(chained_text(previous, number, sample_entry(number))));
    previous = record.hash;
  }
  const ChainWalk walk = audit_reader().verify(0, 10).value();
  EXPECT_EQ(walk,
            (ChainWalk{.checked = 4, .last = 4, .head = previous, .broken_at = {}, .more = false}));
}

TEST_P(AuditContract, AppliesAllFilters) {
  append(1, 12);
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(sequences({.actor = "key_even"}), (Numbers{12, 10, 8, 6, 4, 2}));
  EXPECT_EQ(sequences({.action = "webhook.update"}), (Numbers{12, 9, 6, 3}));
  EXPECT_EQ(sequences({.subject = "whk_1"}), (Numbers{9, 5, 1}));
  EXPECT_EQ(sequences({.tenant_id = "acme"}), (Numbers{12, 10, 8, 6, 4, 2}));
  EXPECT_EQ(sequences({.tenant_id = ""}), (Numbers{11, 9, 7, 5, 3, 1}));
  EXPECT_EQ(sequences({.from = store_epoch + Millis{3}, .to = store_epoch + Millis{5}}),
            (Numbers{4, 3}));
  EXPECT_EQ(sequences({.actor = "key_even", .action = "webhook.update", .tenant_id = "acme"}),
            (Numbers{12, 6}));
  EXPECT_EQ(sequences({.subject = "whk_9"}), Numbers{});
}

TEST_P(AuditContract, PagesFollowEachOther) {
  append(1, 7);
  const Listed<AuditRecord> first = list({}, {.limit = 3});
  ASSERT_EQ(first.next, 5);
  EXPECT_EQ(sequences({}, {.limit = 3, .before = first.next}),
            (std::vector<std::int64_t>{4, 3, 2}));
  const Listed<AuditRecord> last = list({}, {.limit = 3, .before = 2});
  EXPECT_EQ(last.next, std::nullopt);
  EXPECT_EQ(last.items.size(), 1u);
  EXPECT_EQ(sequences({}, {.limit = 2, .offset = 5}), (std::vector<std::int64_t>{2, 1}));
}

TEST_P(AuditContract, VerifiesInSteps) {
  append(1, 5);
  const ChainWalk first = audit_reader().verify(0, 2).value();
  EXPECT_EQ(first.checked, 2u);
  EXPECT_EQ(first.last, 2);
  EXPECT_TRUE(first.more);
  const ChainWalk second = audit_reader().verify(2, 3).value();
  EXPECT_EQ(second.checked, 3u);
  EXPECT_FALSE(second.more);
  EXPECT_EQ(second.broken_at, std::nullopt);
  EXPECT_EQ(second.head, audit_reader().verify(0, 10).value().head);
  EXPECT_EQ(audit_reader().verify(6, 1).error().code, Errc::not_found);
}

TEST_P(AuditContract, FailedChangeHasNoEntryAndASuccessfulOneHas) {
  const auto remove_and_audit = [&]() -> Result<void> {
    POSTRIDER_CHECK(catalog().remove_webhook(first_, script_.now));
    return audit_writer().append(sample_entry(1));
  };
  EXPECT_EQ(store_->store().atomically(remove_and_audit).error().code, Errc::not_found);
  store_->reopen();
  EXPECT_TRUE(list({}).items.empty());

  ASSERT_TRUE(catalog().put_webhook(sample_webhook(first_)).has_value());
  EXPECT_TRUE(store_->store().atomically(remove_and_audit).has_value());
  store_->reopen();
  EXPECT_EQ(list({}).items.size(), 1u);
  EXPECT_TRUE(catalog().load_webhooks()->empty());
}

TEST_P(AuditContract, BatchStoresTheEntriesOfSuccessfulOrders) {
  const Delivery waiting = accept(first_);
  const Delivery other = accept(first_);
  const DeliveryId unknown{StoreScript::webhook(9).bytes};
  Batch batch;
  batch.revivals = {{.delivery_id = unknown, .now = script_.now, .priority = {}},
                    {.delivery_id = other.id, .now = script_.now, .priority = {}}};
  batch.cancels = {{waiting.id, script_.now}, {waiting.id, script_.now}};
  batch.audits = {{.entry = sample_entry(1), .revival = 0, .cancel = {}},
                  {.entry = sample_entry(2), .revival = 1, .cancel = {}},
                  {.entry = sample_entry(3), .revival = {}, .cancel = 0},
                  {.entry = sample_entry(4), .revival = {}, .cancel = 1}};
  commit(batch);
  const Listed<AuditRecord> listed = list({});
  ASSERT_EQ(listed.items.size(), 2u);
  EXPECT_EQ(listed.items[1].entry, sample_entry(2));
  EXPECT_EQ(listed.items[0].entry, sample_entry(3));
  EXPECT_EQ(audit_reader().verify(0, 10).value().checked, 2u);
}

TEST(AuditChain, DifferentEntriesHaveDifferentTexts) {
  std::set<std::string> texts;
  const AuditEntry plain = sample_entry(1);
  texts.insert(chained_text("", 1, plain));
  texts.insert(chained_text("x", 1, plain));
  texts.insert(chained_text("", 2, plain));
  const auto change = [&](std::string AuditEntry::* field, std::string text) {
    AuditEntry changed = plain;
    changed.*field = std::move(text);
    texts.insert(chained_text("", 1, changed));
  };
  for (const auto field : {&AuditEntry::actor, &AuditEntry::actor_name, &AuditEntry::remote_ip,
                           &AuditEntry::request_id, &AuditEntry::action, &AuditEntry::subject,
                           &AuditEntry::tenant_id, &AuditEntry::detail}) {
    change(field, plain.*field + "\n");
  }
  // So does an entry whose text moved from one field to the next.
  AuditEntry moved = plain;
  moved.action = plain.action + plain.subject;
  moved.subject = "";
  texts.insert(chained_text("", 1, moved));
  EXPECT_EQ(texts.size(), 12u);
}

// ---------------------------------------------------------------- dead letters

TEST_P(AuditContract, DeadLettersAreAuditedOncePerWebhookAndBatch) {
  const DeadReason gone{Classification::permanent, "permanent_client_error_404"};
  const Delivery a = accept(first_);
  const Delivery b = accept(first_);
  const Delivery c = accept(second_, {.tenant_id = "other"});
  const Delivery d = accept(first_);
  Settlement last = script_.death(b, gone);
  last.attempt->outcome.http_status.reset();
  last.attempt->outcome.error_message = "The \"name\"\x01 is unknown.";
  const BatchReceipt receipt = commit(
      {.settlements = {script_.death(a, gone), last, script_.death(c, gone), script_.success(d)}});
  EXPECT_EQ(receipt.new_dead_letters.size(), 3u);
  store_->reopen();
  const std::vector<AuditRecord> records = list({.action = "webhook.dead_letter"}).items;
  ASSERT_EQ(records.size(), 2u);
  const AuditEntry& of_first = records[1].entry;
  EXPECT_EQ(of_first.actor, "system");
  EXPECT_EQ(of_first.subject, first_.to_string());
  EXPECT_EQ(of_first.tenant_id, "acme");
  EXPECT_EQ(of_first.at, settled_at(last));
  EXPECT_EQ(of_first.detail, R"({"count":2,"delivery_ids":[")" + a.id.to_string() + R"(",")" +
                                 b.id.to_string() + R"("],"last_delivery_id":")" +
                                 b.id.to_string() +
                                 R"(","event_type":"order.created","attempts":1,)"
                                 R"("reason":"permanent_client_error_404","http_status":null,)"
                                 R"("error":"The \"name\"? is unknown."})");
  EXPECT_EQ(records[0].entry.subject, second_.to_string());
  EXPECT_EQ(records[0].entry.tenant_id, "other");
  EXPECT_FALSE(audit_reader().verify(0, 10).value().broken_at.has_value());
}

TEST_P(AuditContract, ADeadLetterIsAuditedOnce) {
  const DeadReason gone{Classification::permanent, "permanent_client_error_404"};
  const Delivery delivery = accept(first_);
  const Settlement death = script_.death(delivery, gone);
  settle(death);
  settle(death);  // Submitted again after a store failure.
  EXPECT_EQ(list({}).items.size(), 1u);
  ASSERT_TRUE(revive({.delivery_id = delivery.id, .now = script_.now}).has_value());
  const Delivery revived = record(delivery.id).delivery;
  settle(script_.death(revived, gone));
  EXPECT_EQ(list({}).items.size(), 2u);
}

TEST_P(AuditContract, AnEntryNamesAtMostTwentyDeadLetters) {
  Batch batch;
  for (int i = 0; i < 25; ++i) {
    batch.settlements.push_back(
        script_.death(accept(first_), {Classification::recoverable, "max_attempts_exceeded"}));
  }
  commit(batch);
  const std::vector<AuditRecord> records = list({}).items;
  ASSERT_EQ(records.size(), 1u);
  const std::string& detail = records[0].entry.detail;
  EXPECT_TRUE(detail.starts_with(R"({"count":25,)")) << detail;
  EXPECT_NE(detail.find(batch.settlements[19].delivery.id.to_string()), std::string::npos);
  EXPECT_EQ(detail.find(batch.settlements[20].delivery.id.to_string()), std::string::npos);
  EXPECT_NE(detail.find(batch.settlements[24].delivery.id.to_string()), std::string::npos);
}

}  // namespace postrider::test
