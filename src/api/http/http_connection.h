// One client's connection: reads requests, has them handled one after the other, writes the answers
// in order. Private to the HTTP server; runs on its io thread.
#pragma once

#include <memory>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "api/http/client_stream.h"
#include "api/http/connection_state.h"

namespace postrider::api {

/// What the listener knows of a connection.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Ends when the connection has. `this` and what it shares must outlive it.
  virtual boost::asio::awaitable<void> serve() = 0;

  /// Answers 503 to whatever is asked, and closes. Over TLS it just closes: a handshake costs more
  /// than we have when there are too many.
  virtual boost::asio::awaitable<void> turn_away() = 0;

  /// Ends what has taken too long.
  virtual void on_tick() = 0;

  /// Closes if no request is under way; otherwise the next answer is the last.
  virtual void drain() = 0;

  virtual void close() = 0;
};

/// Plain or TLS, as `shared.options` says.
[[nodiscard]] std::unique_ptr<Connection> make_connection(boost::asio::ip::tcp::socket socket,
                                                          ConnectionShared& shared);

template <class Stream>
class HttpConnection final : public Connection, private ConnectionState {
 public:
  HttpConnection(Stream stream, ConnectionShared& shared);

  boost::asio::awaitable<void> serve() override;
  boost::asio::awaitable<void> turn_away() override;
  void on_tick() override;
  void drain() override;
  void close() override;

 private:
  [[nodiscard]] boost::asio::ip::tcp::socket& socket() { return stream_.socket(); }

  boost::asio::awaitable<bool> shake_hands();
  boost::asio::awaitable<void> invite_body();
  bool write_at_once();
  boost::asio::awaitable<bool> flush();
  boost::asio::awaitable<bool> relay();
  boost::asio::awaitable<void> linger();

  Stream stream_;
  bool closed_ = false;  // By us, from outside the coroutine.
};

}  // namespace postrider::api
