#include "api/http/http_connection.h"

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>

#include "api/http/http_stream.h"

namespace postrider::api {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t linger_read_bytes = 16ul * 1024;
constexpr std::size_t linger_bytes_max = 64ul * 1024 * 1024;
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

constexpr auto as_result = asio::as_tuple(asio::deferred);

std::string address_of(const asio::ip::tcp::socket& socket) {
  error_code gone;
  return socket.remote_endpoint(gone).address().to_string();
}

}  // namespace

template <class Stream>
HttpConnection<Stream>::HttpConnection(Stream stream, ConnectionShared& shared)
    : ConnectionState(address_of(stream.socket()), shared), stream_(std::move(stream)) {
  error_code ignored;  // These fail only on a connection that is already gone; reading will tell.
  socket().set_option(asio::ip::tcp::no_delay{true}, ignored);
  socket().non_blocking(true, ignored);
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::serve() {
  if constexpr (Stream::is_tls) {
    const bool shaken = co_await shake_hands();
    closed_ = closed_ || !shaken;
  }
  while (!closed_) {
    Step step = parse();
    if (step == Step::need_more) {
      if (invitation_due_) {
        co_await invite_body();
      }
      await_input();
      auto reading = stream_.bytes().async_read_some(input_.prepare(read_bytes()), as_result);
      const auto [error, bytes] = co_await std::move(reading);
      if (!error) {
        input_.commit(bytes);
        continue;
      }
      const bool too_slow = error == asio::error::operation_aborted && !closed_ && is_overdue();
      if (phase_ == Phase::idle || !too_slow) {
        break;
      }
      step = refuse_slow();
    }

    choose_request_id();
    if (step == Step::refused) {
      prepare_refusal();
    } else {
      enter(Phase::handling);
      HttpResponse response = co_await handle();
      prepare(std::move(response));
    }
    enter(Phase::writing);
    bool written = false;
    if constexpr (!Stream::is_tls) {
      written = write_at_once();
    }
    if (!written) {
      written = co_await flush();
    }
    if (written && pieces_) {
      written = co_await relay();
    }
    if (!written) {
      break;
    }
    release_body();
    if (last_) {
      co_await linger();
      break;
    }
  }
  release_body();
  close();
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::turn_away() {
  if constexpr (!Stream::is_tls) {
    prepare_turning_away();
    if (write_at_once()) {
      co_await linger();
    }
  }
  close();
  co_return;
}

/// Within the header's time: a client that does not speak TLS is as good as silent.
template <class Stream>
asio::awaitable<bool> HttpConnection<Stream>::shake_hands() {
  if constexpr (Stream::is_tls) {
    auto shaking = stream_.bytes().async_handshake(asio::ssl::stream_base::server, as_result);
    const auto [error] = co_await std::move(shaking);
    co_return !error;
  }
  co_return true;
}

// Two dozen bytes into an empty socket buffer: they go out now, or the client is gone or so slow
// that it will stop waiting for them by itself.
template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::invite_body() {
  invitation_due_ = false;
  enter(Phase::writing);
  auto writing = stream_.bytes().async_write_some(asio::buffer(continue_line), as_result);
  (void)co_await std::move(writing);  // Of a client that is gone the next read will tell.
}

// True when all is out. Most answers fit into the socket's buffer and need no trip through the
// loop.
template <class Stream>
bool HttpConnection<Stream>::write_at_once() {
  error_code error;
  while (!answer_.empty()) {
    answer_.written(socket().write_some(answer_.unwritten(), error));
    if (error) {
      return false;
    }
  }
  return true;
}

template <class Stream>
asio::awaitable<bool> HttpConnection<Stream>::flush() {
  while (!answer_.empty()) {
    auto writing = stream_.bytes().async_write_some(answer_.unwritten(), as_result);
    const auto [error, bytes] = co_await std::move(writing);
    if (error) {
      shared_.counters.timeouts +=
          error == asio::error::operation_aborted && !closed_ && is_overdue();
      co_return false;
    }
    answer_.written(bytes);
  }
  answer_.release();
  co_return true;
}

// Only the writing has a deadline: between two pieces there may be hours.
template <class Stream>
asio::awaitable<bool> HttpConnection<Stream>::relay() {
  const std::shared_ptr<BodyStream> pieces = pieces_;
  if (shared_.draining) {
    pieces->stop();
  }
  bool more = true;
  while (more && !closed_) {
    enter(Phase::streaming);
    auto pending = pieces->next();
    const std::string piece = co_await std::move(pending);
    more = !piece.empty();
    prepare_piece(piece);
    enter(Phase::writing);
    const bool written = co_await flush();
    if (!written) {
      break;
    }
  }
  pieces_.reset();
  co_return !more && !closed_;
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::linger() {
  enter(Phase::lingering);
  if constexpr (Stream::is_tls) {
    auto parting = stream_.bytes().async_shutdown(as_result);
    (void)co_await std::move(parting);  // Said goodbye, or there is nobody to say it to.
  }
  error_code failed;
  socket().shutdown(asio::ip::tcp::socket::shutdown_send, failed);
  input_.clear();
  std::size_t bytes_read = 0;
  while (!failed && bytes_read < linger_bytes_max) {
    auto reading = socket().async_read_some(input_.prepare(linger_read_bytes), as_result);
    const auto [error, bytes] = co_await std::move(reading);
    failed = error;
    bytes_read += bytes;
  }
}

template <class Stream>
void HttpConnection<Stream>::on_tick() {
  if (is_overdue()) {
    error_code ignored;
    socket().cancel(ignored);
  }
  if (phase_ == Phase::streaming && pieces_ && has_hung_up(socket().native_handle())) {
    pieces_->stop();
  }
}

template <class Stream>
void HttpConnection<Stream>::drain() {
  if (pieces_) {
    last_ = true;
    pieces_->stop();
  }
  if (phase_ == Phase::idle && input_.size() == 0) {
    close();
  }
}

template <class Stream>
void HttpConnection<Stream>::close() {
  closed_ = true;
  if (pieces_) {
    pieces_->stop();
  }
  error_code ignored;
  socket().close(ignored);
}

std::unique_ptr<Connection> make_connection(asio::ip::tcp::socket socket,
                                            ConnectionShared& shared) {
  if (shared.options.tls) {
    return std::make_unique<HttpConnection<TlsStream>>(
        TlsStream{std::move(socket), *shared.options.tls}, shared);
  }
  return std::make_unique<HttpConnection<PlainStream>>(PlainStream{std::move(socket)}, shared);
}

}  // namespace postrider::api
