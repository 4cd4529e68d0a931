// What every handler receives.
#pragma once

#include <memory>
#include <optional>

#include <tl/expected.hpp>

#include "api/http/http.h"
#include "api/http/problem.h"
#include "api/resources/api_options.h"
#include "api/resources/caller.h"
#include "runtime/admin/service.h"

namespace postrider::api {

/// A value, or the problem to answer with: the one way to report a failure in this layer. A check
/// without a value returns Parsed<void>. POSTRIDER_TRY and POSTRIDER_CHECK pass the problem on.
template <class T>
using Parsed = tl::expected<T, Problem>;

/// What a handler returns. routes.cc renders the problem.
using Reply = Parsed<HttpResponse>;

/// The parts of the server, each as the caller may use it. All refer to one Service, which must
/// outlive this object. Cheap to copy.
struct Services {
  explicit Services(Service& all)
      : clock(all),
        ids(all),
        snapshots(all),
        shared_store(all),
        publishing(all),
        webhooks(all),
        lanes(all),
        deliveries(all),
        operations(all),
        event_types(all),
        access(all),
        test_sends(all),
        channels(all),
        channel_tests(all),
        audited_reads(all),
        queries(all),
        stream(all),
        sources(all),
        status(all) {}

  const Clock& clock;
  IdGenerator& ids;
  const Snapshots& snapshots;
  SharedStore& shared_store;
  Publishing& publishing;
  WebhookChanges& webhooks;
  LaneControl& lanes;
  DeliveryChanges& deliveries;
  OperationChanges& operations;
  EventTypeEditor& event_types;
  AccessChanges& access;
  TestSends& test_sends;
  ChannelEditor& channels;
  ChannelTests& channel_tests;
  AuditedReads& audited_reads;
  Queries& queries;
  LiveStream& stream;
  SourceControl& sources;
  ServerStatus& status;
};

struct ApiShares;
struct PublishTries;

/// Whose share a request uses: the operator's for keys with scope admin, the tenant's for its keys,
/// otherwise that of the key, or of the address if there is no key.
[[nodiscard]] ShareOwner share_owner(const Caller& caller);

/// Cheap to copy: coroutines take it by value. For most keys `services` reach everything; for a
/// tenant's key they reach that tenant's data only (api/tenancy/tenant_service.h). A handler has no
/// other way to data.
struct Context {
  Services services;
  std::shared_ptr<const ApiOptions> options;
  Caller caller;                                  // Of this request.
  std::shared_ptr<Service> restricted = nullptr;  // Keeps a tenant's services alive.
  const ApiShares* shares = nullptr;              // Of all requests. Always set.

  /// The queries of this caller, who takes turns with others.
  [[nodiscard]] OwnedQueries queries() const { return {services.queries, share_owner(caller)}; }
  std::optional<RequestKey> request_key = std::nullopt;  // Set: carry this request out once.
  /// Of a publish, if several servers share the store. Otherwise null.
  std::shared_ptr<PublishTries> tries = nullptr;
};

/// A handler's coroutine.
using Resource = Awaitable<Reply> (*)(Context context, HttpRequest request);

}  // namespace postrider::api

/// POSTRIDER_TRY in a coroutine. The expression must not contain co_await.
#define POSTRIDER_CO_TRY(declaration, ...)                                              \
  auto POSTRIDER_CONCAT(try_, __LINE__) = (__VA_ARGS__);                                \
  if (!POSTRIDER_CONCAT(try_, __LINE__)) {                                              \
    co_return tl::make_unexpected(std::move(POSTRIDER_CONCAT(try_, __LINE__)).error()); \
  }                                                                                     \
  declaration = *std::move(POSTRIDER_CONCAT(try_, __LINE__))

/// POSTRIDER_CHECK in a coroutine. The expression must not contain co_await.
#define POSTRIDER_CO_CHECK(...)                                                                   \
  if (auto POSTRIDER_CONCAT(try_, __LINE__) = (__VA_ARGS__); !POSTRIDER_CONCAT(try_, __LINE__)) { \
    co_return tl::make_unexpected(std::move(POSTRIDER_CONCAT(try_, __LINE__)).error());           \
  }
