// A receiver for people who try things out: checks, answers as it was told to, and prints.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "core/base/random.h"
#include "ports/clock.h"

#include "api/http/http.h"
#include "cli/client/signature_check.h"
#include "cli/commands/listen_options.h"
#include "cli/text/webhook_text.h"

namespace postrider::cli {

/// Runs on the thread of its server; must outlive it.
class WebhookReceiver {
 public:
  struct Callbacks {
    std::function<void(const ReceivedWebhook&)> received;
    std::function<void()> enough;  // The last of `count` is being answered.
  };

  WebhookReceiver(const ListenOptions& options, const Clock& clock, Callbacks callbacks);

  boost::asio::awaitable<api::HttpResponse> handle(api::HttpRequest request);

  [[nodiscard]] std::uint64_t received() const { return received_; }
  /// Signatures that were missing, wrong or stale.
  [[nodiscard]] std::uint64_t rejected() const { return rejected_; }

 private:
  [[nodiscard]] std::uint16_t choose_status(SignatureVerdict verdict);
  [[nodiscard]] bool answers(const std::string& path) const;

  const ListenOptions& options_;
  const Clock& clock_;
  Callbacks callbacks_;
  SignatureRules rules_;
  SplitMix64 random_;
  std::uint64_t received_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace postrider::cli
