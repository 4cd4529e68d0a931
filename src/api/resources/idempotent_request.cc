#include "api/resources/idempotent_request.h"

#include <optional>
#include <string>
#include <utility>

#include "core/base/assert.h"

#include "adapters/openssl/digest.h"
#include "api/json/event_json.h"
#include "api/resources/answers.h"

namespace postrider::api {
namespace {

/// Of everything that says what is asked for. Lengths keep the parts apart.
std::string digest_of(const HttpRequest& request) {
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
  return sha256(text);
}

Problem reused() {
  return {
      .status = 422,
      .code = "idempotency_key_reused",
      .title = "The idempotency key was used for something else",
      .detail = "This idempotency key was used for another request; use a new key for a new one.",
      .errors = {{"Idempotency-Key", "was used for another request."}}};
}

Problem not_shown_again() {
  return conflict("already_created",
                  "What this request asks for was made when it first came and cannot be shown "
                  "again: it was deleted since, or is shown only once. Use a new key to make "
                  "another.");
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

Awaitable<HttpResponse> answer_again(ReplayRule repeat, Context context, HttpRequest request,
                                     KeyUse use) {
  if (use.digest != context.request_key->digest) {
    co_return render(reused());
  }
  HttpResponse response{.status = 404, .content_type = "", .headers = {}, .body = {}};
  if (repeat.show != nullptr) {
    HttpRequest asked = request_for(request, use.subject);
    auto showing = repeat.show(std::move(context), std::move(asked));
    response = co_await std::move(showing);
  }
  if (response.status == 404) {
    response = render(not_shown_again());
  }
  if (response.status == 200) {
    response.status = repeat.status;
  }
  if (response.status == 201) {
    response.headers.emplace_back("Location", request.path + "/" + use.subject);
  }
  response.headers.emplace_back("Idempotent-Replayed", "true");
  co_return response;
}

Awaitable<Result<std::optional<KeyUse>>> look_up(Service* world, RequestKey key) {
  const auto query = [key, now = world->now().wall](Reader& reader) {
    return reader.request_keys->find(key.caller, key.key, now);
  };
  auto pending = world->read(query);
  co_return co_await std::move(pending);
}

}  // namespace

Awaitable<HttpResponse> answer_idempotently(IdempotentRoute route, Context context,
                                            HttpRequest request) {
  const Parsed<std::optional<std::string>> key = read_key_header(request);
  if (!key) {
    co_return render(key.error());
  }
  if (!*key) {
    auto making = route.make(std::move(context), std::move(request));
    co_return co_await std::move(making);
  }
  POSTRIDER_ASSERT(context.caller.key != nullptr);  // Nobody makes anything without one.
  context.request_key =
      RequestKey{.caller = context.caller.key->key().id.to_string(),
                 .key = **key,
                 .digest = digest_of(request),
                 .expires_at = route.world->now().wall + context.options->idempotency_window};
  auto looking = look_up(route.world, *context.request_key);
  Result<std::optional<KeyUse>> use = co_await std::move(looking);
  if (!use) {
    co_return render(to_problem(use.error()));
  }
  HttpResponse made;
  if (!*use) {
    auto making = route.make(context, request);
    made = co_await std::move(making);
    if (made.status < 400) {
      co_return made;
    }
    // Refused perhaps because the same request, sent twice at a time, has just been carried out.
    auto looking_again = look_up(route.world, *context.request_key);
    use = co_await std::move(looking_again);
    if (!use || !*use) {
      co_return made;
    }
  }
  auto repeating = answer_again(route.repeat, std::move(context), std::move(request), **use);
  co_return co_await std::move(repeating);
}

}  // namespace postrider::api
