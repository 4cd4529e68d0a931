// One connection to a receiver, plain or TLS. It transfers bytes and reports events; its user makes
// all decisions.
//
// Reference-counted, because Asio calls handlers after a close. While the connection is idle its
// socket is watched, so that a close or unexpected bytes are noticed at once. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "core/base/time.h"
#include "core/net/address.h"

#include "adapters/asio_http/tls_context.h"

namespace postrider::asio_http {

using boost::system::error_code;

/// A connection can be reused for requests to the same origin.
struct Origin {
  bool tls = false;
  std::string host;
  std::uint16_t port = 0;
};

/// Receives the events of a connection while it is in use.
class ConnectionUser
    : public boost::intrusive_ref_counter<ConnectionUser, boost::thread_unsafe_counter> {
 public:
  virtual ~ConnectionUser() = default;
  virtual void on_connected(const error_code& failure) = 0;
  virtual void on_handshake_done(const error_code& failure) = 0;
  virtual void on_written(const error_code& failure) = 0;
  virtual void on_read(const error_code& failure, std::string_view bytes) = 0;
};

/// Receives the events of an idle connection.
class IdleConnectionObserver {
 public:
  /// The receiver closed the connection or sent unexpected bytes: it cannot be reused.
  virtual void on_unusable(class Connection& connection) = 0;

 protected:
  ~IdleConnectionObserver() = default;
};

struct OriginTag;
struct AgeTag;
template <class Tag>
using IdleHook = boost::intrusive::list_base_hook<boost::intrusive::tag<Tag>>;

class Connection : public boost::intrusive_ref_counter<Connection, boost::thread_unsafe_counter>,
                   public IdleHook<OriginTag>,
                   public IdleHook<AgeTag> {
 public:
  Connection(boost::asio::io_context& io, Origin origin, MonoTime now);

  /// Starts connecting; `on_connected` follows unless an error is returned.
  error_code connect(const IpAddress& address, ConnectionUser& user);

  /// Starts the handshake; `on_handshake_done` follows unless an error is returned.
  error_code handshake(TlsContext& context, MonoTime now);

  /// Writes synchronously as much as the socket takes. `on_written` follows if `writing()`. The
  /// bytes must live as long as the user.
  error_code write(std::string_view bytes);

  /// Starts a read; `on_read` follows. Only one read at a time.
  void read();

  /// Watches an idle connection and calls the observer when anything arrives. Does not consume the
  /// bytes, so that `is_still_idle` sees them even before the observer is called.
  void watch_while_idle();

  /// Closes gracefully: bytes already written still arrive.
  void close();

  /// Resets the connection and discards unsent bytes, including those in the kernel.
  void abort();

  void set_user(ConnectionUser* user) { user_ = user; }
  void set_idle_observer(IdleConnectionObserver* observer) { idle_observer_ = observer; }

  /// The peer's address as reported by the kernel. Returns nullopt if the connection is closed.
  [[nodiscard]] std::optional<IpAddress> peer_address() const;
  [[nodiscard]] std::optional<IpAddress> local_address() const;

  /// No bytes have arrived and the receiver has not closed the connection.
  [[nodiscard]] bool is_still_idle() const;

  /// TLS has taken bytes from the socket that have not been read yet.
  [[nodiscard]] bool has_unread_input() const;

  [[nodiscard]] bool writing() const { return writing_; }
  [[nodiscard]] const Origin& origin() const { return origin_; }
  [[nodiscard]] const IpAddress& address() const { return address_; }
  [[nodiscard]] const std::string& address_text() const { return address_text_; }
  [[nodiscard]] const SSL* ssl() const;

  MonoTime created_at;
  MonoTime idle_since;
  std::uint64_t policy_epoch = 0;  // Of the address policy that last allowed this address.

 private:
  // The concrete executor type: Asio's default is type-erased, which costs on every operation.
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                  boost::asio::io_context::executor_type>;
  using TlsStream = boost::asio::ssl::stream<Socket&>;

  template <class Stream>
  void write_rest(Stream& stream, std::string_view rest);
  template <class Stream>
  void read_from(Stream& stream);
  void finish_read(const error_code& failure, std::size_t count);
  void on_idle_event();

  Origin origin_;
  IpAddress address_;
  std::string address_text_;
  TlsPeer tls_peer_;  // Must outlive tls_, which refers to it.
  Socket socket_;
  std::unique_ptr<TlsStream> tls_;
  ConnectionUser* user_ = nullptr;
  IdleConnectionObserver* idle_observer_ = nullptr;
  bool reading_ = false;
  bool watching_ = false;
  bool writing_ = false;
  std::array<char, 4096> buffer_;  // Several typical responses fit.
};
using ConnectionPtr = boost::intrusive_ptr<Connection>;

/// True if this machine has an address from which `address` can be reached. Sends nothing.
[[nodiscard]] bool has_source_address(const IpAddress& address);

}  // namespace postrider::asio_http
