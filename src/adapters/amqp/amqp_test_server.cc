#include "adapters/amqp/amqp_test_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/assert.h"

#include "adapters/amqp/amqp_errors.h"
#include "adapters/amqp/amqp_link.h"

#include "tests/support/server_process.h"

namespace postrider::amqp {
namespace {

test::ServerProcess& process() {
  static test::ServerProcess server{"rabbitmq"};
  return server;
}

std::unique_ptr<Link> open_link() {
  LinkOptions options;
  options.address = *parse_address(process().member("direct_address"));
  Result<std::unique_ptr<Link>> link = Link::open(options);
  POSTRIDER_ASSERT(link.has_value());
  return *std::move(link);
}

std::unique_ptr<Link> open_publisher() {
  std::unique_ptr<Link> link = open_link();
  POSTRIDER_ASSERT(link->select_confirms().has_value());
  return link;
}

void publish_on(Link& link, const std::string& queue, const amqp_basic_properties_t& properties,
                const std::string& body) {
  ASSERT_TRUE(link.publish(queue, properties, body).has_value());
  const auto frame = link.next_frame(Millis{30'000});
  ASSERT_TRUE(frame.has_value() && *frame);
  ASSERT_EQ((*frame)->payload.method.id, AMQP_BASIC_ACK_METHOD) << "not confirmed";
}

}  // namespace

TestServer& TestServer::get() {
  static TestServer server;
  return server;
}

std::string TestServer::member(std::string_view name) const { return process().member(name); }

void TestServer::command(const std::string& line) { process().command(line); }

std::string TestServer::new_queue() { return fmt::format("events-{}", ++queues_); }

AmqpOptions TestServer::options(const std::string& queue) const {
  return {.address = Secret{member("address")},
          .ca_file = {},
          .queue = queue,
          .parking_queue = queue + ".rejected"};
}

std::unique_ptr<EventSource> TestServer::make_source(AmqpOptions options) const {
  return make_amqp_source(std::move(options)).value();
}

void TestServer::publish(const std::string& queue, const amqp_basic_properties_t& properties,
                         const std::string& body) {
  publish_on(*open_publisher(), queue, properties, body);
}

void TestServer::publish(const std::string& queue, const std::vector<std::string>& message_ids,
                         const std::string& body) {
  const std::unique_ptr<Link> link = open_publisher();
  for (const std::string& id : message_ids) {
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG;
    properties.message_id = bytes(id);
    properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    publish_on(*link, queue, properties, body);
  }
}

std::vector<QueueMessage> TestServer::messages(const std::string& queue) {
  const std::unique_ptr<Link> link = open_link();
  const std::size_t count = link->message_count(queue).value().value_or(0);
  POSTRIDER_ASSERT(link->consume(queue, 1'000).has_value());
  std::vector<QueueMessage> found;
  MessageReader reader;
  while (found.size() < count) {
    const auto frame = link->next_frame(Millis{30'000});
    POSTRIDER_ASSERT(frame.has_value() && frame->has_value());
    if (std::optional<QueueMessage> message = reader.add(**frame)) {
      found.push_back(*std::move(message));
    }
  }
  return found;
}

std::uint32_t TestServer::count(const std::string& queue) {
  return open_link()->message_count(queue).value().value_or(0);
}

std::string header_text(const QueueMessage& message, std::string_view name) {
  const MessageProperties properties{message};
  const amqp_table_t& headers = properties.get().headers;
  for (int index = 0; index < headers.num_entries; ++index) {
    const amqp_table_entry_t& header = headers.entries[index];
    if (view(header.key) == name && header.value.kind == AMQP_FIELD_KIND_UTF8) {
      return std::string{view(header.value.value.bytes)};
    }
  }
  return {};
}

std::string message_id(const QueueMessage& message) {
  return std::string{view(MessageProperties{message}.get().message_id)};
}

}  // namespace postrider::amqp
