#include "api/resources/shared_answer.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "api/http/client_address.h"
#include "api/resources/publish_tries.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"
#include "api/ui/dashboard_routes.h"
#include "runtime/store/outdated_publish.h"

namespace postrider::api {
namespace {

bool is_publish(const Entry& entry) {
  return entry.resource == publish_event || entry.resource == publish_batch;
}

/// The other routes show nothing that another server changes.
bool always_catches_up(const Entry& entry) {
  constexpr std::array<Resource, 5> others = {get_health, get_readiness, get_metrics, get_contract,
                                              get_dashboard};
  return !is_publish(entry) && std::ranges::find(others, entry.resource) == others.end();
}

bool is_about_caller(const Problem& problem) {
  return problem.status == 401 || problem.status == 403;
}

struct Guarded {
  Service* service = nullptr;
  std::shared_ptr<ApiControl> control;
};

/// Identifies the caller with snapshots that are recent enough for the route. A client without a
/// valid key may wait a limited number of times; after that the current snapshots decide. `request`
/// must outlive the coroutine.
Awaitable<Identity> identify_shared(Guard guard, const HttpRequest& request) {
  Identity caller = guard.identify(request, guard.service->now());
  if (caller ? !always_catches_up(*guard.entry) : !is_about_caller(caller.error())) {
    co_return caller;
  }
  CatchUps& catch_ups = guard.control->catch_ups();
  const std::string address = client_group(request.remote_ip);
  const bool is_known = caller && caller->key != nullptr;
  if (!is_known && !catch_ups.may_wait(address, guard.service->now().mono)) {
    co_return caller;
  }
  auto waiting = catch_ups.wait(*guard.service);
  co_await std::move(waiting);
  const Moment now = guard.service->now();
  caller = guard.authenticate(request, now);
  if (!caller || caller->key == nullptr) {
    catch_ups.count_fruitless(address, now.mono);
  }
  co_return caller;
}

Problem changing_catalog() {
  return {.status = 503,
          .code = "unavailable",
          .title = "Temporarily unavailable",
          .detail =
              "Webhooks, tenants or event types are changing too fast to publish. Nothing was "
              "stored. Retry soon.",
          .errors = {}};
}

/// One publish request, tried until the catalogue does not change meanwhile.
class SharedPublish {
 public:
  SharedPublish(Guard guard, HttpRequest request)
      : guard_(std::move(guard)), request_(std::move(request)) {}

  Awaitable<Reply> answer() {
    for (int number = 0; number < publish_tries_max; ++number) {
      auto trying = try_once();
      Reply reply = co_await std::move(trying);
      const bool was_current = std::exchange(tries_->is_current, true);
      if (!reply && is_outdated(reply.error())) {
        continue;  // By now the snapshots are up to date.
      }
      if (!is_refused(reply)) {
        co_return reply;
      }
      if (was_current) {
        count_refusal();
        co_return reply;
      }
      auto catching_up = catch_up();
      co_await std::move(catching_up);
    }
    co_return tl::make_unexpected(changing_catalog());
  }

 private:
  Awaitable<Reply> try_once() {
    auto identifying = identify_shared(guard_, request_);
    Identity caller = co_await std::move(identifying);
    request_.head_checked = true;  // The next try is not counted.
    if (!caller) {
      tries_->is_current = true;
      co_return tl::make_unexpected(std::move(caller.error()));
    }
    client_ = client_of(caller->key, request_.remote_ip);
    Context context = guard_.admit(*std::move(caller));
    context.tries = tries_;
    tries_->counted.clear();
    tries_->has_refused = false;
    auto handling = handle(guard_, std::move(context), request_);
    co_return co_await std::move(handling);
  }

  [[nodiscard]] bool is_refused(const Reply& reply) const {
    return tries_->has_refused || (!reply && is_due_to_catalog(reply.error()));
  }

  /// Waits, unless too many waits of this client were fruitless. Its refusal is then final.
  Awaitable<void> catch_up() {
    CatchUps& catch_ups = guard_.control->catch_ups();
    has_waited_ = catch_ups.may_wait(client_, guard_.service->now().mono);
    if (has_waited_) {
      auto waiting = catch_ups.wait(*guard_.service);
      co_await std::move(waiting);
    }
  }

  void count_refusal() const {
    if (has_waited_) {
      guard_.control->catch_ups().count_fruitless(client_, guard_.service->now().mono);
    }
  }

  Guard guard_;
  HttpRequest request_;
  std::string client_;
  bool has_waited_ = false;
  std::shared_ptr<PublishTries> tries_ = std::make_shared<PublishTries>();
};

Awaitable<Reply> answer_publish_shared(Guard guard, HttpRequest request) {
  SharedPublish publish{std::move(guard), std::move(request)};
  auto answering = publish.answer();
  co_return co_await std::move(answering);
}

/// `router` and `head` must outlive the coroutine.
Awaitable<Parsed<BodyPermit>> recheck(const Router& router, Guarded guarded, HttpRequest& head,
                                      Problem refusal) {
  CatchUps& catch_ups = guarded.control->catch_ups();
  const std::string address = client_group(head.remote_ip);
  if (!catch_ups.may_wait(address, guarded.service->now().mono)) {
    co_return tl::make_unexpected(std::move(refusal));
  }
  auto waiting = catch_ups.wait(*guarded.service);
  co_await std::move(waiting);
  head.head_checked = true;  // It was counted when it was refused.
  Parsed<BodyPermit> decided = router.check_head(head);
  if (!decided) {
    catch_ups.count_fruitless(address, guarded.service->now().mono);
  }
  co_return decided;
}

}  // namespace

Awaitable<Reply> answer_shared(Guard guard, HttpRequest request) {
  if (is_publish(*guard.entry)) {
    auto publishing = answer_publish_shared(std::move(guard), std::move(request));
    co_return co_await std::move(publishing);
  }
  auto identifying = identify_shared(guard, request);
  Identity caller = co_await std::move(identifying);
  if (!caller) {
    co_return tl::make_unexpected(std::move(caller.error()));
  }
  auto handling = handle(guard, guard.admit(*std::move(caller)), std::move(request));
  co_return co_await std::move(handling);
}

HeadRecheck make_head_recheck(const Router& router, Service& service,
                              std::shared_ptr<ApiControl> control) {
  if (!service.is_shared()) {
    return nullptr;
  }
  // Not a coroutine: the listener may replace this function while a check waits.
  return [&router, guarded = Guarded{&service, std::move(control)}](HttpRequest& head,
                                                                    Problem refusal) {
    return recheck(router, guarded, head, std::move(refusal));
  };
}

}  // namespace postrider::api
