// A connection to RabbitMQ with one channel. Every call has a deadline. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <amqp.h>

#include "core/base/result.h"
#include "core/base/time.h"

#include "adapters/amqp/amqp_address.h"
#include "adapters/amqp/amqp_tls.h"

namespace postrider::amqp {

struct LinkOptions {
  Address address;
  std::string ca_file;  // Empty: the system's authorities.
  std::string queue;    // Named in messages to the operator.
};

constexpr amqp_channel_t channel = 1;

class Link {
 public:
  /// Connects, logs in and opens the channel.
  [[nodiscard]] static Result<std::unique_ptr<Link>> open(const LinkOptions& options);
  /// Closes the connection, so that the server requeues at once what was not acknowledged.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Waits for the next frame of the channel. nullopt: none came. The frame is valid until the next
  /// call. Sends and expects heartbeats, so call it regularly. Fails if the server has closed the
  /// connection or the channel, or has cancelled the consumer.
  [[nodiscard]] Result<std::optional<amqp_frame_t>> next_frame(Millis wait);

  /// Returns the number of waiting messages, or nullopt if there is no such queue.
  [[nodiscard]] Result<std::optional<std::uint32_t>> message_count(const std::string& queue);
  [[nodiscard]] Result<void> declare_durable(const std::string& queue);
  [[nodiscard]] Result<void> consume(const std::string& queue, std::uint16_t prefetch);
  [[nodiscard]] Result<void> select_confirms();

  /// Messages up to `tag` that are not settled yet, or only the message with this tag.
  struct Tags {
    std::uint64_t tag = 0;
    bool multiple = false;
  };
  [[nodiscard]] Result<void> acknowledge(Tags tags);
  [[nodiscard]] Result<void> requeue(Tags tags);
  /// Asks for an answer that follows all answers and effects of earlier calls: a frame with the
  /// method AMQP_BASIC_QOS_OK_METHOD.
  [[nodiscard]] Result<void> request_echo();
  /// Publishes to a queue through the default exchange. The server returns the message if there is
  /// no such queue.
  [[nodiscard]] Result<void> publish(const std::string& queue,
                                     const amqp_basic_properties_t& properties,
                                     const std::string& body);

  /// Why the server accepts no messages from this connection, if it does not.
  [[nodiscard]] const std::optional<std::string>& blocked() const { return blocked_; }
  [[nodiscard]] std::size_t frame_bytes_max() const;
  [[nodiscard]] int descriptor() const;  // -1: closed.

 private:
  struct Destroy {
    void operator()(amqp_connection_state_t state) const { amqp_destroy_connection(state); }
  };

  explicit Link(const LinkOptions& options);

  [[nodiscard]] Result<void> connect(const std::string& ca_file);
  [[nodiscard]] Result<void> log_in();
  [[nodiscard]] Result<void> open_channel();
  [[nodiscard]] Result<void> check_sent(int status);
  [[nodiscard]] tl::unexpected<Error> call_failed(const std::string& action);
  /// Handles what is not for the caller. Returns whether it is.
  [[nodiscard]] Result<bool> filter(const amqp_frame_t& frame);
  void close();

  Address address_;
  std::string queue_;
  std::uint16_t prefetch_ = 0;
  TlsVerdict verdict_;  // Outlives the connection, which refers to it.
  std::unique_ptr<amqp_connection_state_t_, Destroy> state_;
  std::optional<std::string> blocked_;
  bool broken_ = false;  // Nothing more can be sent.
};

}  // namespace postrider::amqp
