#include "api/resources/guarded_stream.h"

#include <utility>

namespace postrider::api {
namespace {

class GuardedStream final : public BodyStream {
 public:
  GuardedStream(std::shared_ptr<BodyStream> stream, Service* service, KeyId key)
      : stream_(std::move(stream)), service_(service), key_(key) {}

  Awaitable<std::string> next() override {
    auto pending = stream_->next();
    std::string piece = co_await std::move(pending);
    // After the wait: what happened since the key ended is not for its holder.
    co_return is_good() ? std::move(piece) : std::string{};
  }

  void stop() override { stream_->stop(); }

 private:
  [[nodiscard]] bool is_good() const {
    const KeyRef key = service_->access()->find_key(key_);
    if (key == nullptr) {
      return false;
    }
    const std::optional<WallTime> expires_at = key->key().expires_at;
    return !expires_at || service_->now().wall < *expires_at;
  }

  std::shared_ptr<BodyStream> stream_;
  Service* service_;
  KeyId key_;
};

}  // namespace

Awaitable<HttpResponse> guard_stream(Awaitable<HttpResponse> answering, Service* service,
                                     KeyId key) {
  HttpResponse response = co_await std::move(answering);
  if (response.stream != nullptr) {
    response.stream = std::make_shared<GuardedStream>(std::move(response.stream), service, key);
  }
  co_return response;
}

}  // namespace postrider::api
