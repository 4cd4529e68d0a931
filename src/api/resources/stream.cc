// GET /v1/stream: deliveries, circuit changes and alerts as they happen, as server-sent events.
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "core/filter/event_type_filter.h"

#include "api/json/query_reader.h"
#include "api/json/status_words.h"
#include "api/json/stream_json.h"
#include "api/resources/answers.h"
#include "api/resources/api_shares.h"
#include "api/resources/resources.h"
#include "runtime/observability/stream_hub.h"

namespace postrider::api {
namespace {

namespace asio = boost::asio;

// Sent first: the client's delay before it reconnects.
constexpr std::string_view greeting = "retry: 2000\n\n";

constexpr PlaceTexts texts{
    .owner_full = "has too many live streams open. Close one or try again in a moment.",
    .code = "too_many_streams",
    .server_full = "All places for live streams are taken. Try again in a moment."};

struct StreamQuery {
  StreamFilter filter;
  std::optional<StreamPosition> seen;
};

/// An unreadable position counts as too old: no stream has epoch zero.
StreamPosition read_position(std::string_view text) {
  return parse_stream_position(text).value_or(StreamPosition{});
}

Parsed<StreamQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  StreamQuery asked;
  asked.filter.tenant_id = query.text("tenant_id");
  asked.filter.webhook_ids =
      query.list_of("webhook_id", WebhookId::parse, "a webhook's id (whk_…)");
  StatusFilter status = read_status(query);
  asked.filter.states = std::move(status.states);
  if (status.circuit_blocked) {  // The stream does not tell why a delivery waits.
    asked.filter.states.insert(asked.filter.states.end(),
                               {DeliveryState::pending, DeliveryState::retrying});
  }
  asked.filter.event_types = query.list_of("event_type", parse_event_type_word, event_type_words);
  const std::optional<std::string> seen = query.text("last_event_id");
  POSTRIDER_CHECK(query.finish());
  if (seen) {
    asked.seen = read_position(*seen);
  }
  if (const auto header = request.header("last-event-id")) {
    asked.seen = read_position(*header);
  }
  return asked;
}

/// Wakes the stream's coroutine. Shared, because a wake-up may still be queued when the stream
/// ends.
struct Signal {
  explicit Signal(const asio::any_io_executor& executor) : timer(executor) {}
  asio::steady_timer timer;
};

/// The body of one subscriber's response. Runs on the io thread of its connection.
class EventStream final : public BodyStream {
 public:
  struct Parts {
    std::shared_ptr<Signal> signal;
    std::unique_ptr<StreamHub::Subscription> subscription;
    SharePlace place;
    Millis heartbeat{0};
  };

  explicit EventStream(Parts parts) : parts_(std::move(parts)) {}

  asio::awaitable<std::string> next() override {
    if (!std::exchange(greeted_, true)) {
      co_return std::string{greeting};
    }
    for (;;) {
      if (ended_) {
        co_return std::string{};
      }
      std::string text = take();
      if (!text.empty()) {
        co_return text;
      }
      parts_.signal->timer.expires_after(parts_.heartbeat);
      auto waiting = parts_.signal->timer.async_wait(asio::as_tuple(asio::deferred));
      const auto [error] = co_await std::move(waiting);
      if (!error) {
        co_return std::string{": heartbeat\n\n"};
      }
    }
  }

  void stop() override {
    stopping_ = true;
    parts_.signal->timer.cancel();
  }

 private:
  /// Returns new events as text; empty if there are none.
  std::string take() {
    const StreamHub::Batch batch = parts_.subscription->take();
    std::string text;
    if (batch.reset) {
      text += write_notice("reset", "Events were missed. Reload the current state.");
    }
    for (const StreamHub::Item& item : batch.items) {
      text += write_stream_event(item.position, *item.stream_event);
    }
    if (batch.dropped) {
      text += write_notice("dropped", "The client reads too slowly. Reconnect.");
      ended_ = true;
    } else if (stopping_) {
      text += write_notice("end", "The server is shutting down. Reconnect in a moment.");
      ended_ = true;
    }
    return text;
  }

  Parts parts_;
  bool greeted_ = false;
  bool stopping_ = false;
  bool ended_ = false;
};

/// The result may be called on any thread and may outlive the stream.
std::function<void()> wake_up(asio::any_io_executor executor, std::weak_ptr<Signal> signal) {
  return [executor = std::move(executor), signal = std::move(signal)] {
    asio::post(executor, [signal] {
      if (const std::shared_ptr<Signal> living = signal.lock()) {
        living->timer.cancel();
      }
    });
  };
}

}  // namespace

Awaitable<Reply> stream_events(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(StreamQuery asked, read_query(request));
  POSTRIDER_CO_TRY(SharePlace place, take_place(context.shares->streams, context.caller, texts));
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto signal = std::make_shared<Signal>(executor);
  Result<std::unique_ptr<StreamHub::Subscription>> subscription = context.services.stream.subscribe(
      std::move(asked.filter), asked.seen, wake_up(executor, signal));
  if (!subscription) {
    Problem problem = to_problem(subscription.error());
    problem.code = "too_many_streams";
    co_return tl::make_unexpected(problem);
  }
  HttpResponse response{
      .status = 200, .content_type = "text/event-stream", .headers = {}, .body = {}};
  response.headers.emplace_back("X-Accel-Buffering", "no");  // Tells proxies not to buffer.
  response.stream = std::make_shared<EventStream>(
      EventStream::Parts{.signal = signal,
                         .subscription = *std::move(subscription),
                         .place = std::move(place),
                         .heartbeat = context.options->stream_heartbeat});
  co_return response;
}

}  // namespace postrider::api
