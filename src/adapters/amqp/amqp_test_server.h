// RabbitMQ for the tests of this folder: one server for the program, queues of its own for each
// test.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ports/event_source.h"

#include "adapters/amqp/amqp_source.h"
#include "adapters/amqp/queue_message.h"

namespace postrider::amqp {

class TestServer {
 public:
  [[nodiscard]] static TestServer& get();

  [[nodiscard]] std::string member(std::string_view name) const;
  /// A line of tests/servers/rabbitmq.py.
  void command(const std::string& line);

  /// A name that no other test uses.
  [[nodiscard]] std::string new_queue();
  /// Through the proxy.
  [[nodiscard]] AmqpOptions options(const std::string& queue) const;
  [[nodiscard]] std::unique_ptr<EventSource> make_source(AmqpOptions options) const;

  /// Returns once the server has confirmed the message.
  void publish(const std::string& queue, const amqp_basic_properties_t& properties,
               const std::string& body);
  /// One message for each id.
  void publish(const std::string& queue, const std::vector<std::string>& message_ids,
               const std::string& body = "{}");
  /// All messages that wait in the queue. They stay in it.
  [[nodiscard]] std::vector<QueueMessage> messages(const std::string& queue);
  [[nodiscard]] std::uint32_t count(const std::string& queue);

 private:
  TestServer() = default;

  int queues_ = 0;
};

/// The text of a header of a message, or an empty text.
[[nodiscard]] std::string header_text(const QueueMessage& message, std::string_view name);
[[nodiscard]] std::string message_id(const QueueMessage& message);

}  // namespace postrider::amqp
