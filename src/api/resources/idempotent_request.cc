#include "api/resources/idempotent_request.h"

#include <optional>
#include <string>
#include <utility>

#include "core/base/assert.h"

#include "api/json/event_json.h"
#include "api/resources/answers.h"
#include "api/resources/api_shares.h"

namespace postrider::api {
namespace {

const std::pair<std::string, std::string> replayed_header{"Idempotent-Replayed", "true"};
constexpr const char* already_created = "already_created";

/// Covers everything that defines the request. Lengths separate the parts.
std::string digest_of(const Crypto& crypto, const HttpRequest& request) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    text += std::to_string(part.size()) + ":" + part;
  };
  add(request.method);
  add(request.path);
  for (const auto& [name, value] : request.query) {
    add(name);
    add(value);
  }
  add(request.body);
  return crypto.sha256(text);
}

Problem reused() {
  return {.status = 422,
          .code = "idempotency_key_reused",
          .title = "The idempotency key was used for another request",
          .detail =
              "This idempotency key was used for another request. Use a new key for a new request.",
          .errors = {{"Idempotency-Key", "was used for another request."}}};
}

Problem not_shown_again() {
  return conflict(already_created,
                  "This request was carried out before, and its result cannot be shown again: it "
                  "was deleted since, or is shown only once. Use a new key to create another.");
}

HttpRequest request_for(const HttpRequest& first, const std::string& subject) {
  HttpRequest request;
  request.method = "GET";
  request.path = first.path + "/" + subject;
  request.path_parameters = {{"id", subject}, {"name", subject}};
  request.remote_ip = first.remote_ip;
  request.request_id = first.request_id;
  return request;
}

Awaitable<Reply> answer_again(ReplayRule replay, Context context, HttpRequest request, KeyUse use) {
  if (use.digest != context.request_key->digest) {
    co_return tl::make_unexpected(reused());
  }
  SharedStore& store = context.services.shared_store;
  if (store.is_shared()) {  // Another server may have created it.
    auto catching_up = store.catch_up();
    co_await std::move(catching_up);
  }
  Reply reply = tl::make_unexpected(not_shown_again());
  if (replay.show != nullptr) {
    HttpRequest get = request_for(request, use.subject);
    auto showing = replay.show(std::move(context), std::move(get));
    reply = co_await std::move(showing);
  }
  if (!reply) {
    Problem problem = reply.error().status == 404 ? not_shown_again() : reply.error();
    problem.headers.emplace_back(replayed_header);
    co_return tl::make_unexpected(std::move(problem));
  }
  if (reply->status == 200) {
    reply->status = replay.status;
  }
  if (reply->status == 201) {
    reply->headers.emplace_back("Location", request.path + "/" + use.subject);
  }
  reply->headers.emplace_back(replayed_header);
  co_return reply;
}

/// True also if a concurrent request with the same key was just carried out: its key is on disk a
/// moment before what it created can be shown. Making it again fails because of the key, and fails
/// after that moment.
bool may_be_shown_later(const ReplayRule& replay, const Reply& reply) {
  return replay.show != nullptr && !reply && reply.error().code == already_created;
}

Awaitable<Result<std::optional<KeyUse>>> look_up(OwnedQueries queries, RequestKey key,
                                                 WallTime now) {
  const auto query = [key, now](Reader& reader) {
    return reader.request_keys->find(key.caller, key.key, now);
  };
  auto pending = queries.read(query);
  co_return co_await std::move(pending);
}

}  // namespace

Awaitable<Reply> answer_idempotently(IdempotentRoute route, Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const std::optional<std::string> key, read_key_header(request));
  if (!key) {
    auto making = route.make(std::move(context), std::move(request));
    co_return co_await std::move(making);
  }
  POSTRIDER_ASSERT(context.caller.key != nullptr);  // Creating something needs a key.
  const WallTime now = context.services.clock.now().wall;
  context.request_key = RequestKey{.caller = context.caller.key->key().id.to_string(),
                                   .key = *key,
                                   .digest = digest_of(*context.options->crypto, request),
                                   .expires_at = now + context.options->idempotency_window};
  const OwnedQueries queries{route.queries, share_owner(context.caller)};
  auto looking = look_up(queries, *context.request_key, now);
  Result<std::optional<KeyUse>> use = co_await std::move(looking);
  if (!use) {
    co_return tl::make_unexpected(to_problem(use.error()));
  }
  if (*use) {
    auto repeating = answer_again(route.replay, context, request, **use);
    Reply repeated = co_await std::move(repeating);
    if (!may_be_shown_later(route.replay, repeated)) {
      co_return repeated;
    }
  }
  auto making = route.make(context, request);
  Reply made = co_await std::move(making);
  if (made) {
    co_return made;
  }
  // A concurrent request with the same key may have been carried out meanwhile.
  auto looking_again = look_up(queries, *context.request_key, now);
  use = co_await std::move(looking_again);
  if (!use || !*use) {
    co_return made;
  }
  auto repeating = answer_again(route.replay, std::move(context), std::move(request), **use);
  co_return co_await std::move(repeating);
}

}  // namespace postrider::api
