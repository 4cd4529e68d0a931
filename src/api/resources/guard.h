// Checks every request before its handler runs: the caller, the request rate and the size of the
// body. Io threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/http/head_check.h"
#include "api/resources/api_control.h"
#include "api/resources/auth.h"
#include "api/resources/context.h"
#include "api/resources/idempotent_request.h"

namespace postrider::api {

/// A row of the table in routes.cc.
struct Entry {
  std::string_view method;
  std::string_view pattern;
  Access access = Access::admin;
  Resource resource = nullptr;
  Tenants tenants = Tenants::shut_out;
  ReplayRule replay = {};
};

/// The caller of a request, or the problem if its route refuses the caller.
using Identity = Parsed<Caller>;

/// Cheap to copy: coroutines take it by value. What it refers to must outlive it.
struct Guard {
  Service* service = nullptr;
  std::shared_ptr<ApiControl> control;
  const Entry* entry = nullptr;
  bool limited = true;  // See is_limited().
  RouteMeter* meter = nullptr;

  /// Checks the key, and the rate unless the request was counted before.
  [[nodiscard]] Identity identify(const HttpRequest& request, const Moment& now) const;
  /// Checks the key only.
  [[nodiscard]] Identity authenticate(const HttpRequest& request, const Moment& now) const;

  /// Called before the body arrives. Decides everything that the header alone can decide.
  [[nodiscard]] Parsed<BodyPermit> check_head(const HttpRequest& head) const;

  /// What the handler gets. Records the use of the key.
  [[nodiscard]] Context admit(Caller caller) const;

 private:
  [[nodiscard]] Parsed<void> check_rate(const ApiOptions& options, const std::string& remote_ip,
                                        const KeyRef& key, MonoTime now) const;
  [[nodiscard]] Access access_for(const HttpRequest& request, const ApiOptions& options) const;
  void begin_note(const HttpRequest& request, RequestNote& note) const;
  void record_use(const KeyRef& caller) const;
};

[[nodiscard]] Guard make_guard(Service& service, const std::shared_ptr<ApiControl>& control,
                               const Entry& entry);

/// The name under which the requests of a client are counted: its key, or its address if it has
/// none. The sessions of a key count as that key.
[[nodiscard]] std::string client_of(const KeyRef& key, const std::string& remote_ip);

/// Calls the handler.
[[nodiscard]] Awaitable<Reply> handle(const Guard& guard, Context context, HttpRequest request);

}  // namespace postrider::api
