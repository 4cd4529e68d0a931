#include <utility>

#include <postrider/client.h>

#include "client/machine.h"
#include "client/settings.h"
#include "client/stream.h"
#include "client/worker.h"

namespace postrider {

Client::Client(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}

Client::~Client() = default;

OpenedClient Client::open(const ClientOptions& options) {
  const auto prepare = [&options]() -> Result<Worker::Parts> {
    POSTRIDER_TRY(client::ClientSettings settings, client::check_options(options));
    client::TlsContext tls;
    if (settings.server.tls) {
      POSTRIDER_TRY(tls, client::make_tls_context(options.ca_file));
    }
    POSTRIDER_TRY(std::string prefix, client::random_name());
    POSTRIDER_TRY(const std::uint64_t seed, client::random_seed());
    return Worker::Parts{std::move(settings), std::move(tls), std::move(prefix), SplitMix64{seed}};
  };
  Result<Worker::Parts> parts = prepare();
  if (!parts) {
    return {nullptr, std::move(parts.error().message)};
  }
  auto worker = std::make_unique<Worker>(*std::move(parts));
  if (const Result<void> started = worker->start(); !started) {
    return {nullptr, started.error().message};
  }
  return {std::make_unique<Client>(std::move(worker)), {}};
}

std::future<PublishResult> Client::publish(const NewEvent& event,
                                           std::chrono::milliseconds wait_max) {
  return worker_->publish(event, wait_max);
}

bool Client::flush(std::chrono::milliseconds timeout) { return worker_->flush(timeout); }

bool Client::close(std::chrono::milliseconds timeout) { return worker_->close(timeout); }

ClientState Client::state() const { return worker_->state(); }

}  // namespace postrider
