#include "api/http_connection.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <fmt/format.h>

#include "core/assert.h"

#include "api/http_stream.h"
#include "api/response_writer.h"

namespace postrider::api {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t read_bytes_min = 4ul * 1024;
constexpr std::size_t read_bytes_max = 16ul * 1024;        // Times ten thousand connections.
constexpr std::size_t input_kept_bytes_max = 16ul * 1024;  // Ten thousand idle connections add up.
constexpr std::size_t output_kept_bytes_max = 16ul * 1024;
constexpr std::size_t body_copied_bytes_max =
    8ul * 1024;  // Copying is cheaper than a second buffer.
constexpr std::size_t linger_bytes_max = 64ul * 1024 * 1024;
constexpr std::uint64_t requests_max = 1'000'000;  // Lets connections spread again over io threads.
constexpr std::uint64_t no_deadline = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

constexpr auto as_result = asio::as_tuple(asio::deferred);

Problem too_slow() {
  return {408,
          "request_timeout",
          "Request timeout",
          "The request did not arrive in time; send it again.",
          {}};
}

Problem overloaded(std::string detail) {
  return {503, "overloaded", "Too busy", std::move(detail), {}};
}

RequestLimits limits_of(const HttpServerOptions& options) {
  return {.header_bytes_max = options.header_bytes_max, .body_bytes_max = options.body_bytes_max};
}

}  // namespace

HttpConnection::HttpConnection(asio::ip::tcp::socket socket, ConnectionShared& shared)
    : socket_(std::move(socket)), shared_(shared), parser_(limits_of(shared.options)) {
  error_code ignored;  // These fail only on a connection that is already gone; reading will tell.
  socket_.set_option(asio::ip::tcp::no_delay{true}, ignored);
  socket_.non_blocking(true, ignored);
  remote_ip_ = socket_.remote_endpoint(ignored).address().to_string();
  // Whoever connects has something to say: the patience for idle connections is earned by a
  // request.
  deadline_tick_ = deadline_after(shared_.options.header_timeout);
}

HttpConnection::~HttpConnection() { release_body(); }

asio::awaitable<void> HttpConnection::serve() {
  while (!closed_) {
    Step step = parse();
    if (step == Step::need_more) {
      await_input();
      auto reading = socket_.async_read_some(input_.prepare(read_bytes()), as_result);
      const auto [error, bytes] = co_await std::move(reading);
      if (!error) {
        input_.commit(bytes);
        continue;
      }
      if (phase_ == Phase::idle || !is_overdue(error)) {
        break;
      }
      ++shared_.counters.timeouts;
      step = refuse(too_slow());
    }

    choose_request_id();
    if (step == Step::refused) {
      ++shared_.counters.requests_refused;
      prepare(render(problem_));
    } else {
      enter(Phase::handling);
      HttpResponse response = co_await handle();
      prepare(std::move(response));
    }
    enter(Phase::writing);
    bool written = write_at_once();
    if (!written) {
      written = co_await flush();
    }
    if (written && stream_) {
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

asio::awaitable<void> HttpConnection::turn_away() {
  choose_request_id();
  last_ = true;
  prepare(render(overloaded("Too many connections are open; try again in a moment.")));
  enter(Phase::writing);
  if (write_at_once()) {
    co_await linger();
  }
  close();
}

HttpConnection::Step HttpConnection::parse() {
  for (;;) {
    const auto bytes = input_.cdata();
    const RequestParser::Progress progress =
        parser_.advance({static_cast<const char*>(bytes.data()), bytes.size()});
    input_.consume(progress.consumed);
    if (progress.step == Step::refused) {
      return refuse(parser_.problem());
    }
    if (!account_body()) {
      return refuse(overloaded("Too many request bodies are being read; try again in a moment."));
    }
    if (progress.step != Step::header_done) {
      return progress.step;
    }
    if (parser_.expects_continue() && input_.size() == 0) {
      invite_body();
    }
  }
}

HttpConnection::Step HttpConnection::refuse(Problem problem) {
  problem_ = std::move(problem);
  last_ = true;
  return Step::refused;
}

// Two dozen bytes into an empty socket buffer: they go out now, or the client is gone or so slow
// that it will stop waiting for them by itself.
void HttpConnection::invite_body() {
  error_code ignored;
  socket_.write_some(asio::buffer(continue_line), ignored);
}

bool HttpConnection::account_body() {
  const std::size_t buffered = parser_.body_bytes_buffered();
  if (buffered <= accounted_bytes_) {
    return true;
  }
  shared_.buffered_bytes += buffered - accounted_bytes_;
  accounted_bytes_ = buffered;
  return shared_.buffered_bytes <= shared_.options.buffered_bytes_max;
}

void HttpConnection::release_body() {
  POSTRIDER_ASSERT(shared_.buffered_bytes >= accounted_bytes_);
  shared_.buffered_bytes -= accounted_bytes_;
  accounted_bytes_ = 0;
}

void HttpConnection::await_input() {
  const Phase unfinished = input_.size() > 0 ? Phase::header : Phase::idle;
  const Phase phase = parser_.header_is_done() ? Phase::body : unfinished;
  if (phase_ != phase) {
    enter(phase);
  }
  if (phase == Phase::idle && input_.capacity() > input_kept_bytes_max) {
    input_.shrink_to_fit();
  }
}

// A phase's deadline holds for all of it: a client that trickles gains nothing by it.
void HttpConnection::enter(Phase phase) {
  phase_ = phase;
  const bool unhurried = phase == Phase::handling || phase == Phase::streaming;
  deadline_tick_ = unhurried ? no_deadline : deadline_after(timeout_of(phase));
}

std::uint64_t HttpConnection::deadline_after(std::chrono::milliseconds timeout) const {
  // One more, because the current tick is already partly over.
  const auto ticks = timeout / shared_.tick_interval + 1;
  return shared_.tick + static_cast<std::uint64_t>(ticks) + 1;
}

std::chrono::milliseconds HttpConnection::timeout_of(Phase phase) const {
  const HttpServerOptions& options = shared_.options;
  switch (phase) {
    case Phase::idle:
      return options.idle_timeout;
    case Phase::header:
      return options.header_timeout;
    case Phase::body:
      return options.body_timeout;
    case Phase::lingering:
      return options.linger_timeout;
    case Phase::handling:
    case Phase::writing:
    case Phase::streaming:
      break;
  }
  return options.write_timeout;
}

std::size_t HttpConnection::read_bytes() const {
  if (phase_ != Phase::body) {
    return read_bytes_min;
  }
  const std::size_t expected = parser_.body_bytes_expected();
  const std::size_t missing = expected - std::min(expected, parser_.body_bytes_buffered());
  return std::clamp(missing, read_bytes_min, read_bytes_max);
}

bool HttpConnection::is_overdue(error_code error) const {
  return error == asio::error::operation_aborted && !closed_ && shared_.tick >= deadline_tick_;
}

void HttpConnection::choose_request_id() {
  request_id_ = parser_.client_request_id();
  if (!request_id_.empty()) {
    return;
  }
  const auto& make = shared_.options.make_request_id;
  request_id_ = make ? make() : fmt::format("req-{}", ++shared_.ids_made);
}

asio::awaitable<HttpResponse> HttpConnection::handle() {
  HttpRequest request = parser_.take_request();
  request.remote_ip = remote_ip_;
  request.request_id = request_id_;
  ++requests_;
  ++shared_.counters.requests_handled;

  std::string what = "something that is not a std::exception";
  try {
    asio::awaitable<HttpResponse> answer = shared_.handler(std::move(request));
    co_return co_await std::move(answer);
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {  // One request's failure must not end the thousands beside it.
  }
  co_return handler_failed(what);
}

HttpResponse HttpConnection::handler_failed(std::string_view what) {
  ++shared_.counters.handler_errors;
  if (shared_.options.on_handler_error) {
    shared_.options.on_handler_error(request_id_, what);
  }
  return render({.status = 500,
                 .code = "internal_error",
                 .title = "Internal error",
                 .detail = fmt::format("Something went wrong here, and it is not your request. The "
                                       "server's log has more under request id {}.",
                                       request_id_),
                 .errors = {}});
}

void HttpConnection::prepare(HttpResponse response) {
  const RequestParser::Manner& manner = parser_.manner();
  last_ = last_ || !manner.keep_alive || shared_.draining || requests_ >= requests_max ||
          (response.stream != nullptr && manner.http_1_0);
  const ResponseFraming framing{.request_id = request_id_,
                                .date = shared_.date,
                                .close = last_,
                                .http_1_0 = manner.http_1_0,
                                .is_head = manner.is_head};
  if (output_.capacity() > output_kept_bytes_max) {
    output_ = {};
  }
  output_.clear();
  large_body_.clear();
  written_bytes_ = 0;
  write_head(response, framing, output_);
  stream_ = manner.is_head ? nullptr : std::move(response.stream);
  if (!has_body(response, framing)) {
    return;
  }
  if (response.body.size() <= body_copied_bytes_max) {
    output_ += response.body;
  } else {
    large_body_ = std::move(response.body);
  }
}

std::array<asio::const_buffer, 2> HttpConnection::unwritten() const {
  const std::size_t of_output = std::min(written_bytes_, output_.size());
  return {asio::buffer(output_) + of_output,
          asio::buffer(large_body_) + (written_bytes_ - of_output)};
}

// True when all is out. Most answers fit into the socket's buffer and need no trip through the
// loop.
bool HttpConnection::write_at_once() {
  error_code error;
  while (written_bytes_ < output_.size() + large_body_.size()) {
    written_bytes_ += socket_.write_some(unwritten(), error);
    if (error) {
      return false;
    }
  }
  return true;
}

asio::awaitable<bool> HttpConnection::flush() {
  while (written_bytes_ < output_.size() + large_body_.size()) {
    auto writing = socket_.async_write_some(unwritten(), as_result);
    const auto [error, bytes] = co_await std::move(writing);
    if (error) {
      shared_.counters.timeouts += is_overdue(error) ? 1 : 0;
      co_return false;
    }
    written_bytes_ += bytes;
  }
  large_body_ = {};
  co_return true;
}

// Only the writing has a deadline: between two pieces there may be hours.
asio::awaitable<bool> HttpConnection::relay() {
  const std::shared_ptr<BodyStream> stream = stream_;
  const bool chunked = !parser_.manner().http_1_0;
  if (shared_.draining) {
    stream->stop();
  }
  bool more = true;
  while (more && !closed_) {
    enter(Phase::streaming);
    auto pending = stream->next();
    const std::string piece = co_await std::move(pending);
    more = !piece.empty();
    output_ = frame_piece(piece, chunked);
    written_bytes_ = 0;
    enter(Phase::writing);
    bool written = write_at_once();
    if (!written) {
      written = co_await flush();
    }
    if (!written) {
      break;
    }
  }
  stream_.reset();
  co_return !more && !closed_;
}

asio::awaitable<void> HttpConnection::linger() {
  enter(Phase::lingering);
  error_code failed;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, failed);
  input_.clear();
  std::size_t bytes_read = 0;
  while (!failed && bytes_read < linger_bytes_max) {
    auto reading = socket_.async_read_some(input_.prepare(read_bytes_max), as_result);
    const auto [error, bytes] = co_await std::move(reading);
    failed = error;
    bytes_read += bytes;
  }
}

void HttpConnection::on_tick() {
  if (shared_.tick >= deadline_tick_) {
    error_code ignored;
    socket_.cancel(ignored);
  }
  if (phase_ == Phase::streaming && stream_ && has_hung_up(socket_.native_handle())) {
    stream_->stop();
  }
}

void HttpConnection::drain() {
  if (stream_) {
    last_ = true;
    stream_->stop();
  }
  if (phase_ == Phase::idle && input_.size() == 0) {
    close();
  }
}

void HttpConnection::close() {
  closed_ = true;
  if (stream_) {
    stream_->stop();
  }
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace postrider::api
