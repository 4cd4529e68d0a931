#include "api/resources/source_intake.h"

#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <gtest/gtest.h>

#include "adapters/memory/memory_source.h"
#include "adapters/memory/memory_store.h"
#include "adapters/openssl/openssl_crypto.h"
#include "runtime/sources/source_runner.h"
#include "runtime/store/outdated_publish.h"

#include "tests/support/memory_service.h"

namespace postrider::api {
namespace {

ApiOptions make_options() {
  ApiOptions options;
  options.crypto = &openssl_crypto();
  options.data_bytes_max = 100;
  options.require_known_event_types = false;
  return options;
}

FieldMapping make_mapping() {
  FieldMapping mapping;
  for (const std::string_view member : mapped_members) {
    mapping.fields.emplace(member, std::vector<std::string>{std::string{member}});
  }
  mapping.fields["idempotency_key"] = {"id"};
  return mapping;
}

std::vector<SourceField> fields(const std::string& key, const std::string& data = "{}",
                                const std::string& type = "order.paid") {
  return {{"id", key}, {"data", data, true}, {"type", type}};
}

SourceRecord message(const std::string& key, const std::string& data = "{}",
                     const std::string& type = "order.paid") {
  return {.receipt = key, .fields = fields(key, data, type)};
}

/// The service runs on an io thread, the intake on the test's.
class SourceIntakeTest : public testing::Test {
 protected:
  ~SourceIntakeTest() override { stop(); }

  void stop() {
    work_.reset();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  std::unique_ptr<SourceIntake> make_intake() {
    return make_source_intake(io_, service_, control_,
                              {.source = "orders", .mapping = make_mapping()});
  }
  static std::string reason_of(const RecordOutcome& outcome) {
    const auto* rejected = std::get_if<RecordRejected>(&outcome);
    return rejected == nullptr ? "(not rejected)" : rejected->reason;
  }
  static bool is_deferred(const RecordOutcome& outcome) {
    return std::holds_alternative<RecordDeferred>(outcome);
  }
  std::size_t stored_events() {
    const std::scoped_lock lock{service_.store.mutex};
    return service_.store.events.size();
  }

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  test::MemoryService service_;
  std::shared_ptr<ApiControl> control_ = std::make_shared<ApiControl>(make_options());
  std::unique_ptr<SourceIntake> intake_ = make_intake();
  std::thread thread_{[this] { io_.run(); }};
};

TEST_F(SourceIntakeTest, StoresEventsAndRecognizesRepetitions) {
  const auto first = intake_->publish({message("a"), message("b")});
  ASSERT_EQ(first.size(), 2u);
  const auto* stored = std::get_if<RecordStored>(&first[0]);
  ASSERT_NE(stored, nullptr);
  EXPECT_FALSE(stored->duplicate);
  const auto again = intake_->publish({message("a"), message("c"), message("c")});
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(std::get<RecordStored>(again[0]).event_id, stored->event_id);
  EXPECT_TRUE(std::get<RecordStored>(again[0]).duplicate);
  EXPECT_FALSE(std::get<RecordStored>(again[1]).duplicate);
  EXPECT_TRUE(std::get<RecordStored>(again[2]).duplicate);
  EXPECT_EQ(stored_events(), 3u);
}

TEST_F(SourceIntakeTest, ARowIsTrackedAndItsIdIsKept) {
  SourceRecord record = message("7");
  record.row = RecordRow{.id = "7", .generation = 2};
  const auto outcomes = intake_->publish({record});
  const EventId id = std::get<RecordStored>(outcomes[0]).event_id;
  const auto rows = make_memory_source_row_reader(service_.store)->rows_of("orders", {id});
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->at(0).row_id, "7");
  EXPECT_EQ(rows->at(0).generation, 2u);
  EXPECT_EQ(make_memory_history(service_.store)->find_event(id)->source_id, "7");
}

TEST_F(SourceIntakeTest, ATraceIsKeptAndIsNoReasonForAnotherEvent) {
  const auto traced = [](const std::string& traceparent) {
    SourceRecord record = message("7");
    record.fields.push_back({"traceparent", traceparent});
    return record;
  };
  const auto first =
      intake_->publish({traced("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")});
  const EventId id = std::get<RecordStored>(first[0]).event_id;
  const Event event = *make_memory_history(service_.store)->find_event(id);
  ASSERT_TRUE(event.trace);
  EXPECT_EQ(to_string(event.trace->trace_id), "0af7651916cd43dd8448eb211c80319c");
  const auto again = intake_->publish({traced("garbage")});
  EXPECT_TRUE(std::get<RecordStored>(again[0]).duplicate);
}

TEST_F(SourceIntakeTest, AMessageGoesToTheUrlThatItNames) {
  const auto send = [this](const std::string& key, const std::string& url,
                           const std::string& secret) {
    SourceRecord record = message(key);
    record.target = SourceTarget{.url = url, .secret = Secret{secret}};
    return intake_->publish({record}).front();
  };
  const std::string url = "https://example.com/hook";
  const std::string secret = "whsec_" + std::string(32, 'A');
  const auto webhook_of = [this](const RecordOutcome& outcome) {
    const EventId id = std::get<RecordStored>(outcome).event_id;
    DeliveryFilter filter;
    filter.event_id = id;
    const auto listed = make_memory_history(service_.store)->list_deliveries(filter, {});
    EXPECT_EQ(listed->items.size(), 1u);
    return service_.directory()->find(listed->items.at(0).delivery.webhook_id);
  };
  const WebhookRef first = webhook_of(send("a", url, secret));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->url, url);
  EXPECT_EQ(first->name, "Rows of orders");
  EXPECT_TRUE(first->events.empty());
  EXPECT_EQ(webhook_of(send("b", url, secret))->id, first->id);
  intake_ = make_intake();  // As after a restart.
  EXPECT_EQ(webhook_of(send("c", url, secret))->id, first->id);
  const std::string other = "whsec_" + std::string(32, 'B');
  EXPECT_NE(webhook_of(send("d", url, other))->id, first->id);
  EXPECT_TRUE(reason_of(send("e", "ftp://example.com", secret)).find("url") != std::string::npos)
      << reason_of(send("e", "ftp://example.com", secret));
  EXPECT_EQ(service_.directory()->all().size(), 2u);
  EXPECT_TRUE(std::holds_alternative<RecordStored>(intake_->publish({message("f")}).front()));
}

TEST_F(SourceIntakeTest, AMessageThatIsWrittenAgainAtAnotherTimeIsARepetition) {
  SourceRecord first = message("a");
  first.fields.push_back({"timestamp", "2026-01-31T12:00:00Z"});
  SourceRecord second = message("a");
  second.fields.push_back({"timestamp", "2026-01-31T12:00:01Z"});
  const std::vector<RecordOutcome> outcomes = intake_->publish({first, second, message("a", "7")});
  EXPECT_EQ(std::get<RecordStored>(outcomes[0]).duplicate, false);
  EXPECT_EQ(std::get<RecordStored>(outcomes[1]).duplicate, true);
  EXPECT_NE(reason_of(outcomes[2]).find("with another body"), std::string::npos);
}

TEST_F(SourceIntakeTest, RejectsOnlyTheMessagesThatCannotBecomeEvents) {
  SourceRecord unreadable = message("e");
  unreadable.problem = "The body is compressed.";
  const auto outcomes = intake_->publish({
      message("a"),
      message("b", "{"),
      message("c", "{}", "no type"),
      message("d", "\"" + std::string(200, 'x') + "\""),
      unreadable,
      message("a", "{\"other\":1}"),
      {.receipt = "f", .fields = {{"id", "f"}, {"data", "1"}}},
      {.receipt = "g", .fields = {{"id", "g"}, {"data", "1"}, {"tenant_id", "a b"}}},
      message("h"),
  });
  EXPECT_TRUE(std::holds_alternative<RecordStored>(outcomes[0]));
  EXPECT_TRUE(reason_of(outcomes[1]).starts_with("The field `data` is not JSON."));
  EXPECT_TRUE(reason_of(outcomes[2]).starts_with("`type` must be 1 to 256 letters"));
  EXPECT_EQ(reason_of(outcomes[3]), "`data` has 202 bytes; the limit is 100 bytes.");
  EXPECT_EQ(reason_of(outcomes[4]), "The body is compressed.");
  EXPECT_TRUE(reason_of(outcomes[5]).ends_with(" with another body.")) << reason_of(outcomes[5]);
  EXPECT_TRUE(reason_of(outcomes[6]).starts_with("`type` is required"));
  EXPECT_NE(reason_of(outcomes[7]).find("`type` is required"), std::string::npos);
  EXPECT_NE(reason_of(outcomes[7]).find("`tenant_id` must be"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<RecordStored>(outcomes[8]));
  EXPECT_EQ(stored_events(), 2u);
}

TEST_F(SourceIntakeTest, DefersEverythingWhileTheStoreFails) {
  service_.store_failure = Error{Errc::unavailable, "The disk is full."};
  const auto outcomes = intake_->publish({message("a"), message("b", "{"), message("c")});
  EXPECT_TRUE(is_deferred(outcomes[0]));
  EXPECT_FALSE(is_deferred(outcomes[1])) << "it can never be stored";
  EXPECT_TRUE(is_deferred(outcomes[2]));
}

TEST_F(SourceIntakeTest, ManyLargeMessagesAreStoredInSeveralSteps) {
  ApiOptions options = make_options();
  options.data_bytes_max = 3u << 20;
  control_->change(options);
  const std::string large = "\"" + std::string(2u << 20, 'x') + "\"";
  std::vector<SourceRecord> records;
  for (int index = 0; index < 5; ++index) {
    records.push_back(message(std::to_string(index), large));
  }
  for (const RecordOutcome& outcome : intake_->publish(records)) {
    EXPECT_TRUE(std::holds_alternative<RecordStored>(outcome));
  }
  EXPECT_EQ(stored_events(), 5u);
}

TEST_F(SourceIntakeTest, UsesTheOptionsInForce) {
  EXPECT_TRUE(std::holds_alternative<RecordStored>(intake_->publish({message("a")})[0]));
  ApiOptions options = make_options();
  options.require_known_tenants = true;
  control_->change(options);
  EXPECT_TRUE(reason_of(intake_->publish({message("b")})[0])
                  .starts_with("This server serves registered tenants only."));
}

TEST_F(SourceIntakeTest, AnOutdatedMessageIsReadAgain) {
  service_.shared = true;
  service_.outdated_publishes = 2;
  service_.on_outdated = [this] {
    ApiOptions options = make_options();
    options.require_known_tenants = true;
    control_->change(options);
    RegisteredTenant tenant;
    tenant.id = "t";
    service_.apply_now(AddTenant{tenant});
  };
  SourceRecord known = message("a");
  known.fields.push_back({"tenant_id", "t"});
  const auto outcomes = intake_->publish({known, message("b")});
  EXPECT_TRUE(std::holds_alternative<RecordStored>(outcomes[0]));
  EXPECT_TRUE(reason_of(outcomes[1]).starts_with("This server serves registered tenants only."));
  EXPECT_EQ(stored_events(), 1u);
}

TEST_F(SourceIntakeTest, MessagesAreDeferredWhenTheCatalogueNeverStopsChanging) {
  service_.shared = true;
  service_.outdated_publishes = publish_tries_max;
  const auto outcomes = intake_->publish({message("a"), message("b")});
  EXPECT_TRUE(is_deferred(outcomes[0]));
  EXPECT_TRUE(is_deferred(outcomes[1]));
  EXPECT_EQ(stored_events(), 0u);
  EXPECT_EQ(service_.outdated_publishes, 0u);
  EXPECT_TRUE(std::holds_alternative<RecordStored>(intake_->publish({message("a")})[0]));
}

TEST_F(SourceIntakeTest, AMessageIsNotRejectedBeforeTheServerHasCaughtUp) {
  ApiOptions options = make_options();
  options.require_known_tenants = true;
  control_->change(options);
  service_.shared = true;
  service_.on_catch_up = [this] {
    RegisteredTenant tenant;
    tenant.id = "t";
    service_.apply_now(AddTenant{tenant});
  };
  SourceRecord known = message("a");
  known.fields.push_back({"tenant_id", "t"});
  const auto outcomes = intake_->publish({known, message("b"), message("c")});
  EXPECT_TRUE(std::holds_alternative<RecordStored>(outcomes[0]));
  EXPECT_NE(reason_of(outcomes[1]), "(not rejected)");
  EXPECT_NE(reason_of(outcomes[2]), "(not rejected)");
  EXPECT_EQ(service_.catch_ups, 1u) << "once for all messages of a call";
}

// The whole path with a failing store: nothing is lost, nothing is stored twice.
TEST_F(SourceIntakeTest, ASourceSurvivesAFailingStore) {
  MemoryQueue queue;
  for (int index = 0; index < 20; ++index) {
    queue.add(fields(std::to_string(index)));
  }
  queue.inject([calls = 0](SourceCall call) mutable {
    calls += call == SourceCall::settle ? 1 : 0;
    return call == SourceCall::settle && calls == 2 ? SourceFault::not_performed
                                                    : SourceFault::none;
  });
  SourceRunner runner{{.name = "shop",
                       .kind = "outbox",
                       .batch_max = 3,
                       .source = make_memory_source(queue),
                       .intake = make_intake()},
                      service_,
                      1};
  for (int step = 0; queue.size() > 0 && step < 100; ++step) {
    service_.store_failure =
        step == 3 ? std::optional{Error{Errc::unavailable, "The disk is full."}} : std::nullopt;
    (void)runner.step();
  }
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(stored_events(), 20u);
  EXPECT_EQ(runner.view().counts.stored, 20u);
  EXPECT_EQ(runner.view().counts.duplicates, 3u);
  EXPECT_EQ(runner.view().counts.deferred, 3u);
}

}  // namespace
}  // namespace postrider::api
