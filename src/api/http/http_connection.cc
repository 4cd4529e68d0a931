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
  error_code ignored;  // These fail only on a closed connection; the first read reports that.
  socket().set_option(asio::ip::tcp::no_delay{true}, ignored);
  socket().non_blocking(true, ignored);
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::serve() {
  if constexpr (Stream::is_tls) {
    const bool secured = co_await handshake();
    closed_ = closed_ || !secured;
  }
  while (!closed_) {
    Step step = parse();
    if (step == Step::recheck) {
      auto rechecking = recheck_head();
      step = co_await std::move(rechecking);
    }
    if (step == Step::need_more) {
      if (continue_due_) {
        co_await send_continue();
      }
      await_input();
      auto reading = stream_.bytes().async_read_some(input_.prepare(read_bytes()), as_result);
      const auto [error, bytes] = co_await std::move(reading);
      if (!error) {
        input_.commit(bytes);
        continue;
      }
      const bool too_slow = error == asio::error::operation_aborted && !closed_ && is_overdue();
      const bool is_silent = phase_ == Phase::idle && !key_required_;
      if (is_silent || !too_slow) {
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
      written = write_now();
    }
    if (!written) {
      written = co_await flush();
    }
    if (written && body_stream_) {
      written = co_await write_stream();
    }
    report_request(written);
    if (!written) {
      break;
    }
    end_request();
    if (last_) {
      co_await linger();
      break;
    }
  }
  end_request();
  close();
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::serve_if_known() {
  require_key();
  return serve();
}

// The header timeout covers the handshake.
template <class Stream>
asio::awaitable<bool> HttpConnection<Stream>::handshake() {
  if constexpr (Stream::is_tls) {
    auto pending = stream_.bytes().async_handshake(asio::ssl::stream_base::server, as_result);
    const auto [error] = co_await std::move(pending);
    co_return !error;
  }
  co_return true;
}

// One write is enough: the line is short and the socket buffer is normally empty. A client that
// does not receive it whole sends the body after its own timeout.
template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::send_continue() {
  continue_due_ = false;
  enter(Phase::writing);
  auto writing = stream_.bytes().async_write_some(asio::buffer(continue_line), as_result);
  (void)co_await std::move(writing);  // The next read reports a closed connection.
}

// Returns true if everything was written. Most responses fit into the socket buffer and need no
// pass through the event loop.
template <class Stream>
bool HttpConnection<Stream>::write_now() {
  error_code error;
  while (!response_.empty()) {
    response_.written(socket().write_some(response_.unwritten(), error));
    if (error) {
      return false;
    }
  }
  return true;
}

template <class Stream>
asio::awaitable<bool> HttpConnection<Stream>::flush() {
  while (!response_.empty()) {
    auto writing = stream_.bytes().async_write_some(response_.unwritten(), as_result);
    const auto [error, bytes] = co_await std::move(writing);
    if (error) {
      shared_.counters.timeouts +=
          error == asio::error::operation_aborted && !closed_ && is_overdue();
      co_return false;
    }
    response_.written(bytes);
  }
  response_.release();
  co_return true;
}

// Only writing has a deadline: the next piece may come after hours.
template <class Stream>
asio::awaitable<bool> HttpConnection<Stream>::write_stream() {
  const std::shared_ptr<BodyStream> stream = body_stream_;
  if (shared_.draining) {
    stream->stop();
  }
  bool more = true;
  while (more && !closed_) {
    enter(Phase::streaming);
    auto pending = stream->next();
    const std::string piece = co_await std::move(pending);
    more = !piece.empty();
    prepare_piece(piece);
    enter(Phase::writing);
    const bool written = co_await flush();
    if (!written) {
      break;
    }
  }
  body_stream_.reset();
  co_return !more && !closed_;
}

// Reads and discards what the client is still sending, so that the kernel does not reset the
// connection before the client has read the response.
template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::linger() {
  enter(Phase::lingering);
  if constexpr (Stream::is_tls) {
    auto shutdown = stream_.bytes().async_shutdown(as_result);
    (void)co_await std::move(shutdown);  // Fails if the client has already disconnected.
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
  if (phase_ == Phase::streaming && body_stream_ && peer_has_closed(socket().native_handle())) {
    body_stream_->stop();
  }
}

template <class Stream>
void HttpConnection<Stream>::drain() {
  if (body_stream_) {
    last_ = true;
    body_stream_->stop();
  }
  if (phase_ == Phase::idle && input_.size() == 0) {
    close();
  }
}

template <class Stream>
void HttpConnection<Stream>::close() {
  closed_ = true;
  if (body_stream_) {
    body_stream_->stop();
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
