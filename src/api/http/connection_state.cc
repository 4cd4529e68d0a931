#include "api/http/connection_state.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "api/http/client_address.h"
#include "api/http/http_stream.h"

namespace postrider::api {
namespace {

namespace asio = boost::asio;

constexpr std::size_t read_bytes_min = 4ul * 1024;
// The next two are small because there may be ten thousand connections.
constexpr std::size_t read_bytes_max = 16ul * 1024;
constexpr std::size_t input_kept_bytes_max = 16ul * 1024;
// Clients reconnect from time to time, which balances them over the io threads again.
constexpr std::uint64_t requests_max = 1'000'000;
constexpr std::uint64_t no_deadline = std::numeric_limits<std::uint64_t>::max();

Problem too_slow() {
  return {408,
          "request_timeout",
          "Request timeout",
          "The request did not arrive in time. Send it again.",
          {}};
}

Problem overloaded(std::string detail) {
  return {503, "overloaded", "Too busy", std::move(detail), {}};
}

RequestLimits limits_of(const HttpServerOptions& options) {
  return {.header_bytes_max = options.header_bytes_max, .body_bytes_max = options.body_bytes_max};
}

}  // namespace

ConnectionState::ConnectionState(std::string remote_ip, ConnectionShared& shared)
    : shared_(shared), parser_(limits_of(shared.options)), remote_ip_(std::move(remote_ip)) {
  if (const std::optional<IpAddress> peer = IpAddress::parse(remote_ip_)) {
    remote_ip_ = peer->unmapped().value_or(*peer).to_string();
    peer_is_trusted_ = is_in(shared_.options.trusted_proxies, *peer);
  }
  // The first request must arrive within the header timeout. The longer idle timeout applies only
  // after a request.
  deadline_tick_ = deadline_after(shared_.options.header_timeout);
}

ConnectionState::~ConnectionState() { release_body(); }

ConnectionState::Step ConnectionState::parse() {
  for (;;) {
    const auto bytes = input_.cdata();
    const RequestParser::Progress progress =
        parser_.advance({static_cast<const char*>(bytes.data()), bytes.size()});
    input_.consume(progress.consumed);
    if (progress.step == Step::refused) {
      return refuse(parser_.problem());
    }
    if (!account_body()) {
      return refuse(
          overloaded("The server is reading too many request bodies. Try again in a moment."));
    }
    if (progress.step != Step::header_done) {
      return progress.step;
    }
    if (parser_.expects_continue() && input_.size() == 0) {
      continue_due_ = true;
    }
  }
}

ConnectionState::Step ConnectionState::refuse(Problem problem) {
  problem_ = std::move(problem);
  last_ = true;
  return Step::refused;
}

ConnectionState::Step ConnectionState::refuse_slow() {
  ++shared_.counters.timeouts;
  return refuse(too_slow());
}

bool ConnectionState::account_body() {
  const std::size_t buffered = parser_.body_bytes_buffered();
  if (buffered <= accounted_bytes_) {
    return true;
  }
  shared_.buffered_bytes += buffered - accounted_bytes_;
  accounted_bytes_ = buffered;
  return shared_.buffered_bytes <= shared_.options.buffered_bytes_max;
}

void ConnectionState::release_body() {
  POSTRIDER_ASSERT(shared_.buffered_bytes >= accounted_bytes_);
  shared_.buffered_bytes -= accounted_bytes_;
  accounted_bytes_ = 0;
}

void ConnectionState::await_input() {
  const Phase unfinished = input_.size() > 0 ? Phase::header : Phase::idle;
  const Phase phase = parser_.header_is_done() ? Phase::body : unfinished;
  if (phase_ != phase) {
    enter(phase);
  }
  if (phase == Phase::idle && input_.capacity() > input_kept_bytes_max) {
    input_.shrink_to_fit();
  }
}

// The deadline covers the whole phase, so a client cannot extend it by sending a few bytes at a
// time.
void ConnectionState::enter(Phase phase) {
  phase_ = phase;
  const bool unlimited = phase == Phase::handling || phase == Phase::streaming;
  deadline_tick_ = unlimited ? no_deadline : deadline_after(timeout_of(phase));
}

std::uint64_t ConnectionState::deadline_after(std::chrono::milliseconds timeout) const {
  // Rounded up, and one tick more, because the current tick has partly elapsed.
  const auto ticks = timeout / shared_.tick_interval + 1;
  return shared_.tick + static_cast<std::uint64_t>(ticks) + 1;
}

std::chrono::milliseconds ConnectionState::timeout_of(Phase phase) const {
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

std::size_t ConnectionState::read_bytes() const {
  if (phase_ != Phase::body) {
    return read_bytes_min;
  }
  const std::size_t expected = parser_.body_bytes_expected();
  const std::size_t missing = expected - std::min(expected, parser_.body_bytes_buffered());
  return std::clamp(missing, read_bytes_min, read_bytes_max);
}

void ConnectionState::choose_request_id() {
  request_id_ = parser_.client_request_id();
  if (!request_id_.empty()) {
    return;
  }
  const auto& make = shared_.options.make_request_id;
  request_id_ = make ? make() : fmt::format("req-{}", ++shared_.request_ids_generated);
}

asio::awaitable<HttpResponse> ConnectionState::handle() {
  HttpRequest request = parser_.take_request();
  request.remote_ip = peer_is_trusted_ ? client_address(remote_ip_, request.headers,
                                                        shared_.options.trusted_proxies)
                                       : remote_ip_;
  request.request_id = request_id_;
  ++requests_;
  ++shared_.counters.requests_handled;

  std::string what;
  try {
    asio::awaitable<HttpResponse> response = shared_.handler(std::move(request));
    co_return co_await std::move(response);
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {  // A failing handler must not affect other connections.
    what = "an exception that is not a std::exception";
  }
  co_return handler_failed(what);
}

HttpResponse ConnectionState::handler_failed(std::string_view what) {
  ++shared_.counters.handler_errors;
  if (shared_.options.on_handler_error) {
    shared_.options.on_handler_error(request_id_, what);
  }
  return render({.status = 500,
                 .code = "internal_error",
                 .title = "Internal error",
                 .detail = fmt::format("The server failed to process the request. Its log has the "
                                       "details under request id {}.",
                                       request_id_),
                 .errors = {}});
}

void ConnectionState::prepare(HttpResponse response) {
  const RequestTraits& traits = parser_.traits();
  last_ = last_ || !traits.keep_alive || shared_.draining || requests_ >= requests_max ||
          (response.stream != nullptr && traits.http_1_0);
  const ResponseFraming framing{.request_id = request_id_,
                                .date = shared_.date,
                                .close = last_,
                                .http_1_0 = traits.http_1_0,
                                .is_head = traits.is_head};
  // A copy: writing the head needs to know whether the body is streamed.
  body_stream_ = traits.is_head ? nullptr : response.stream;
  response_.fill(std::move(response), framing);
}

void ConnectionState::prepare_piece(std::string_view piece) {
  response_.fill(frame_piece(piece, !parser_.traits().http_1_0));
}

void ConnectionState::prepare_refusal() {
  ++shared_.counters.requests_refused;
  prepare(render(problem_));
}

void ConnectionState::prepare_rejection() {
  choose_request_id();
  last_ = true;
  prepare(render(overloaded("Too many connections are open. Try again in a moment.")));
  enter(Phase::writing);
}

}  // namespace postrider::api
