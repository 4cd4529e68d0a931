#include "client/worker.h"

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include "core/base/overloaded.h"

#include "client/event_text.h"
#include "client/machine.h"

namespace postrider {
namespace {

using namespace client;

// Long enough to mean "for ever", and small enough to add to any time.
constexpr Millis wait_limit = std::chrono::hours{24 * 365};

Millis bounded(Millis time) { return std::clamp(time, Millis{0}, wait_limit); }

std::future<PublishResult> refused(PublishResult result) {
  std::promise<PublishResult> promise;
  promise.set_value(std::move(result));
  return promise.get_future();
}

std::string_view sentence(PublishStatus status) {
  return status == PublishStatus::closed ? "The client is closed." : "The client's queue is full.";
}

/// Signals belong to the application's threads. OpenSSL writes to sockets in a way that can raise
/// SIGPIPE. Signals that report an error of this thread stay as they are.
void block_signals() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int error : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    sigdelset(&signals, error);
  }
  pthread_sigmask(SIG_SETMASK, &signals, nullptr);
}

}  // namespace

Client::Worker::Worker(Parts parts)
    : parts_(std::move(parts)),
      connection_(parts_.settings.server, parts_.tls, interrupter_),
      queue_(parts_.settings.limits) {}

Client::Worker::~Worker() { close(parts_.settings.close_timeout); }

Result<void> Client::Worker::start() {
  if (interrupter_.descriptor() < 0) {
    return fail(Errc::unavailable, "Cannot open a file descriptor for the client.");
  }
  try {
    thread_ = std::thread{&Worker::run, this};
  } catch (const std::system_error& error) {
    return fail(Errc::unavailable, fmt::format("Cannot start a thread: {}.", error.what()));
  }
  return {};
}

std::future<PublishResult> Client::Worker::publish(const NewEvent& event, Millis wait_max) {
  PublishResult result;
  result.idempotency_key =
      event.idempotency_key.empty()
          ? fmt::format("{}-{}", parts_.key_prefix, keys_generated_.fetch_add(1) + 1)
          : event.idempotency_key;
  Result<std::string> text = event_text(event, result.idempotency_key);
  if (!text || queue_.is_too_large(text->size())) {
    result.status = PublishStatus::rejected;
    result.code = text ? "event_too_large" : "invalid_json";
    result.message = text ? "The event is larger than the client's queue." : text.error().message;
    return refused(std::move(result));
  }
  Lock lock{mutex_};
  result.status = wait_for_room(lock, text->size(), wait_max);
  if (result.status != PublishStatus::stored) {
    result.message = sentence(result.status);
    return refused(std::move(result));
  }
  const std::uint64_t ticket = ++last_ticket_;
  queue_.add({.ticket = ticket, .text = *std::move(text)}, mono_now());
  Waiting& waiting = waiting_[ticket];
  waiting.key = std::move(result.idempotency_key);
  work_.notify_one();
  return waiting.promise.get_future();
}

PublishStatus Client::Worker::wait_for_room(Lock& lock, std::size_t bytes, Millis wait_max) {
  const bool ready = settled_.wait_for(lock, bounded(wait_max),
                                       [&] { return closing_ || queue_.has_room_for(bytes); });
  if (closing_) {
    return PublishStatus::closed;
  }
  return ready ? PublishStatus::stored : PublishStatus::queue_full;
}

bool Client::Worker::flush(Millis timeout) {
  Lock lock{mutex_};
  return wait_for_results(lock, last_ticket_, timeout);
}

bool Client::Worker::wait_for_results(Lock& lock, std::uint64_t last_ticket, Millis timeout) {
  ++flushing_;
  queue_.set_hurry(true);
  work_.notify_one();
  const bool done = settled_.wait_for(lock, bounded(timeout), [&] {
    return waiting_.empty() || waiting_.begin()->first > last_ticket;
  });
  --flushing_;
  queue_.set_hurry(flushing_ > 0 || closing_);
  return done;
}

bool Client::Worker::close(Millis timeout) {
  const std::lock_guard closing{close_mutex_};
  {
    Lock lock{mutex_};
    closing_ = true;
    settled_.notify_all();
    if (thread_.joinable()) {
      wait_for_results(lock, last_ticket_, timeout);
    }
    stopping_ = true;
  }
  work_.notify_one();
  interrupter_.interrupt();
  if (thread_.joinable()) {
    thread_.join();
  }
  const Lock lock{mutex_};
  abandon_rest();
  return !abandoned_;
}

ClientState Client::Worker::state() const {
  const Lock lock{mutex_};
  ClientState state = state_;
  state.queued = waiting_.size();
  return state;
}

void Client::Worker::run() {
  block_signals();
  Lock lock{mutex_};
  while (!stopping_) {
    SendQueue::Next next = queue_.next(mono_now());
    if (auto* const batch = std::get_if<Batch>(&next)) {
      send(lock, std::move(*batch));
    } else if (const auto* const wait = std::get_if<SendQueue::WaitUntil>(&next)) {
      work_.wait_for(lock, wait->time - mono_now());
    } else {
      work_.wait(lock);
    }
  }
}

void Client::Worker::send(Lock& lock, Batch batch) {
  ++state_.requests;
  lock.unlock();
  const std::string request = batch_request(parts_.settings.head, batch);
  const Result<HttpAnswer> answer = connection_.exchange(request, parts_.settings.request_timeout);
  BatchVerdict verdict = answer ? judge_answer(*answer, batch.events.size(), wall_now())
                                : RepeatBatch{std::nullopt, answer.error().message};
  lock.lock();
  apply(std::move(batch), std::move(verdict));
  settled_.notify_all();
}

void Client::Worker::apply(Batch batch, BatchVerdict verdict) {
  if (const auto* const again = std::get_if<RepeatBatch>(&verdict)) {
    ++state_.failures;
    ++failures_in_a_row_;
    if (!stopping_) {  // Otherwise close() may have interrupted the request.
      state_.trouble = again->reason;
    }
    const Millis delay = retry_delay(parts_.settings.backoff, failures_in_a_row_,
                                     again->retry_after, parts_.random.draw());
    queue_.repeat(std::move(batch), mono_now() + delay);
    return;
  }
  failures_in_a_row_ = 0;
  state_.trouble.clear();
  if (std::holds_alternative<SplitBatch>(verdict)) {
    queue_.split(std::move(batch));
    return;
  }
  apply_each(std::move(batch), std::get<std::vector<EventVerdict>>(std::move(verdict)));
}

void Client::Worker::apply_each(Batch batch, std::vector<EventVerdict> verdicts) {
  Batch later{.events = {}, .postponed = batch.postponed};
  for (std::size_t index = 0; index < verdicts.size(); ++index) {
    QueuedEvent& event = batch.events[index];
    PublishResult result;
    const bool has_result =
        std::visit(Overloaded{[&](EventStored& stored) {
                                result.status = PublishStatus::stored;
                                result.http_status = stored.status;
                                result.event_id = std::move(stored.id);
                                result.duplicate = stored.duplicate;
                                ++state_.stored;
                                return true;
                              },
                              [&](EventRejected& rejected) {
                                result.status = PublishStatus::rejected;
                                result.http_status = rejected.status;
                                result.code = std::move(rejected.code);
                                result.message = std::move(rejected.message);
                                ++state_.rejected;
                                return true;
                              },
                              [](EventPostponed&) { return false; },
                              [&](EventUnclear& unclear) {
                                result.http_status = unclear.status;
                                result.message =
                                    "The answer does not say what became of the event. Is the "
                                    "server Postrider?";
                                ++state_.unconfirmed;
                                return true;
                              }},
                   verdicts[index]);
    if (has_result) {
      queue_.settle(event);
      resolve(event.ticket, std::move(result));
    } else {
      later.events.push_back(std::move(event));
    }
  }
  if (!later.events.empty()) {
    ++state_.failures;
    const Millis delay = retry_delay(parts_.settings.backoff, later.postponed + 1, std::nullopt,
                                     parts_.random.draw());
    queue_.postpone(std::move(later), mono_now() + delay);
  }
}

void Client::Worker::resolve(std::uint64_t ticket, PublishResult result) {
  const auto found = waiting_.find(ticket);
  result.idempotency_key = std::move(found->second.key);
  found->second.promise.set_value(std::move(result));
  waiting_.erase(found);
}

void Client::Worker::abandon_rest() {
  while (!waiting_.empty()) {
    PublishResult result;
    result.message = "The client was closed before the server confirmed the event.";
    if (!state_.trouble.empty()) {
      result.message += " Last problem: " + state_.trouble;
    }
    ++state_.unconfirmed;
    abandoned_ = true;
    resolve(waiting_.begin()->first, std::move(result));
  }
  settled_.notify_all();
}

}  // namespace postrider
