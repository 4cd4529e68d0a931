// What the source says and does if RabbitMQ fails, refuses or sends odd messages.
#include <gtest/gtest.h>

#include "adapters/amqp/amqp_errors.h"
#include "adapters/amqp/amqp_source.h"
#include "adapters/amqp/amqp_test_server.h"
#include "adapters/amqp/parking.h"

namespace postrider::amqp {
namespace {

using Records = std::vector<SourceRecord>;

class AmqpFailure : public testing::Test {
 protected:
  [[nodiscard]] std::string connect_problem(AmqpOptions options) const {
    const Result<void> connected = server_.make_source(std::move(options))->connect();
    EXPECT_FALSE(connected.has_value());
    if (connected) {
      return {};
    }
    EXPECT_EQ(connected.error().code, Errc::unavailable);
    return connected.error().message;
  }

  void connect() {
    const Result<void> connected = source_->connect();
    ASSERT_TRUE(connected.has_value()) << connected.error().message;
  }

  Records receive(std::size_t count) {
    Records records;
    for (int attempt = 0; attempt < 30 && records.size() < count; ++attempt) {
      auto more = source_->receive({.records_max = count, .wait_max = Millis{1'000}});
      EXPECT_TRUE(more.has_value()) << more.error().message;
      if (!more || !more->empty()) {
        return more.value_or(Records{});
      }
    }
    return records;
  }

  Result<void> settle(const Records& records, const RecordOutcome& outcome) {
    std::vector<SettledRecord> settled;
    for (const SourceRecord& record : records) {
      settled.push_back({record.receipt, outcome});
    }
    return source_->settle(settled);
  }

  [[nodiscard]] AmqpOptions at(const std::string& address) const {
    AmqpOptions options = server_.options(queue_);
    options.address = Secret{address};
    return options;
  }

  TestServer& server_ = TestServer::get();
  std::string queue_ = server_.new_queue();
  std::unique_ptr<EventSource> source_ = server_.make_source(server_.options(queue_));
};

std::string replaced(std::string text, std::string_view part, std::string_view by) {
  return text.replace(text.find(part), part.size(), by);
}

TEST_F(AmqpFailure, RefusalsOfTheServerAreExplained) {
  const std::string direct = server_.member("direct_address");
  const std::string wrong = connect_problem(at(replaced(direct, ":guest@", ":secret@")));
  EXPECT_NE(wrong.find("ACCESS_REFUSED"), std::string::npos) << wrong;
  EXPECT_EQ(wrong.find("secret"), std::string::npos) << wrong;
  const std::string vhost = connect_problem(at(direct + "/none"));
  EXPECT_NE(vhost.find("vhost none not found"), std::string::npos) << vhost;
  EXPECT_EQ(connect_problem(at("amqp://127.0.0.1:1")),
            "RabbitMQ at 127.0.0.1:1 refuses connections.");
  EXPECT_EQ(connect_problem(at("amqp://no.such.host.invalid")),
            "The host name of RabbitMQ, no.such.host.invalid, is unknown.");
  AmqpOptions missing = server_.options(queue_);
  missing.declares = false;
  EXPECT_EQ(connect_problem(missing), "RabbitMQ has no queue `" + queue_ + "`.");
}

TEST_F(AmqpFailure, AnAddressMustBeOne) {
  const auto source = make_amqp_source(at("redis://127.0.0.1"));
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().code, Errc::invalid);
}

TEST_F(AmqpFailure, AUserNeedsPermissions) {
  const std::string direct = server_.member("direct_address");
  const std::string problem =
      connect_problem(at(replaced(direct, "guest:guest@", "limited:limited@")));
  EXPECT_NE(problem.find("ACCESS_REFUSED"), std::string::npos) << problem;
}

TEST_F(AmqpFailure, TlsChecksTheCertificate) {
  AmqpOptions options = at(server_.member("tls_address"));
  const std::string problem = connect_problem(options);
  EXPECT_NE(problem.find("the certificate is not accepted"), std::string::npos) << problem;
  options.ca_file = "/nonexistent.pem";
  EXPECT_EQ(connect_problem(options), "The certificates in /nonexistent.pem cannot be read.");
  options.ca_file = server_.member("ca_file");
  source_ = server_.make_source(options);
  connect();
  server_.publish(queue_, {"a"}, std::string(300'000, '1'));
  const Records records = receive(1);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].fields[0].value, std::string(300'000, '1'));
  // The port without TLS does not answer a TLS handshake.
  options.address = Secret{replaced(server_.member("direct_address"), "amqp:", "amqps:")};
  EXPECT_FALSE(connect_problem(options).empty());
}

TEST_F(AmqpFailure, ADeletedQueueEndsTheConsumerAndIsDeclaredAgain) {
  connect();
  server_.command("delete " + queue_);
  const auto records = source_->receive({.records_max = 1, .wait_max = Millis{30'000}});
  ASSERT_FALSE(records.has_value());
  EXPECT_EQ(records.error().message, "RabbitMQ ended the consumer: the queue `" + queue_ +
                                         "` was deleted or is not available.");
  EXPECT_FALSE(source_->lag().has_value());
  connect();
  server_.publish(queue_, std::vector<std::string>{"a"});
  EXPECT_EQ(receive(1).size(), 1u);
}

TEST_F(AmqpFailure, AMessageThatCannotBeParkedIsOfferedAgain) {
  connect();
  server_.publish(queue_, {"a", "b", "c", "d"});
  const Records records = receive(4);
  ASSERT_EQ(records.size(), 4u);
  server_.command("delete " + queue_ + ".rejected");
  const Result<void> settled = source_->settle({{records[0].receipt, RecordStored{}},
                                                {records[1].receipt, RecordRejected{"No."}},
                                                {records[2].receipt, RecordStored{}},
                                                {records[3].receipt, RecordStored{}}});
  ASSERT_FALSE(settled.has_value());
  EXPECT_EQ(settled.error().message, "The parking queue `" + queue_ + ".rejected` does not exist.");
  connect();
  const Records again = receive(4);
  ASSERT_EQ(again.size(), 1u) << "stored messages are acknowledged nevertheless";
  EXPECT_TRUE(settle(again, RecordRejected{"No."}).has_value());
  EXPECT_EQ(server_.count(queue_ + ".rejected"), 1u);
}

TEST_F(AmqpFailure, AServerWithoutMemoryIsReportedAndNothingIsLost) {
  connect();
  server_.publish(queue_, std::vector<std::string>{"a"});
  const Records records = receive(1);
  ASSERT_EQ(records.size(), 1u);
  server_.command("control set_vm_memory_high_watermark absolute 1MB");
  const Result<void> settled = settle(records, RecordRejected{"No."});
  server_.command("control set_vm_memory_high_watermark 0.4");
  ASSERT_FALSE(settled.has_value());
  EXPECT_EQ(settled.error().message, "RabbitMQ accepts no messages for the parking queue `" +
                                         queue_ + ".rejected`: low on memory.");
  connect();
  EXPECT_TRUE(settle(receive(1), RecordRejected{"No."}).has_value());
  EXPECT_GE(server_.count(queue_ + ".rejected"), 1u);
  EXPECT_EQ(server_.count(queue_), 0u);
}

TEST_F(AmqpFailure, ASilentServerIsNoticed) {
  source_ = server_.make_source(at(server_.member("address") + "?heartbeat=1"));
  connect();
  server_.command("hang");
  const auto records = source_->receive({.records_max = 1, .wait_max = Millis{60'000}});
  server_.command("resume");
  ASSERT_FALSE(records.has_value());
  EXPECT_TRUE(records.error().message.ends_with(" has been silent for 2 s."))
      << records.error().message;
}

TEST_F(AmqpFailure, HeartbeatsKeepAnIdleConnection) {
  source_ = server_.make_source(at(server_.member("address") + "?heartbeat=1"));
  connect();
  EXPECT_TRUE(source_->receive({.records_max = 1, .wait_max = Millis{4'000}}).has_value());
  EXPECT_TRUE(source_->lag().has_value());
}

TEST_F(AmqpFailure, ABatchIsBoundedInBytes) {
  connect();
  const std::string body(3 << 20, '1');
  server_.publish(queue_, {"a", "b", "c", "d", "e"}, body);
  std::size_t received = 0;
  for (int attempt = 0; attempt < 50 && received < 5; ++attempt) {
    const Records records = receive(5);
    EXPECT_LE(records.size(), 3u);
    received += records.size();
    ASSERT_TRUE(settle(records, RecordStored{}).has_value());
  }
  EXPECT_EQ(received, 5u);
}

TEST_F(AmqpFailure, AParkedMessageKeepsItsContentAndIsNotRoutedOrRemoved) {
  const std::string other = server_.new_queue();
  server_.command("declare_quorum " + other);
  connect();
  amqp_field_value_t copies{};
  copies.kind = AMQP_FIELD_KIND_UTF8;
  copies.value.bytes = bytes(other);
  amqp_table_entry_t entries[2]{};
  entries[0].key = amqp_cstring_bytes("CC");
  entries[0].value.kind = AMQP_FIELD_KIND_ARRAY;
  entries[0].value.value.array = {.num_entries = 1, .entries = &copies};
  entries[1].key = amqp_cstring_bytes("shop");
  entries[1].value.kind = AMQP_FIELD_KIND_UTF8;
  entries[1].value.value.bytes = amqp_cstring_bytes("north");
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_EXPIRATION_FLAG |
                      AMQP_BASIC_REPLY_TO_FLAG | AMQP_BASIC_USER_ID_FLAG |
                      AMQP_BASIC_MESSAGE_ID_FLAG;
  properties.headers = {.num_entries = 2, .entries = entries};
  properties.expiration = amqp_cstring_bytes("60000");
  properties.reply_to = amqp_cstring_bytes("answers");
  properties.user_id = amqp_cstring_bytes("guest");
  properties.message_id = amqp_cstring_bytes("a");
  server_.publish(queue_, properties, "not JSON");
  EXPECT_EQ(server_.count(other), 1u) << "the publisher's own copy";
  ASSERT_TRUE(settle(receive(1), RecordRejected{std::string(2'000, 'x')}).has_value());

  EXPECT_EQ(server_.count(other), 1u);
  const std::vector<QueueMessage> parked = server_.messages(queue_ + ".rejected");
  ASSERT_EQ(parked.size(), 1u);
  EXPECT_EQ(parked[0].body, "not JSON");
  EXPECT_EQ(message_id(parked[0]), "a");
  EXPECT_EQ(header_text(parked[0], reason_header), std::string(1'000, 'x'));
  EXPECT_EQ(header_text(parked[0], "shop"), "north");
  EXPECT_EQ(header_text(parked[0], "x-postrider-queue"), queue_);
  EXPECT_EQ(header_text(parked[0], "x-postrider-routing-key"), queue_);
  EXPECT_EQ(header_text(parked[0], "x-postrider-exchange"), "");
  EXPECT_EQ(header_text(parked[0], "x-postrider-expiration"), "60000");
  EXPECT_EQ(header_text(parked[0], "x-postrider-reply-to"), "answers");
  EXPECT_EQ(header_text(parked[0], "x-postrider-user-id"), "guest");
  const MessageProperties kept{parked[0]};
  EXPECT_EQ(kept.get().delivery_mode, AMQP_DELIVERY_PERSISTENT);
  EXPECT_EQ(kept.get()._flags &
                (AMQP_BASIC_EXPIRATION_FLAG | AMQP_BASIC_USER_ID_FLAG | AMQP_BASIC_REPLY_TO_FLAG),
            0u);
}

TEST_F(AmqpFailure, HeadersThatFillTheFrameDoNotBlockTheQueue) {
  connect();
  const std::string text(130'000, 'x');
  amqp_table_entry_t entry{};
  entry.key = amqp_cstring_bytes("long");
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = bytes(text);
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_HEADERS_FLAG;
  properties.headers = {.num_entries = 1, .entries = &entry};
  server_.publish(queue_, properties, "1");
  ASSERT_TRUE(settle(receive(1), RecordRejected{"No."}).has_value());
  const std::vector<QueueMessage> parked = server_.messages(queue_ + ".rejected");
  ASSERT_EQ(parked.size(), 1u);
  EXPECT_EQ(header_text(parked[0], reason_header), "No.");
  EXPECT_EQ(header_text(parked[0], "x-postrider-note"), "The headers were too long to be kept.");
}

}  // namespace
}  // namespace postrider::amqp
