#include "api/resources/guarded_stream.h"

#include <utility>

#include "api/resources/auth.h"

namespace postrider::api {
namespace {

class GuardedStream final : public BodyStream {
 public:
  GuardedStream(std::shared_ptr<BodyStream> stream, KeyWatch watch)
      : stream_(std::move(stream)), watch_(watch) {}

  Awaitable<std::string> next() override {
    auto pending = stream_->next();
    std::string piece = co_await std::move(pending);
    // Checked after the wait: the piece may be about something that happened after the key ended.
    co_return is_valid() ? std::move(piece) : std::string{};
  }

  void stop() override { stream_->stop(); }

 private:
  [[nodiscard]] bool is_valid() const {
    const std::shared_ptr<const AccessSnapshot> access = watch_.snapshots.access();
    const KeyRef key = access->find_caller(watch_.key);
    if (key == nullptr || is_shut_out(key->key(), *access)) {
      return false;
    }
    const std::optional<WallTime> expires_at = key->key().expires_at;
    return !expires_at || watch_.clock.now().wall < *expires_at;
  }

  std::shared_ptr<BodyStream> stream_;
  KeyWatch watch_;
};

}  // namespace

Awaitable<Reply> guard_stream(Awaitable<Reply> handling, KeyWatch watch) {
  Reply reply = co_await std::move(handling);
  if (reply && reply->stream != nullptr) {
    reply->stream = std::make_shared<GuardedStream>(std::move(reply->stream), watch);
  }
  co_return reply;
}

}  // namespace postrider::api
