#include "adapters/asio_http/exchange.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/net/tenant_text.h"
#include "core/policy/retry.h"

#include "adapters/asio_http/address_plan.h"
#include "adapters/asio_http/failure_text.h"

namespace postrider::asio_http {
namespace {

// An address that does not answer must leave time for the others. Working ones answer much sooner.
constexpr Millis connect_budget_max{3'000};
constexpr const char* stopping_message =
    "The request was cancelled because this server is shutting down.";

/// Whether connecting failed for a reason of this server's. Without a local address, either all its
/// ports are in use, or this server has no address of the family.
Shortage shortage_of(const error_code& failure, const IpAddress& address) {
  if (is_own_shortage(failure)) {
    return Shortage::server;
  }
  const bool no_port =
      failure == boost::system::errc::address_not_available && has_source_address(address);
  return no_port ? Shortage::destination : Shortage::none;
}

}  // namespace

Exchange::Exchange(const ExchangeContext& context, OutboundRequest request, Done done)
    : context_(context),
      request_(std::move(request)),
      done_(std::move(done)),
      started_at_(context.clock.now()),
      deadline_(started_at_.mono + request_.timeout),
      now_(started_at_),
      stage_began_(started_at_.mono) {}

void Exchange::start() {
  POSTRIDER_ASSERT(!self_);
  self_ = this;
  starting_ = true;
  context_.wheel.set(*this, deadline_);
  const OriginView origin{request_.url.tls, request_.url.host, request_.url.port};
  connection_ = context_.pool.take(origin, now_.mono);
  if (connection_) {
    reused_ = true;
    connection_->set_user(this);
    outcome_.remote_ip = connection_->address_text();
    send_request();
  } else {
    open_connection();
  }
  starting_ = false;
}

void Exchange::fail_stopped() {
  POSTRIDER_ASSERT(!self_);
  self_ = this;
  starting_ = true;
  end_failed(FailureCategory::network, stopping_message);
}

void Exchange::stop() {
  const boost::intrusive_ptr<Exchange> keep{this};
  now_ = context_.clock.now();
  if (stage_ == Stage::ended) {
    report_outcome();
  } else {
    end_failed(FailureCategory::network, stopping_message);
  }
}

// --- Connecting ---

void Exchange::open_connection() {
  reused_ = false;
  enter(Stage::resolving);
  if (request_.url.address) {
    return use_addresses({*request_.url.address});
  }
  if (const DnsAnswerPtr known = context_.resolver.resolve(request_.url.host, *this)) {
    on_resolved(known);
  }
}

void Exchange::on_resolved(const DnsAnswerPtr& answer) {
  if (!starting_) {
    now_ = context_.clock.now();
  }
  outcome_.timings.dns = stage_duration(now_.mono);
  if (answer->own_shortage != Shortage::none) {
    return end_not_started(
        answer->own_shortage,
        fmt::format("The host name '{}' was not looked up: {}.", request_.url.host, answer->error));
  }
  if (!answer->error.empty()) {
    return end_failed(FailureCategory::dns,
                      fmt::format("The host name '{}' could not be resolved: {}.",
                                  request_.url.host, answer->error));
  }
  use_addresses(answer->addresses);
}

void Exchange::use_addresses(const std::vector<IpAddress>& resolved) {
  AddressPlan plan = plan_addresses(resolved, context_.policy.addresses);
  if (plan.addresses.empty()) {
    return end_failed(FailureCategory::blocked_address,
                      fmt::format("{}: {}.", blocked_address_text, plan.refusal));
  }
  addresses_ = std::move(plan.addresses);
  std::ranges::reverse(addresses_);
  enter(Stage::connecting);
  connect_next();
}

void Exchange::connect_next() {
  while (!addresses_.empty()) {
    const IpAddress address = addresses_.back();
    const Micros left = deadline_ - now_.mono;
    const Micros share = left / static_cast<std::int64_t>(addresses_.size());
    const bool last = addresses_.size() == 1;
    addresses_.pop_back();

    connection_ = new Connection(
        context_.io, Origin{request_.url.tls, request_.url.host, request_.url.port}, now_.mono);
    error_code failure = connection_->connect(address, *this);
    if (is_out_of_descriptors(failure) && context_.pool.close_all()) {
      failure = connection_->connect(address, *this);
    }
    if (!failure) {
      const Micros budget = last ? left : std::min<Micros>(share, connect_budget_max);
      context_.wheel.set(*this, now_.mono + budget);
      return;
    }
    close_connection();
    connect_failure_ = explain_connect_failure(address.to_string(), request_.url.port, failure);
    if (const Shortage lacking = shortage_of(failure, address); lacking != Shortage::none) {
      return end_not_started(lacking, std::move(connect_failure_));
    }
  }
  end_failed(FailureCategory::network, std::move(connect_failure_));
}

void Exchange::on_connected(const error_code& failure) {
  now_ = context_.clock.now();
  if (failure) {
    connect_failure_ =
        explain_connect_failure(connection_->address_text(), request_.url.port, failure);
    const IpAddress address = connection_->address();
    close_connection();
    const Shortage lacking = shortage_of(failure, address);
    return lacking != Shortage::none ? end_not_started(lacking, std::move(connect_failure_))
                                     : connect_next();
  }
  context_.pool.count_opened();
  context_.wheel.set(*this, deadline_);
  outcome_.timings.connect = stage_duration(now_.mono);
  outcome_.remote_ip = connection_->address_text();
  if (!peer_is_allowed()) {
    return;
  }
  if (!request_.url.tls) {
    return send_request();
  }
  enter(Stage::handshaking);
  if (connection_->handshake(context_.tls, now_.mono)) {
    end_not_started(Shortage::server,
                    "The TLS handshake was not begun: this server is short of memory.");
  }
}

/// Checks the address that the kernel reports, not the one that was requested.
bool Exchange::peer_is_allowed() {
  const std::optional<IpAddress> peer = connection_->peer_address();
  if (!peer) {
    end_failed(FailureCategory::network, "The receiver closed the connection immediately.");
    return false;
  }
  std::optional<std::string> rule = forbidden_address(*peer, context_.policy.addresses);
  if (!rule && is_own_listener(context_.policy.addresses, {*peer, request_.url.port},
                               connection_->local_address())) {
    rule = own_address_rule;
  }
  if (rule) {
    end_failed(FailureCategory::blocked_address,
               fmt::format("{}: {}: {}.", blocked_address_text, peer->to_string(), *rule));
    return false;
  }
  connection_->policy_epoch = context_.policy.epoch;
  return true;
}

void Exchange::on_handshake_done(const error_code& failure) {
  now_ = context_.clock.now();
  outcome_.timings.tls = stage_duration(now_.mono);
  if (!failure) {
    return send_request();
  }
  if (is_end_of_stream(failure)) {
    return end_failed(FailureCategory::network,
                      "The receiver closed the connection during the TLS handshake.");
  }
  if (failure.category() == boost::system::system_category()) {
    return end_failed(
        FailureCategory::network,
        fmt::format("The connection to the receiver broke during the TLS handshake: {}.",
                    failure.message()));
  }
  end_failed(FailureCategory::ssl, explain_handshake_failure(failure, connection_->ssl()));
}

// --- Request and response ---

void Exchange::send_request() {
  enter(Stage::writing);
  const error_code failure = connection_->write(request_.bytes);
  connection_->read();
  request_written_ = !failure && !connection_->writing();
  if (request_written_) {
    stage_ = Stage::awaiting_response;
  }
  // A failed write is not an error yet: the receiver may have answered before it closed.
}

void Exchange::on_written(const error_code& failure) {
  request_written_ = !failure;
  if (stage_ == Stage::writing) {
    stage_ = Stage::awaiting_response;  // stage_began_ stays: first_byte includes writing.
  }
}

void Exchange::on_read(const error_code& failure, std::string_view bytes) {
  now_ = context_.clock.now();
  if (failure) {
    return on_connection_lost(failure);
  }
  if (stage_ != Stage::reading_response) {
    outcome_.timings.first_byte = stage_duration(now_.mono);
    enter(Stage::reading_response);
  }
  take_response_bytes(bytes);
}

void Exchange::take_response_bytes(std::string_view bytes) {
  switch (reader_.feed(bytes)) {
    case ResponseReader::Progress::more:
      connection_->read();
      return;
    case ResponseReader::Progress::complete:
      if (reader_.connection_reusable() && request_written_) {
        context_.pool.give_back(connection_, now_.mono);
        connection_.reset();
      }
      return end_complete();
    case ResponseReader::Progress::enough:
      return end_complete();
    case ResponseReader::Progress::failed:
      return end_failed(FailureCategory::protocol, std::string{reader_.error()});
  }
}

void Exchange::on_connection_lost(const error_code& failure) {
  const bool ended = is_end_of_stream(failure) && !is_cut_stream(failure);
  const bool complete =
      context_.lax_responses ? reader_.status() != 0 : ended && reader_.complete_at_end();
  if (complete) {
    return end_complete();
  }
  if (may_retry()) {
    close_connection();
    outcome_.remote_ip.clear();
    return open_connection();
  }
  if (is_tls_failure(failure)) {
    return end_failed(FailureCategory::ssl, explain_tls_failure(failure));
  }
  end_cut(failure);
}

/// The receiver may have closed a kept connection while the request was being sent. Once it has
/// sent any byte it has seen the request, and sending again would be a second attempt.
bool Exchange::may_retry() const { return reused_ && !reader_.started(); }

// --- Ending ---

void Exchange::on_deadline() {
  now_ = context_.clock.now();
  if (stage_ == Stage::connecting && now_.mono < deadline_) {
    connect_failure_ = fmt::format("Could not connect to {} port {}: the host did not answer.",
                                   connection_->address_text(), request_.url.port);
    close_connection();
    return connect_next();
  }
  end_at_deadline();
}

void Exchange::end_at_deadline() {
  const auto sentence = [this](std::string_view doing) {
    return fmt::format("Timed out after {} ms while {}.", request_.timeout.count(), doing);
  };
  switch (stage_) {
    case Stage::resolving:
      return end_failed(FailureCategory::timeout, sentence("resolving the host name"));
    case Stage::connecting:
      return end_failed(FailureCategory::timeout, sentence("connecting"));
    case Stage::handshaking:
      return end_failed(FailureCategory::timeout, sentence("negotiating TLS"));
    case Stage::writing:
      return end_failed(FailureCategory::timeout, sentence("sending the request"));
    case Stage::awaiting_response:
      return end_failed(FailureCategory::timeout, sentence("waiting for the response"));
    case Stage::reading_response:
      return end_failed(FailureCategory::timeout, sentence("reading the response"));
    case Stage::ended:
      break;
  }
  POSTRIDER_ASSERT(false);
}

void Exchange::end_complete() {
  take_response();
  end();
}

/// The response ended too early (RFC 9112, section 8): it does not count, whatever its status.
void Exchange::end_cut(const error_code& failure) {
  std::string sentence = explain_broken_connection(
      failure,
      {.started = reader_.started(), .status = reader_.status(), .missing = reader_.missing()});
  if (reader_.status() != 0) {
    take_response();
  }
  end_failed(FailureCategory::network, std::move(sentence));
}

void Exchange::end_not_started(Shortage lacking, std::string sentence) {
  if (lacking == Shortage::server) {
    context_.pool.close_all();  // So that the next try finds a free descriptor.
  }
  outcome_ = {};
  outcome_.shortage = lacking;
  outcome_.error_message = std::move(sentence);
  end();
}

void Exchange::take_response() {
  outcome_.http_status = reader_.status();
  outcome_.response_headers = reader_.take_headers();
  outcome_.response_sample = reader_.take_sample();
  if (const auto& asked = reader_.retry_after()) {
    outcome_.retry_after = parse_retry_after(*asked, now_.wall);
  }
}

void Exchange::end_failed(FailureCategory category, std::string sentence) {
  outcome_.failure = category;
  outcome_.error_message = std::move(sentence);
  end();
}

void Exchange::end() {
  POSTRIDER_ASSERT(stage_ != Stage::ended);
  stage_ = Stage::ended;
  close_connection();
  DeadlineWheel::cancel(*this);
  if (ResolveWaiter::is_linked()) {
    ResolveWaiter::unlink();
  }
  outcome_.executed_at = started_at_.wall;
  outcome_.duration = now_.mono - started_at_.mono;
  if (!starting_) {
    return report_outcome();
  }
  boost::asio::post(context_.io, [keep = boost::intrusive_ptr{this}] { keep->report_outcome(); });
}

void Exchange::report_outcome() {
  if (!self_) {
    return;  // stop() has called it.
  }
  const boost::intrusive_ptr<Exchange> keep = std::move(self_);
  ActiveHook::unlink();
  const Done done = std::move(done_);
  done(std::move(outcome_));
}

void Exchange::close_connection() {
  if (!connection_) {
    return;
  }
  if (outcome_.http_status && request_written_) {
    connection_->close();
  } else {
    connection_->abort();
  }
  connection_.reset();
}

void Exchange::enter(Stage stage) {
  stage_ = stage;
  stage_began_ = now_.mono;
}

Micros Exchange::stage_duration(MonoTime now) const { return now - stage_began_; }

}  // namespace postrider::asio_http
