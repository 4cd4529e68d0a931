#include "cli/client/webhook_receiver.h"

#include <algorithm>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "api/http/problem.h"

namespace postrider::cli {

namespace asio = boost::asio;

namespace {

api::HttpResponse path_not_found() {
  return api::render({.status = 404,
                      .code = "not_found",
                      .title = "Not found",
                      .detail = "This receiver does not answer this path.",
                      .errors = {}});
}

}  // namespace

WebhookReceiver::WebhookReceiver(const ListenOptions& options, const Clock& clock,
                                 const Crypto& crypto, Callbacks callbacks)
    : options_(options),
      clock_(clock),
      crypto_(crypto),
      callbacks_(std::move(callbacks)),
      rules_{.secrets = options.secrets, .tolerance = options.tolerance},
      random_(static_cast<std::uint64_t>(to_unix_ms(clock.now().wall))) {}

bool WebhookReceiver::answers(const std::string& path) const {
  return options_.paths.empty() || std::ranges::find(options_.paths, path) != options_.paths.end();
}

std::uint16_t WebhookReceiver::choose_status(SignatureVerdict verdict) {
  const bool trusted = verdict == SignatureVerdict::valid || verdict == SignatureVerdict::unchecked;
  if (!trusted) {
    ++rejected_;
    return 401;
  }
  return random_.draw() < options_.fail_rate ? 500 : options_.status;
}

asio::awaitable<api::HttpResponse> WebhookReceiver::handle(api::HttpRequest request) {
  if (!answers(request.path)) {
    co_return path_not_found();
  }
  const WallTime now = clock_.now().wall;
  const SignatureFinding finding = check_signature(request, rules_, crypto_, now);
  const std::uint16_t status = choose_status(finding.verdict);
  ++received_;
  const bool is_last = received_ == options_.count;
  const ReceivedWebhook webhook{
      .request = std::move(request), .received_at = now, .signature = finding, .answered = status};
  callbacks_.received(webhook);

  if (options_.delay.count() > 0) {
    asio::steady_timer timer{co_await asio::this_coro::executor};
    timer.expires_after(options_.delay);
    auto waiting = timer.async_wait(asio::as_tuple(asio::deferred));
    co_await std::move(waiting);
  }
  if (is_last) {
    callbacks_.finished();
  }
  api::HttpResponse response;
  response.status = status;
  response.content_type = "text/plain";
  co_return response;
}

}  // namespace postrider::cli
