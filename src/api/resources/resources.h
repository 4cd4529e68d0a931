// One coroutine per method and path. Each reads the request with pure functions, asks the service,
// and writes the answer; routes.cc says which path leads where.
#pragma once

#include "api/resources/context.h"

namespace postrider::api {

// webhooks.cc
Awaitable<HttpResponse> create_webhook(Context context, HttpRequest request);
Awaitable<HttpResponse> get_webhook(Context context, HttpRequest request);
Awaitable<HttpResponse> update_webhook(Context context, HttpRequest request);
Awaitable<HttpResponse> delete_webhook(Context context, HttpRequest request);

// webhook_list.cc
Awaitable<HttpResponse> list_webhooks(Context context, HttpRequest request);

// webhook_actions.cc
Awaitable<HttpResponse> pause_webhook(Context context, HttpRequest request);
Awaitable<HttpResponse> resume_webhook(Context context, HttpRequest request);
Awaitable<HttpResponse> command_circuit(Context context, HttpRequest request);
Awaitable<HttpResponse> get_webhook_health(Context context, HttpRequest request);

// webhook_secret.cc
Awaitable<HttpResponse> rotate_webhook_secret(Context context, HttpRequest request);
Awaitable<HttpResponse> show_rotation(Context context, HttpRequest request);  // A repeat.
Awaitable<HttpResponse> get_webhook_secret(Context context, HttpRequest request);
Awaitable<HttpResponse> rotate_secrets_key(Context context, HttpRequest request);

// webhook_tryouts.cc
Awaitable<HttpResponse> test_webhook(Context context, HttpRequest request);
Awaitable<HttpResponse> show_test(Context context, HttpRequest request);  // A repeat.
Awaitable<HttpResponse> verify_webhook(Context context, HttpRequest request);

// alerts.cc
Awaitable<HttpResponse> list_alerts(Context context, HttpRequest request);

// events.cc
Awaitable<HttpResponse> publish_event(Context context, HttpRequest request);
Awaitable<HttpResponse> list_events(Context context, HttpRequest request);
Awaitable<HttpResponse> get_event(Context context, HttpRequest request);

// event_batch.cc
Awaitable<HttpResponse> publish_batch(Context context, HttpRequest request);

// event_types.cc
Awaitable<HttpResponse> create_event_type(Context context, HttpRequest request);
Awaitable<HttpResponse> list_event_types(Context context, HttpRequest request);
Awaitable<HttpResponse> get_event_type(Context context, HttpRequest request);
Awaitable<HttpResponse> update_event_type(Context context, HttpRequest request);
Awaitable<HttpResponse> delete_event_type(Context context, HttpRequest request);

// deliveries.cc
Awaitable<HttpResponse> list_deliveries(Context context, HttpRequest request);
Awaitable<HttpResponse> list_webhook_deliveries(Context context, HttpRequest request);
Awaitable<HttpResponse> get_delivery(Context context, HttpRequest request);

// dead_letters.cc
Awaitable<HttpResponse> list_dead_letters(Context context, HttpRequest request);
Awaitable<HttpResponse> discard_dead_letters(Context context, HttpRequest request);
Awaitable<HttpResponse> retry_dead_letters(Context context, HttpRequest request);

// replay.cc
Awaitable<HttpResponse> replay_webhook(Context context, HttpRequest request);

// operations.cc
Awaitable<HttpResponse> list_operations(Context context, HttpRequest request);
Awaitable<HttpResponse> get_operation(Context context, HttpRequest request);
Awaitable<HttpResponse> cancel_operation(Context context, HttpRequest request);

// delivery_actions.cc
Awaitable<HttpResponse> retry_delivery(Context context, HttpRequest request);
Awaitable<HttpResponse> retry_webhook_delivery(Context context, HttpRequest request);
Awaitable<HttpResponse> retry_dead_letter(Context context, HttpRequest request);
Awaitable<HttpResponse> cancel_delivery(Context context, HttpRequest request);

// tenants.cc
Awaitable<HttpResponse> list_tenants(Context context, HttpRequest request);
Awaitable<HttpResponse> create_tenant(Context context, HttpRequest request);
Awaitable<HttpResponse> get_tenant(Context context, HttpRequest request);
Awaitable<HttpResponse> delete_tenant(Context context, HttpRequest request);
Awaitable<HttpResponse> get_tenant_limits(Context context, HttpRequest request);
Awaitable<HttpResponse> put_tenant_limits(Context context, HttpRequest request);

// api_keys.cc
Awaitable<HttpResponse> list_api_keys(Context context, HttpRequest request);
Awaitable<HttpResponse> create_api_key(Context context, HttpRequest request);
Awaitable<HttpResponse> get_api_key(Context context, HttpRequest request);
Awaitable<HttpResponse> delete_api_key(Context context, HttpRequest request);

// portal.cc
Awaitable<HttpResponse> create_portal_link(Context context, HttpRequest request);
Awaitable<HttpResponse> open_portal_session(Context context, HttpRequest request);

// audit_log.cc
Awaitable<HttpResponse> list_audit_log(Context context, HttpRequest request);
Awaitable<HttpResponse> verify_audit_log(Context context, HttpRequest request);
// stats.cc
Awaitable<HttpResponse> get_stats(Context context, HttpRequest request);

// stream.cc
Awaitable<HttpResponse> stream_events(Context context, HttpRequest request);

// health.cc
Awaitable<HttpResponse> get_health(Context context, HttpRequest request);
Awaitable<HttpResponse> get_readiness(Context context, HttpRequest request);
Awaitable<HttpResponse> get_metrics(Context context, HttpRequest request);

// contract.cc
Awaitable<HttpResponse> get_contract(Context context, HttpRequest request);

// status_page.cc
Awaitable<HttpResponse> get_status_page(Context context, HttpRequest request);
Awaitable<HttpResponse> get_status_style(Context context, HttpRequest request);
Awaitable<HttpResponse> get_status_script(Context context, HttpRequest request);

}  // namespace postrider::api
