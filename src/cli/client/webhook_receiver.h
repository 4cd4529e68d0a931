// The receiver behind `postrider listen`: verifies signatures, reports each webhook and answers as
// configured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "core/base/random.h"
#include "ports/clock.h"
#include "ports/crypto.h"

#include "api/http/http.h"
#include "cli/client/signature_check.h"
#include "cli/commands/listen_options.h"
#include "cli/text/webhook_text.h"

namespace postrider::cli {

/// Used on the thread of its HTTP server. Must outlive the server; all parameters must outlive this
/// object.
class WebhookReceiver {
 public:
  struct Callbacks {
    std::function<void(const ReceivedWebhook&)> received;
    std::function<void()> finished;  // The last of `count` webhooks is being answered.
  };

  WebhookReceiver(const ListenOptions& options, const Clock& clock, const Crypto& crypto,
                  Callbacks callbacks);

  boost::asio::awaitable<api::HttpResponse> handle(api::HttpRequest request);

  [[nodiscard]] std::uint64_t received() const { return received_; }
  /// The number of missing, wrong or stale signatures.
  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }

 private:
  [[nodiscard]] std::uint16_t choose_status(SignatureVerdict verdict);
  [[nodiscard]] bool answers(const std::string& path) const;

  const ListenOptions& options_;
  const Clock& clock_;
  const Crypto& crypto_;
  Callbacks callbacks_;
  SignatureRules rules_;
  SplitMix64 random_;
  std::uint64_t received_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace postrider::cli
