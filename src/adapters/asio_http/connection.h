// One connection to a receiver, plain or TLS. It moves bytes and reports; it decides nothing.
//
// Reference-counted, because Asio's handlers outlive a close. While it is kept for reuse a read
// stays armed, so that a receiver that hangs up or speaks unasked is noticed at once. Not
// thread-safe.
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

/// What a connection can be reused for.
struct Origin {
  bool tls = false;
  std::string host;
  std::uint16_t port = 0;
};

/// Whoever is using a connection at the moment.
class ConnectionUser
    : public boost::intrusive_ref_counter<ConnectionUser, boost::thread_unsafe_counter> {
 public:
  virtual ~ConnectionUser() = default;
  virtual void on_connected(const error_code& failure) = 0;
  virtual void on_handshaken(const error_code& failure) = 0;
  virtual void on_written(const error_code& failure) = 0;
  virtual void on_read(const error_code& failure, std::string_view bytes) = 0;
};

/// Whoever keeps a connection while nobody uses it.
class ConnectionKeeper {
 public:
  /// The receiver hung up or sent something: the connection is of no use any more.
  virtual void on_spoiled(class Connection& connection) = 0;

 protected:
  ~ConnectionKeeper() = default;
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

  /// Starts the handshake; `on_handshaken` follows unless an error is returned.
  error_code handshake(TlsContext& context, MonoTime now);

  /// Writes at once what the socket takes. `on_written` follows if `writing()`; the bytes must live
  /// as long as the user does.
  error_code write(std::string_view bytes);

  /// `on_read` follows. One at a time.
  void read();

  /// While nobody uses it: tells the keeper as soon as anything comes. What comes is left where it
  /// is, so that `quiet` sees it even before the keeper is told.
  void listen();

  /// Says goodbye: what was written still arrives.
  void close();

  /// Drops everything at once, also what the kernel still holds for a receiver that does not read.
  void abort();

  void set_user(ConnectionUser* user) { user_ = user; }
  void set_keeper(ConnectionKeeper* keeper) { keeper_ = keeper; }

  /// The address at the other end, as the kernel knows it. nullopt when it is gone already.
  [[nodiscard]] std::optional<IpAddress> peer_address() const;
  [[nodiscard]] std::optional<IpAddress> local_address() const;

  /// Nothing has come that nobody asked for, and the receiver has not hung up.
  [[nodiscard]] bool quiet() const;

  /// TLS has taken bytes from the socket that nobody has read yet.
  [[nodiscard]] bool has_unread_input() const;

  [[nodiscard]] bool writing() const { return writing_; }
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  [[nodiscard]] const Origin& origin() const { return origin_; }
  [[nodiscard]] const IpAddress& address() const { return address_; }
  [[nodiscard]] const std::string& address_text() const { return address_text_; }
  [[nodiscard]] const SSL* ssl() const;

  MonoTime created_at;
  MonoTime idle_since;
  std::uint64_t policy_epoch = 0;  // Of the address policy that last allowed it.

 private:
  // The concrete executor: Asio's default is type-erased and costs a little on every operation.
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                  boost::asio::io_context::executor_type>;
  using TlsStream = boost::asio::ssl::stream<Socket&>;

  template <class Stream>
  void write_rest(Stream& stream, std::string_view rest);
  template <class Stream>
  void read_from(Stream& stream);
  void finish_read(const error_code& failure, std::size_t count);
  void on_heard();

  Origin origin_;
  IpAddress address_;
  std::string address_text_;
  TlsPeer tls_peer_;  // Outlives tls_, which refers to it.
  Socket socket_;
  std::unique_ptr<TlsStream> tls_;
  ConnectionUser* user_ = nullptr;
  ConnectionKeeper* keeper_ = nullptr;
  bool reading_ = false;
  bool listening_ = false;
  bool writing_ = false;
  std::array<char, 4096> buffer_;  // A typical response fits several times.
};
using ConnectionPtr = boost::intrusive_ptr<Connection>;

}  // namespace postrider::asio_http
