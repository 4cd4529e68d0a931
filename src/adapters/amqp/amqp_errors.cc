#include "adapters/amqp/amqp_errors.h"

#include <fmt/format.h>

namespace postrider::amqp {
namespace {

Error unavailable(std::string message) { return {Errc::unavailable, std::move(message)}; }

/// Without the full stop at its end.
std::string quoted(std::string_view text) {
  std::string line = printable(text);
  while (line.ends_with('.')) {
    line.pop_back();
  }
  return line;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, 500)) {
    line += c >= ' ' && c <= '~' ? c : '?';
  }
  return line;
}

Error connect_error(const Address& address, int status, std::string_view detail) {
  const std::string server = address.shown();
  switch (status) {
    case AMQP_STATUS_HOSTNAME_RESOLUTION_FAILED:
      return unavailable(fmt::format("The host name of RabbitMQ, {}, is unknown.", address.host));
    case AMQP_STATUS_SOCKET_ERROR:
      return unavailable(fmt::format("RabbitMQ at {} refuses connections.", server));
    case AMQP_STATUS_TIMEOUT:
      return unavailable(fmt::format("RabbitMQ at {} does not answer.", server));
    default:
      break;
  }
  if (!detail.empty()) {
    return unavailable(
        fmt::format("The TLS connection to RabbitMQ at {} failed: {}.", server, quoted(detail)));
  }
  return unavailable(fmt::format("The connection to RabbitMQ at {} failed: {}.", server,
                                 quoted(amqp_error_string2(status))));
}

Error connection_error(const Address& address, int status) {
  const std::string server = address.shown();
  switch (status) {
    case AMQP_STATUS_CONNECTION_CLOSED:
    case AMQP_STATUS_SOCKET_CLOSED:
    case AMQP_STATUS_SOCKET_ERROR:
    case AMQP_STATUS_SSL_ERROR:
      return unavailable(fmt::format("The connection to RabbitMQ at {} was lost.", server));
    case AMQP_STATUS_HEARTBEAT_TIMEOUT:
      return unavailable(
          fmt::format("RabbitMQ at {} has been silent for {} s.", server, 2 * address.heartbeat_s));
    case AMQP_STATUS_TIMEOUT:
      return unavailable(fmt::format("RabbitMQ at {} does not answer.", server));
    default:
      return unavailable(fmt::format("The connection to RabbitMQ at {} failed: {}.", server,
                                     quoted(amqp_error_string2(status))));
  }
}

Error closed_error(const amqp_method_t& method) {
  if (method.id == AMQP_CONNECTION_CLOSE_METHOD) {
    const auto& close = *static_cast<const amqp_connection_close_t*>(method.decoded);
    return unavailable(
        fmt::format("RabbitMQ closed the connection: {}.", quoted(view(close.reply_text))));
  }
  const auto& close = *static_cast<const amqp_channel_close_t*>(method.decoded);
  return unavailable(
      fmt::format("RabbitMQ refused an operation: {}.", quoted(view(close.reply_text))));
}

Error reply_error(const Address& address, const amqp_rpc_reply_t& reply, std::string_view action) {
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) {
    const bool known = reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD ||
                       reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD;
    return known ? closed_error(reply.reply)
                 : unavailable(fmt::format("RabbitMQ did not {}.", action));
  }
  return connection_error(address, reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION
                                       ? reply.library_error
                                       : AMQP_STATUS_CONNECTION_CLOSED);
}

int channel_close_code(const amqp_rpc_reply_t& reply) {
  const bool closed = reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
                      reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD;
  return closed ? static_cast<const amqp_channel_close_t*>(reply.reply.decoded)->reply_code : 0;
}

}  // namespace postrider::amqp
