#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/base/assert.h"
#include "engine/intake/intake.h"

#include "runtime/admin/api_key_use.h"
#include "runtime/delivery/running_node.h"
#include "runtime/store/await_callback.h"
#include "runtime/store/idempotent_request.h"

namespace postrider {
namespace {

// How often the last uses of keys are stored: often enough to recognize unused keys, rarely enough
// to cost nothing.
constexpr std::int64_t key_uses_period_ms = 60'000;

}  // namespace

Uuid RunningNode::new_uuid() {
  const WallTime now = clock_->now().wall;
  const std::lock_guard lock{ids_mutex_};
  return ids_.next(now);
}

std::size_t RunningNode::origin() const {
  const Worker* worker = Worker::current();
  POSTRIDER_ASSERT(worker != nullptr);  // Only io threads may call a Service.
  return worker->index();
}

std::vector<Publish> RunningNode::to_publishes(std::vector<EventDraft> drafts,
                                               bool all_or_nothing) {
  std::uint64_t group = 0;
  if (all_or_nothing && drafts.size() > 1) {
    const std::lock_guard lock{ids_mutex_};
    group = ++next_group_;
  }
  std::vector<Publish> publishes;
  publishes.reserve(drafts.size());
  for (EventDraft& draft : drafts) {
    Publish& publish = publishes.emplace_back();
    publish.event = std::move(draft.event);
    if (tracer_) {
      tracer_->sample(publish.event);
    }
    publish.claim = std::move(draft.claim);
    publish.row = std::move(draft.row);
    publish.only_to = draft.only_to;
    publish.atomic_group = group;
  }
  return publishes;
}

Result<void> RunningNode::check_publishing() {
  if (draining_) {
    metrics_->publish_refused("draining");
    return fail(Errc::unavailable,
                "The server is shutting down. Publish to another or retry soon.");
  }
  if (store_->failure()) {
    metrics_->publish_refused("store");
    return fail(Errc::unavailable, "The store cannot write at the moment. Retry soon.");
  }
  return {};
}

/// Fails if too many deliveries wait to be made already, before anything is accepted (P6).
Result<void> RunningNode::admit_fanouts(const std::vector<Publish>& publishes) {
  for (const Publish& publish : publishes) {
    const FanoutAdmission admission =
        publish.fanout ? fanout_runner_->admit(publish.event.tenant_id) : FanoutAdmission::accepted;
    if (admission == FanoutAdmission::accepted) {
      continue;
    }
    metrics_->publish_refused("fanout_backlog");
    if (admission == FanoutAdmission::tenant_full) {
      return fail(Errc::conflict,
                  "Earlier events of this tenant are still being fanned out to its webhooks. Retry "
                  "soon.");
    }
    return fail(Errc::unavailable,
                "Earlier events are still being fanned out to their webhooks. Retry soon.");
  }
  return {};
}

Awaitable<Result<std::vector<PublishReceipt>>> RunningNode::publish(std::vector<EventDraft> drafts,
                                                                    bool all_or_nothing) {
  Result<void> possible = check_publishing();
  const std::size_t from = origin();
  const TenantId payer = drafts.empty() ? TenantId{} : drafts.front().event.tenant_id;
  const std::optional<CatalogVersion> seen = catalog_seen();  // Before the directory is read.
  PublishPlanner planner{changes_.directory(), to_publishes(std::move(drafts), all_or_nothing)};
  bool is_planned = possible && planner.begin(planning_effort_quick);
  while (possible && !is_planned) {
    auto turn = workers_[from]->planning_turns().next(payer);
    co_await std::move(turn);
    possible = check_publishing();
    is_planned = possible && planner.advance(planning_effort_max);
  }
  if (!possible) {
    co_return tl::make_unexpected(possible.error());
  }
  PublishJob job{.publishes = {}, .origin = from, .done = {}, .catalog_seen = seen};
  {
    const std::lock_guard lock{ids_mutex_};
    job.publishes = std::move(planner).finish(ids_, clock_->now().steady);
  }
  if (const Result<void> admitted = admit_fanouts(job.publishes); !admitted) {
    co_return tl::make_unexpected(admitted.error());
  }
  auto begin = [this, from, &job](const auto& resume) {
    job.done = resume;
    if (!store_->try_publish(std::move(job))) {
      metrics_->publish_refused("queue_full");
      boost::asio::post(workers_[from]->io(), [resume] {
        resume(fail(Errc::unavailable, "The server's queue is full. Retry soon."));
      });
    }
  };
  co_return co_await await_callback<Result<std::vector<PublishReceipt>>>(begin);
}

Awaitable<Result<void>> RunningNode::run_on_store_thread(AuditEntry entry, Change change) {
  const std::size_t from = origin();
  auto begin = [this, from, &entry, &change](const std::function<void(Result<void>)>& resume) {
    auto run = [this, from, resume, entry, change](Store& store, RepliesByShard& replies) {
      const Result<void> done =
          make_change(store, replies, [&] { return change({store, replies, entry}); });
      replies[from].completions.push_back([resume, done] { resume(done); });
      return done;
    };
    store_->submit(StoreTask{std::move(run)});
  };
  co_return co_await await_callback<Result<void>>(begin);
}

void RunningNode::record_key_use(const AccessKey& key) {
  const WallTime now = clock_->now().wall;
  note_use(key, now);
  const std::int64_t now_ms = to_unix_ms(now);
  std::int64_t written_ms = key_uses_written_ms_.load(std::memory_order_relaxed);
  if (now_ms - written_ms >= key_uses_period_ms &&
      key_uses_written_ms_.compare_exchange_strong(written_ms, now_ms)) {
    write_key_uses();
  }
}

void RunningNode::write_key_uses() {
  store_->submit(
      StoreTask{[this](Store& store, RepliesByShard&) { return changes_.write_key_uses(store); }});
}

Awaitable<Result<Delivery>> RunningNode::revive(Revive revive, AuditEntry entry) {
  revive.now = clock_->now().steady;  // Due at once, even if the wall clock was set back.
  ReviveJob job{.revive = revive, .audit = std::move(entry), .origin = origin(), .done = {}};
  auto begin = [this, &job](const auto& resume) {
    job.done = resume;
    store_->submit(std::move(job));
  };
  co_return co_await await_callback<Result<Delivery>>(begin);
}

Awaitable<Result<Delivery>> RunningNode::cancel(DeliveryId id, AuditEntry entry) {
  CancelJob job{.cancel = {.delivery_id = id, .now = clock_->now().wall},
                .audit = std::move(entry),
                .origin = origin(),
                .done = {}};
  auto begin = [this, &job](const auto& resume) {
    job.done = resume;
    store_->submit(std::move(job));
  };
  co_return co_await await_callback<Result<Delivery>>(begin);
}

Awaitable<Result<Operation>> RunningNode::start_operation(Operation operation, ShareOwner owner,
                                                          AuditEntry entry,
                                                          std::optional<RequestKey> key) {
  return make_on_store_thread<Operation>(
      std::move(entry), [this, operation, owner, key](const ChangeContext& context) {
        return operations_->add(context, operation, owner, key);
      });
}

Awaitable<Result<Operation>> RunningNode::cancel_operation(OperationId id, AuditEntry entry) {
  return make_on_store_thread<Operation>(
      std::move(entry),
      [this, id](const ChangeContext& context) { return operations_->cancel(context, id); });
}

Awaitable<Result<TestSent>> RunningNode::send_test(WebhookRef webhook, Event event,
                                                   AuditEntry entry,
                                                   std::optional<RequestKey> key) {
  if (draining_ || store_->failure()) {
    co_return fail(Errc::unavailable, "The server cannot store a test at the moment. Retry soon.");
  }
  Change announce = [key, subject = event.id.to_string()](const ChangeContext& context) {
    return context.store.atomically([&]() -> Result<void> {
      POSTRIDER_CHECK(take_request_key(context.store, key, subject, context.entry.at));
      return context.store.audit->append(context.entry);
    });
  };
  auto announcing = run_on_store_thread(std::move(entry), std::move(announce));
  const Result<void> announced = co_await std::move(announcing);
  if (!announced) {
    co_return tl::make_unexpected(announced.error());
  }
  const DeliveryId id{new_uuid()};
  TestSend test = plan_test(*webhook, std::move(event), id, clock_->now().steady);
  auto pending = works(webhook->id) ? interactive_sends_.send_test(
                                          *workers_[origin()], owner(webhook->id), std::move(test))
                                    : interactive_sends_.limited(send_remote_test(std::move(test)));
  Result<TestSent> sent = co_await std::move(pending);
  if (!sent && key) {
    Change forget = [taken = *key](const ChangeContext& context) {
      return context.store.request_keys->forget(taken);
    };
    auto forgetting = run_on_store_thread(AuditEntry{}, std::move(forget));
    (void)co_await std::move(forgetting);  // If this fails, a repeated request is refused.
  }
  co_return sent;
}

Awaitable<Result<Outcome>> RunningNode::probe(Webhook webhook, Event event, Millis timeout) {
  Probe probe{.webhook = std::make_shared<const Webhook>(std::move(webhook)),
              .event = std::move(event),
              .timeout = timeout,
              .done = {}};
  return interactive_sends_.probe(*workers_[origin()], std::move(probe));
}

Awaitable<Result<std::uint64_t>> RunningNode::reseal_secrets(AuditEntry entry) {
  auto noting = append_audit(std::move(entry));
  const Result<void> noted = co_await std::move(noting);
  if (!noted) {
    co_return tl::make_unexpected(noted.error());
  }
  auto pending = housekeeping_->reseal(origin());
  co_return co_await std::move(pending);
}

Awaitable<std::optional<LaneView>> RunningNode::own_lane_view(WebhookId id) {
  boost::asio::io_context& home = workers_[origin()]->io();
  auto begin = [this, &home, id](const std::function<void(std::optional<LaneView>)>& resume) {
    owner(id).run_on_shard([&home, id, resume](Shard& shard, Moment now) {
      boost::asio::post(home, [resume, view = shard.view(id, now)] { resume(view); });
    });
  };
  co_return co_await await_callback<std::optional<LaneView>>(begin);
}

/// A server that has a shard may lack a lane of it: it is giving the shard away, or does not work
/// the tenant yet.
Awaitable<Result<LaneView>> RunningNode::lane_view(WebhookId id) {
  if (works(id)) {
    auto pending = own_lane_view(id);
    if (std::optional<LaneView> view = co_await std::move(pending)) {
      co_return *std::move(view);
    }
  }
  if (!cluster_) {
    co_return fail(Errc::not_found, "There is no such webhook.");
  }
  auto stored = stored_lane_view(id);
  co_return co_await std::move(stored);
}

Awaitable<LaneViews> RunningNode::lane_views(std::vector<WebhookId> ids) {
  LaneViews views;
  std::vector<WebhookId> elsewhere;
  for (const WebhookId id : ids) {
    std::optional<LaneView> view;
    if (works(id)) {
      auto pending = own_lane_view(id);
      view = co_await std::move(pending);
    }
    if (view) {
      views.emplace(id, *std::move(view));
    } else {
      elsewhere.push_back(id);
    }
  }
  if (cluster_ && !elsewhere.empty()) {
    auto pending = stored_lane_views(std::move(elsewhere));
    LaneViews stored = co_await std::move(pending);
    views.merge(stored);
  }
  co_return views;
}

Awaitable<Result<LaneView>> RunningNode::command_circuit(CircuitCommanded command,
                                                         AuditEntry entry) {
  const WebhookId id = command.webhook_id;
  if (!works(id)) {
    auto pending = command_remote_circuit(command, std::move(entry));
    co_return co_await std::move(pending);
  }
  // The lane stores its circuit itself, a moment later. The request is audited before that.
  Change note = [this, id](const ChangeContext& context) {
    return changes_.end_forced_opening(context, id);
  };
  auto noting = run_on_store_thread(std::move(entry), std::move(note));
  const Result<void> noted = co_await std::move(noting);
  if (!noted) {
    co_return tl::make_unexpected(noted.error());
  }
  owner(id).feed_later(command);
  auto pending = own_lane_view(id);  // Queued behind the command on the same thread.
  if (std::optional<LaneView> view = co_await std::move(pending)) {
    co_return *std::move(view);
  }
  if (!cluster_) {
    co_return fail(Errc::not_found, "There is no such webhook.");
  }
  auto waiting = await_circuit(command);
  co_return co_await std::move(waiting);
}

Awaitable<void> RunningNode::run_query(ShareOwner owner, ReaderQuery query) {
  boost::asio::io_context& home = workers_[origin()]->io();
  auto begin = [this, &home, &owner, &query](const std::function<void(bool)>& resume) {
    auto job = [&home, &query, resume](Reader& reader) {
      query(reader);
      boost::asio::post(home, [resume] { resume(true); });
    };
    readers_->submit(std::move(job), std::move(owner));
  };
  (void)co_await await_callback<bool>(begin);
}

Awaitable<Result<SourceView>> RunningNode::pause_source(std::string name, bool paused,
                                                        AuditEntry entry) {
  if (Result<SourceView> found = sources_->find(name); !found) {
    co_return found;
  }
  auto noting = append_audit(std::move(entry));
  const Result<void> noted = co_await std::move(noting);
  if (!noted) {
    co_return tl::make_unexpected(noted.error());
  }
  co_return sources_->set_paused(name, paused);
}

std::optional<std::string> RunningNode::not_ready() const {
  if (draining_) {
    return "The server is shutting down.";
  }
  if (cluster_ && !cluster_->has_joined()) {
    return "The server is starting: it has not taken its part of the webhooks yet.";
  }
  if (store_->failure()) {
    return "The store cannot write at the moment. The log has the cause.";
  }
  return std::nullopt;
}

}  // namespace postrider
