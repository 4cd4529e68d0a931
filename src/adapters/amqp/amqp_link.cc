#include "adapters/amqp/amqp_link.h"

#include <array>

#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "adapters/amqp/amqp_errors.h"
#include "adapters/amqp/waiting.h"

namespace postrider::amqp {
namespace {

constexpr Millis connect_time_max{5'000};
constexpr Millis login_time_max{5'000};
constexpr Millis call_time_max{10'000};
/// A write ends after this time if the server reads nothing: the library sets no limit.
constexpr unsigned write_ms_max = 10'000;
constexpr Millis close_time_max{500};
constexpr int frame_bytes = AMQP_DEFAULT_FRAME_SIZE;

timeval to_timeval(Millis time) {
  return {.tv_sec = time.count() / 1'000, .tv_usec = (time.count() % 1'000) * 1'000};
}

amqp_table_entry_t capability(const char* name) {
  amqp_table_entry_t entry{};
  entry.key = amqp_cstring_bytes(name);
  entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  entry.value.value.boolean = 1;
  return entry;
}

}  // namespace

Link::Link(const LinkOptions& options)
    : address_(options.address), queue_(options.queue), state_(amqp_new_connection()) {}

Link::~Link() { close(); }

Result<std::unique_ptr<Link>> Link::open(const LinkOptions& options) {
  std::unique_ptr<Link> link{new Link{options}};
  POSTRIDER_CHECK(link->connect(options.ca_file));
  POSTRIDER_CHECK(link->log_in());
  POSTRIDER_CHECK(link->open_channel());
  return link;
}

Result<void> Link::connect(const std::string& ca_file) {
  broken_ = true;
  amqp_socket_t* socket = nullptr;
  if (address_.tls) {
    POSTRIDER_TRY(socket, make_tls_socket(state_.get(), address_, ca_file, verdict_));
  } else {
    socket = amqp_tcp_socket_new(state_.get());
  }
  const timeval timeout = to_timeval(connect_time_max);
  const int status =
      amqp_socket_open_noblock(socket, address_.host.c_str(), address_.port, &timeout);
  if (status != AMQP_STATUS_OK) {
    return tl::make_unexpected(
        connect_error(address_, status, address_.tls ? tls_problem(verdict_) : std::string{}));
  }
  ::setsockopt(descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT, &write_ms_max, sizeof write_ms_max);
  broken_ = false;
  return {};
}

Result<void> Link::log_in() {
  const timeval login_timeout = to_timeval(login_time_max);
  const timeval call_timeout = to_timeval(call_time_max);
  amqp_set_handshake_timeout(state_.get(), &login_timeout);
  amqp_set_rpc_timeout(state_.get(), &call_timeout);
  // Without these, the server neither reports a deleted queue nor that it blocks publishers.
  std::array<amqp_table_entry_t, 2> capabilities{capability("consumer_cancel_notify"),
                                                 capability("connection.blocked")};
  std::array<amqp_table_entry_t, 2> entries{};
  entries[0].key = amqp_cstring_bytes("capabilities");
  entries[0].value.kind = AMQP_FIELD_KIND_TABLE;
  entries[0].value.value.table = {.num_entries = static_cast<int>(capabilities.size()),
                                  .entries = capabilities.data()};
  entries[1].key = amqp_cstring_bytes("connection_name");
  entries[1].value.kind = AMQP_FIELD_KIND_UTF8;
  entries[1].value.value.bytes = amqp_cstring_bytes("postrider");
  const amqp_table_t properties{.num_entries = static_cast<int>(entries.size()),
                                .entries = entries.data()};
  const amqp_rpc_reply_t reply = amqp_login_with_properties(
      state_.get(), address_.vhost.c_str(), channel, frame_bytes, address_.heartbeat_s, &properties,
      AMQP_SASL_METHOD_PLAIN, address_.user.c_str(), address_.password.reveal().c_str());
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
    return {};
  }
  broken_ = true;
  return tl::make_unexpected(reply_error(address_, reply, "accept the login"));
}

Result<void> Link::open_channel() {
  if (amqp_channel_open(state_.get(), channel) == nullptr) {
    return call_failed("open a channel");
  }
  return {};
}

tl::unexpected<Error> Link::call_failed(const std::string& action) {
  const amqp_rpc_reply_t reply = amqp_get_rpc_reply(state_.get());
  broken_ = channel_close_code(reply) == 0;
  return tl::make_unexpected(reply_error(address_, reply, action));
}

Result<void> Link::check_sent(int status) {
  if (status == AMQP_STATUS_OK) {
    return {};
  }
  broken_ = true;
  return tl::make_unexpected(connection_error(address_, status));
}

Result<bool> Link::filter(const amqp_frame_t& frame) {
  if (frame.frame_type != AMQP_FRAME_METHOD) {
    return frame.channel == channel;
  }
  const amqp_method_t& method = frame.payload.method;
  switch (method.id) {
    case AMQP_CONNECTION_CLOSE_METHOD: {
      amqp_connection_close_ok_t answer{};
      amqp_send_method(state_.get(), 0, AMQP_CONNECTION_CLOSE_OK_METHOD, &answer);
      broken_ = true;
      return tl::make_unexpected(closed_error(method));
    }
    case AMQP_CHANNEL_CLOSE_METHOD:
      return tl::make_unexpected(closed_error(method));
    case AMQP_BASIC_CANCEL_METHOD:
      return fail(Errc::unavailable,
                  fmt::format("RabbitMQ ended the consumer: the queue `{}` was deleted or is not "
                              "available.",
                              queue_));
    case AMQP_CONNECTION_BLOCKED_METHOD:
      blocked_ = view(static_cast<const amqp_connection_blocked_t*>(method.decoded)->reason);
      return false;
    case AMQP_CONNECTION_UNBLOCKED_METHOD:
      blocked_ = std::nullopt;
      return false;
    default:
      return frame.channel == channel;
  }
}

Result<std::optional<amqp_frame_t>> Link::next_frame(Millis wait) {
  while (true) {
    amqp_maybe_release_buffers(state_.get());
    amqp_frame_t frame{};
    const timeval timeout = to_timeval(wait);
    const int status = amqp_simple_wait_frame_noblock(state_.get(), &frame, &timeout);
    if (status == AMQP_STATUS_TIMEOUT) {
      return std::nullopt;
    }
    POSTRIDER_CHECK(check_sent(status));
    POSTRIDER_TRY(const bool for_caller, filter(frame));
    if (for_caller) {
      return frame;
    }
    wait = Millis{0};
  }
}

Result<std::optional<std::uint32_t>> Link::message_count(const std::string& queue) {
  amqp_maybe_release_buffers(state_.get());
  const amqp_queue_declare_ok_t* const found = amqp_queue_declare(
      state_.get(), channel, bytes(queue), /*passive=*/1, 0, 0, 0, amqp_empty_table);
  if (found != nullptr) {
    return found->message_count;
  }
  if (channel_close_code(amqp_get_rpc_reply(state_.get())) != AMQP_NOT_FOUND) {
    return call_failed("find the queue");
  }
  // The server closes the channel on a call that fails.
  amqp_channel_close_ok_t answer{};
  POSTRIDER_CHECK(
      check_sent(amqp_send_method(state_.get(), channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &answer)));
  POSTRIDER_CHECK(open_channel());
  return std::nullopt;
}

Result<void> Link::declare_durable(const std::string& queue) {
  if (amqp_queue_declare(state_.get(), channel, bytes(queue), 0, /*durable=*/1, 0, 0,
                         amqp_empty_table) == nullptr) {
    return call_failed("create the queue");
  }
  return {};
}

Result<void> Link::consume(const std::string& queue, std::uint16_t prefetch) {
  prefetch_ = prefetch;
  if (amqp_basic_qos(state_.get(), channel, 0, prefetch, 0) == nullptr) {
    return call_failed("accept the prefetch count");
  }
  if (amqp_basic_consume(state_.get(), channel, bytes(queue), amqp_empty_bytes, 0, /*no_ack=*/0, 0,
                         amqp_empty_table) == nullptr) {
    return call_failed("accept a consumer");
  }
  return {};
}

Result<void> Link::select_confirms() {
  if (amqp_confirm_select(state_.get(), channel) == nullptr) {
    return call_failed("confirm messages");
  }
  return {};
}

Result<void> Link::acknowledge(Tags tags) {
  return check_sent(amqp_basic_ack(state_.get(), channel, tags.tag, tags.multiple ? 1 : 0));
}

Result<void> Link::requeue(Tags tags) {
  return check_sent(
      amqp_basic_nack(state_.get(), channel, tags.tag, tags.multiple ? 1 : 0, /*requeue=*/1));
}

Result<void> Link::request_echo() {
  amqp_basic_qos_t unchanged{.prefetch_size = 0, .prefetch_count = prefetch_, .global = 0};
  return check_sent(amqp_send_method(state_.get(), channel, AMQP_BASIC_QOS_METHOD, &unchanged));
}

Result<void> Link::publish(const std::string& queue, const amqp_basic_properties_t& properties,
                           const std::string& body) {
  return check_sent(amqp_basic_publish(state_.get(), channel, amqp_empty_bytes, bytes(queue),
                                       /*mandatory=*/1, 0, &properties, bytes(body)));
}

std::size_t Link::frame_bytes_max() const {
  return static_cast<std::size_t>(amqp_get_frame_max(state_.get()));
}

int Link::descriptor() const { return amqp_get_sockfd(state_.get()); }

void Link::close() {
  if (broken_) {
    return;
  }
  amqp_connection_close_t close{};
  close.reply_code = AMQP_REPLY_SUCCESS;
  if (amqp_send_method(state_.get(), 0, AMQP_CONNECTION_CLOSE_METHOD, &close) != AMQP_STATUS_OK) {
    return;
  }
  // Messages can be under way. They are read and dropped until the server confirms.
  const Deadline end{close_time_max};
  while (!end.is_over()) {
    amqp_maybe_release_buffers(state_.get());
    amqp_frame_t frame{};
    const timeval timeout = to_timeval(end.left());
    const int status = amqp_simple_wait_frame_noblock(state_.get(), &frame, &timeout);
    if (status != AMQP_STATUS_OK || (frame.frame_type == AMQP_FRAME_METHOD &&
                                     frame.payload.method.id == AMQP_CONNECTION_CLOSE_OK_METHOD)) {
      return;
    }
  }
}

}  // namespace postrider::amqp
