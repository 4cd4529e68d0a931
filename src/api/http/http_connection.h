// One client connection: reads requests, handles them one at a time and writes the responses in
// order. Private to the HTTP server; runs on its io thread.
#pragma once

#include <memory>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "api/http/client_stream.h"
#include "api/http/connection_state.h"

namespace postrider::api {

/// The listener's interface to a connection.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Serves requests until the connection is closed. This object and its ConnectionShared must
  /// outlive the coroutine.
  virtual boost::asio::awaitable<void> serve() = 0;

  /// The same for a connection over a limit: it is served if its first request has a valid key. Any
  /// other client gets a 503, and so does one that sends no request within a short time.
  virtual boost::asio::awaitable<void> serve_if_known() = 0;
  /// Whether such a connection has not shown a key yet.
  [[nodiscard]] virtual bool is_unknown() const = 0;

  /// Cancels the current phase if its deadline has passed. Call at every tick.
  virtual void on_tick() = 0;

  /// Closes an idle connection. Otherwise the current response is the last one.
  virtual void drain() = 0;

  virtual void close() = 0;
};

/// A TLS connection if `shared.options.tls` is set, otherwise a plain one.
[[nodiscard]] std::unique_ptr<Connection> make_connection(boost::asio::ip::tcp::socket socket,
                                                          ConnectionShared& shared);

template <class Stream>
class HttpConnection final : public Connection, private ConnectionState {
 public:
  HttpConnection(Stream stream, ConnectionShared& shared);

  boost::asio::awaitable<void> serve() override;
  boost::asio::awaitable<void> serve_if_known() override;
  [[nodiscard]] bool is_unknown() const override { return key_required_; }
  void on_tick() override;
  void drain() override;
  void close() override;

 private:
  [[nodiscard]] boost::asio::ip::tcp::socket& socket() { return stream_.socket(); }

  boost::asio::awaitable<bool> handshake();
  boost::asio::awaitable<void> send_continue();
  bool write_now();
  boost::asio::awaitable<bool> flush();
  boost::asio::awaitable<bool> write_stream();
  boost::asio::awaitable<void> linger();

  Stream stream_;
  bool closed_ = false;  // Set by close(), which may be called while the coroutine waits.
};

}  // namespace postrider::api
