#include "api/http/connection_state.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

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

Problem too_many_connections() {
  return overloaded(
      "Too many connections are open, from this address or in all. Try again in a moment.");
}

/// Whether the refusal depends on who the caller is, which other servers may know better.
bool is_about_caller(const Problem& problem) {
  return problem.status == 401 || problem.status == 403;
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

ConnectionState::~ConnectionState() {
  end_request();
  if (extra_owner_) {
    shared_.extra_shares.give_back(*extra_owner_);
  }
}

void ConnectionState::require_key() {
  key_required_ = true;
  deadline_tick_ = deadline_after(shared_.options.linger_timeout);
}

bool ConnectionState::take_extra_place(const ShareOwner& owner) {
  if (owner.kind == ShareKind::address ||
      shared_.extra_shares.take(owner) != ShareVerdict::granted) {
    return false;
  }
  extra_owner_ = owner;
  key_required_ = false;
  return true;
}

ConnectionState::Step ConnectionState::parse() {
  using Parsed = RequestParser::Step;
  for (;;) {
    const auto bytes = input_.cdata();
    const RequestParser::Progress progress =
        parser_.advance({static_cast<const char*>(bytes.data()), bytes.size()});
    input_.consume(progress.consumed);
    if (progress.step == Parsed::refused) {
      return refuse(key_required_ ? too_many_connections() : parser_.problem());
    }
    if (progress.step == Parsed::header_done) {
      continue;  // The body may have arrived with the header.
    }
    is_whole_ = progress.step == Parsed::done;
    if (parser_.header_is_done() && !head_checked_ && (!is_whole_ || key_required_)) {
      return check_head();
    }
    return take_body();
  }
}

ConnectionState::Step ConnectionState::check_head() {
  HttpRequest& head = parser_.head();
  head.remote_ip = client_ip(head);
  head.note = watch_.note(shared_.options);
  if (!shared_.options.check_head) {
    return apply_decision(BodyPermit{.body_bytes_max = shared_.options.body_bytes_max,
                                     .owner = {ShareKind::address, client_group(head.remote_ip)}});
  }
  const tl::expected<BodyPermit, Problem> decided = shared_.options.check_head(head);
  if (!decided && shared_.options.recheck_head && is_about_caller(decided.error())) {
    problem_ = decided.error();
    return Step::recheck;
  }
  return apply_decision(decided);
}

asio::awaitable<ConnectionState::Step> ConnectionState::recheck_head() {
  enter(Phase::handling);
  auto deciding = shared_.options.recheck_head(parser_.head(), std::move(problem_));
  const tl::expected<BodyPermit, Problem> decided = co_await std::move(deciding);
  co_return apply_decision(decided);
}

ConnectionState::Step ConnectionState::apply_decision(
    const tl::expected<BodyPermit, Problem>& decided) {
  if (!decided && !key_required_) {
    return refuse(decided.error());
  }
  if (key_required_ && (!decided || !take_extra_place(decided->owner))) {
    return refuse(too_many_connections());
  }
  if (!parser_.limit_body(decided->body_bytes_max)) {
    return refuse(parser_.problem());
  }
  body_owner_ = decided->owner;
  parser_.head().head_checked = true;
  head_checked_ = true;
  continue_due_ = parser_.expects_continue() && parser_.body_bytes_buffered() == 0;
  return take_body();
}

ConnectionState::Step ConnectionState::take_body() {
  if (is_whole_) {
    return Step::done;
  }
  return !parser_.header_is_done() || take_body_share() ? Step::need_more : Step::refused;
}

bool ConnectionState::take_body_share() {
  const std::size_t needed = std::max(parser_.body_bytes_expected(), parser_.body_bytes_buffered());
  if (needed <= body_share_bytes_) {
    return true;
  }
  const std::size_t more = needed - body_share_bytes_;
  const ShareVerdict verdict = shared_.body_shares.take(body_owner_, more);
  if (verdict != ShareVerdict::granted) {
    continue_due_ = false;
    refused_by_share(verdict);
    return false;
  }
  body_share_bytes_ = needed;
  return true;
}

ConnectionState::Step ConnectionState::refused_by_share(ShareVerdict verdict) {
  if (verdict == ShareVerdict::server_full) {
    return refuse(
        overloaded("The server is reading too many request bodies. Try again in a moment."));
  }
  return refuse(share_exceeded(
      body_owner_, "has too many bytes of request bodies on their way. Send fewer at once."));
}

ConnectionState::Step ConnectionState::refuse(Problem problem) {
  problem_ = std::move(problem);
  last_ = true;
  return Step::refused;
}

ConnectionState::Step ConnectionState::refuse_slow() {
  if (key_required_) {
    return refuse(too_many_connections());
  }
  ++shared_.counters.timeouts;
  return refuse(too_slow());
}

void ConnectionState::end_request() {
  if (body_share_bytes_ > 0) {
    shared_.body_shares.give_back(body_owner_, std::exchange(body_share_bytes_, 0));
  }
  head_checked_ = false;
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

std::string ConnectionState::client_ip(const HttpRequest& request) const {
  return peer_is_trusted_
             ? client_address(remote_ip_, request.headers, shared_.options.trusted_proxies)
             : remote_ip_;
}

asio::awaitable<HttpResponse> ConnectionState::handle() {
  HttpRequest request = parser_.take_request();
  request.remote_ip = client_ip(request);
  request.request_id = request_id_;
  request.note = watch_.note(shared_.options);
  watch_.begin(shared_.options, request);
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
  watch_.answered(response, has_body(response, framing));
  response_.fill(std::move(response), framing);
}

void ConnectionState::prepare_piece(std::string_view piece) {
  watch_.piece_sent(piece.size());
  response_.fill(frame_piece(piece, !parser_.traits().http_1_0));
}

void ConnectionState::prepare_refusal() {
  ++shared_.counters.requests_refused;
  HttpRequest& refused = parser_.head();
  refused.remote_ip = client_ip(refused);
  watch_.begin(shared_.options, refused);
  prepare(render(problem_));
}

void ConnectionState::report_request(bool is_whole) {
  watch_.end(shared_.options, {.request_id = request_id_, .is_whole = is_whole});
}

}  // namespace postrider::api
