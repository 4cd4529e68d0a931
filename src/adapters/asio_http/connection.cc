#include "adapters/asio_http/connection.h"

#include <cerrno>
#include <cstring>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "core/base/assert.h"

namespace postrider::asio_http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

tcp::endpoint to_endpoint(const IpAddress& address, std::uint16_t port) {
  if (address.is_v6) {
    asio::ip::address_v6::bytes_type bytes;
    std::memcpy(bytes.data(), address.bytes.data(), bytes.size());
    return {asio::ip::address_v6{bytes}, port};
  }
  asio::ip::address_v4::bytes_type bytes;
  std::memcpy(bytes.data(), address.bytes.data(), bytes.size());
  return {asio::ip::address_v4{bytes}, port};
}

IpAddress to_address(const tcp::endpoint& endpoint) {
  IpAddress address;
  address.is_v6 = endpoint.address().is_v6();
  if (address.is_v6) {
    const auto bytes = endpoint.address().to_v6().to_bytes();
    std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  } else {
    const auto bytes = endpoint.address().to_v4().to_bytes();
    std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  }
  return address;
}

}  // namespace

Connection::Connection(asio::io_context& io, Origin origin, MonoTime now)
    : created_at(now), origin_(std::move(origin)), socket_(io) {}

error_code Connection::connect(const IpAddress& address, ConnectionUser& user) {
  const tcp::endpoint endpoint = to_endpoint(address, origin_.port);
  error_code failure;
  socket_.open(endpoint.protocol(), failure);
  if (failure) {
    return failure;
  }
  // Requests are written in one piece; Nagle's algorithm would only delay them.
  socket_.set_option(tcp::no_delay{true}, failure);
  socket_.non_blocking(true, failure);
  if (failure) {
    return failure;
  }
  address_ = address;
  address_text_ = address.to_string();
  user_ = &user;
  socket_.async_connect(endpoint, [self = ConnectionPtr{this}](const error_code& result) {
    if (const boost::intrusive_ptr<ConnectionUser> current{self->user_}) {
      current->on_connected(result);
    }
  });
  return {};
}

error_code Connection::handshake(TlsContext& context, MonoTime now) {
  tls_peer_.host = origin_.host;
  tls_peer_.is_address = IpAddress::parse(origin_.host).has_value();
  tls_peer_.session_key = fmt::format("{} {}", origin_.host, origin_.port);
  try {
    tls_ = std::make_unique<TlsStream>(socket_, context.native());
  } catch (const boost::system::system_error& error) {  // SSL_new has failed.
    return error.code();
  }
  if (!context.prepare(tls_->native_handle(), tls_peer_, now)) {
    return asio::error::no_memory;
  }
  tls_->async_handshake(asio::ssl::stream_base::client,
                        [self = ConnectionPtr{this}](const error_code& result) {
                          if (const boost::intrusive_ptr<ConnectionUser> current{self->user_}) {
                            current->on_handshake_done(result);
                          }
                        });
  return {};
}

error_code Connection::write(std::string_view bytes) {
  POSTRIDER_ASSERT(!writing_);
  if (tls_) {
    write_rest(*tls_, bytes);
    return {};
  }
  // Usually the socket takes everything at once, which saves a turn of the event loop.
  error_code failure;
  const std::size_t count = socket_.write_some(asio::buffer(bytes), failure);
  if (failure && failure != asio::error::would_block) {
    return failure;
  }
  if (count < bytes.size()) {
    write_rest(socket_, bytes.substr(count));
  }
  return {};
}

template <class Stream>
void Connection::write_rest(Stream& stream, std::string_view rest) {
  writing_ = true;
  // The handler keeps the user alive, because the bytes belong to it.
  asio::async_write(stream, asio::buffer(rest),
                    [self = ConnectionPtr{this}, user = boost::intrusive_ptr{user_}](
                        const error_code& failure, std::size_t) {
                      self->writing_ = false;
                      if (self->user_ == user.get() && user) {
                        user->on_written(failure);
                      }
                    });
}

void Connection::read() {
  POSTRIDER_ASSERT(!reading_);
  reading_ = true;
  if (tls_) {
    read_from(*tls_);
  } else {
    read_from(socket_);
  }
}

template <class Stream>
void Connection::read_from(Stream& stream) {
  stream.async_read_some(asio::buffer(buffer_), [self = ConnectionPtr{this}](
                                                    const error_code& failure, std::size_t count) {
    self->finish_read(failure, count);
  });
}

void Connection::finish_read(const error_code& failure, std::size_t count) {
  reading_ = false;
  if (const boost::intrusive_ptr<ConnectionUser> current{user_}) {
    current->on_read(failure, {buffer_.data(), count});
  }
}

void Connection::watch_while_idle() {
  POSTRIDER_ASSERT(!reading_);
  if (watching_) {
    return;
  }
  watching_ = true;
  // An asynchronous read would consume the bytes before its handler runs. In between the connection
  // would look idle, and the bytes could be taken for the response to the next request.
  socket_.async_wait(Socket::wait_read, [self = ConnectionPtr{this}](const error_code&) {
    self->watching_ = false;
    if (self->idle_observer_ != nullptr) {
      self->on_idle_event();
    }
  });
}

void Connection::on_idle_event() {
  if (tls_) {
    // Session tickets may arrive at any time. No operation is pending, so a direct read is safe.
    error_code failure;
    (void)tls_->read_some(asio::buffer(buffer_), failure);
    if (failure == asio::error::would_block) {
      return watch_while_idle();
    }
  }
  idle_observer_->on_unusable(*this);
}

void Connection::close() {
  user_ = nullptr;
  tls_peer_.context = nullptr;
  if (tls_ && SSL_is_init_finished(tls_->native_handle()) == 1) {
    // No close_notify is sent, because the end of every message is known. Without this call OpenSSL
    // would consider the session broken and not resume it.
    SSL_set_shutdown(tls_->native_handle(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  }
  error_code ignored;
  socket_.close(ignored);
}

void Connection::abort() {
  user_ = nullptr;
  tls_peer_.context = nullptr;
  error_code ignored;
  socket_.set_option(asio::socket_base::linger{true, 0}, ignored);
  socket_.close(ignored);
}

std::optional<IpAddress> Connection::peer_address() const {
  error_code failure;
  const tcp::endpoint endpoint = socket_.remote_endpoint(failure);
  if (failure) {
    return std::nullopt;
  }
  return to_address(endpoint);
}

std::optional<IpAddress> Connection::local_address() const {
  error_code failure;
  const tcp::endpoint endpoint = socket_.local_endpoint(failure);
  if (failure) {
    return std::nullopt;
  }
  return to_address(endpoint);
}

bool Connection::has_unread_input() const {
  if (!tls_) {
    return false;
  }
  SSL* session = tls_->native_handle();
  return SSL_has_pending(session) != 0 || BIO_ctrl_pending(SSL_get_rbio(session)) != 0;
}

bool Connection::is_still_idle() const {
  if (has_unread_input()) {
    return false;
  }
  char byte = 0;
  auto& socket = const_cast<Socket&>(socket_);  // native_handle() is not const in Asio.
  const ssize_t count = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool has_source_address(const IpAddress& address) {
  // Connecting a datagram socket chooses its source address. Its ports are not those of TCP.
  constexpr std::uint16_t discard_port = 9;
  asio::io_context io;
  asio::ip::udp::socket socket{io};
  error_code failure;
  const tcp::endpoint target = to_endpoint(address, discard_port);
  const asio::ip::udp::endpoint endpoint{target.address(), target.port()};
  socket.open(endpoint.protocol(), failure);
  if (failure) {
    return true;  // Not known. The attempt is made later.
  }
  socket.connect(endpoint, failure);
  return !failure;
}

const SSL* Connection::ssl() const {
  return tls_ ? const_cast<TlsStream&>(*tls_).native_handle() : nullptr;
}

}  // namespace postrider::asio_http
