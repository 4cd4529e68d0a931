// The handlers: one coroutine per method and path. Each reads the request with pure functions,
// calls the services of its Context and writes the answer. routes.cc maps paths to handlers.
#pragma once

#include "api/resources/context.h"

namespace postrider::api {

// webhooks.cc
Awaitable<Reply> create_webhook(Context context, HttpRequest request);
Awaitable<Reply> get_webhook(Context context, HttpRequest request);
Awaitable<Reply> update_webhook(Context context, HttpRequest request);
Awaitable<Reply> delete_webhook(Context context, HttpRequest request);

// webhook_preview.cc
Awaitable<Reply> preview_webhook(Context context, HttpRequest request);

// webhook_list.cc
Awaitable<Reply> list_webhooks(Context context, HttpRequest request);

// webhook_actions.cc
Awaitable<Reply> pause_webhook(Context context, HttpRequest request);
Awaitable<Reply> resume_webhook(Context context, HttpRequest request);
Awaitable<Reply> command_circuit(Context context, HttpRequest request);
Awaitable<Reply> get_webhook_health(Context context, HttpRequest request);

// circuit_history.cc
Awaitable<Reply> list_open_periods(Context context, HttpRequest request);

// webhook_secret.cc
Awaitable<Reply> rotate_webhook_secret(Context context, HttpRequest request);
Awaitable<Reply> show_rotation(Context context, HttpRequest request);  // For a repeated request.
Awaitable<Reply> get_webhook_secret(Context context, HttpRequest request);
Awaitable<Reply> rotate_secrets_key(Context context, HttpRequest request);

// webhook_test_sends.cc
Awaitable<Reply> test_webhook(Context context, HttpRequest request);
Awaitable<Reply> show_test(Context context, HttpRequest request);  // For a repeated request.
Awaitable<Reply> verify_webhook(Context context, HttpRequest request);

// notification_channels.cc
Awaitable<Reply> list_channels(Context context, HttpRequest request);
Awaitable<Reply> create_channel(Context context, HttpRequest request);
Awaitable<Reply> get_channel(Context context, HttpRequest request);
Awaitable<Reply> update_channel(Context context, HttpRequest request);
Awaitable<Reply> delete_channel(Context context, HttpRequest request);

// channel_notifications.cc
Awaitable<Reply> list_notifications(Context context, HttpRequest request);
Awaitable<Reply> test_channel(Context context, HttpRequest request);
Awaitable<Reply> show_channel_test(Context context, HttpRequest request);  // Repeated request.

// alerts.cc
Awaitable<Reply> list_alerts(Context context, HttpRequest request);

// events.cc
Awaitable<Reply> publish_event(Context context, HttpRequest request);
Awaitable<Reply> list_events(Context context, HttpRequest request);
Awaitable<Reply> get_event(Context context, HttpRequest request);

// event_batch.cc
Awaitable<Reply> publish_batch(Context context, HttpRequest request);

// event_types.cc
Awaitable<Reply> create_event_type(Context context, HttpRequest request);
Awaitable<Reply> list_event_types(Context context, HttpRequest request);
Awaitable<Reply> get_event_type(Context context, HttpRequest request);
Awaitable<Reply> update_event_type(Context context, HttpRequest request);
Awaitable<Reply> delete_event_type(Context context, HttpRequest request);

// deliveries.cc
Awaitable<Reply> list_attempts(Context context, HttpRequest request);
Awaitable<Reply> list_webhook_attempts(Context context, HttpRequest request);
Awaitable<Reply> list_deliveries(Context context, HttpRequest request);
Awaitable<Reply> list_webhook_deliveries(Context context, HttpRequest request);
Awaitable<Reply> get_delivery(Context context, HttpRequest request);

// dead_letters.cc
Awaitable<Reply> list_dead_letters(Context context, HttpRequest request);
Awaitable<Reply> discard_dead_letters(Context context, HttpRequest request);
Awaitable<Reply> retry_dead_letters(Context context, HttpRequest request);

// dead_letter_groups.cc
Awaitable<Reply> group_dead_letters(Context context, HttpRequest request);

// replay.cc
Awaitable<Reply> replay_webhook(Context context, HttpRequest request);

// operations.cc
Awaitable<Reply> list_operations(Context context, HttpRequest request);
Awaitable<Reply> get_operation(Context context, HttpRequest request);
Awaitable<Reply> cancel_operation(Context context, HttpRequest request);

// delivery_actions.cc
Awaitable<Reply> retry_delivery(Context context, HttpRequest request);
Awaitable<Reply> retry_webhook_delivery(Context context, HttpRequest request);
Awaitable<Reply> retry_dead_letter(Context context, HttpRequest request);
Awaitable<Reply> cancel_delivery(Context context, HttpRequest request);

// tenants.cc
Awaitable<Reply> list_tenants(Context context, HttpRequest request);
Awaitable<Reply> create_tenant(Context context, HttpRequest request);
Awaitable<Reply> get_tenant(Context context, HttpRequest request);
Awaitable<Reply> delete_tenant(Context context, HttpRequest request);
Awaitable<Reply> get_tenant_limits(Context context, HttpRequest request);
Awaitable<Reply> put_tenant_limits(Context context, HttpRequest request);
Awaitable<Reply> put_tenant_contacts(Context context, HttpRequest request);
Awaitable<Reply> suspend_tenant(Context context, HttpRequest request);
Awaitable<Reply> resume_tenant(Context context, HttpRequest request);

// api_keys.cc
Awaitable<Reply> list_api_keys(Context context, HttpRequest request);
Awaitable<Reply> create_api_key(Context context, HttpRequest request);
Awaitable<Reply> get_api_key(Context context, HttpRequest request);
Awaitable<Reply> delete_api_key(Context context, HttpRequest request);

// sign_in_links.cc
Awaitable<Reply> create_portal_link(Context context, HttpRequest request);
Awaitable<Reply> create_sign_in_link(Context context, HttpRequest request);

// sessions.cc
Awaitable<Reply> create_session(Context context, HttpRequest request);
Awaitable<Reply> get_session(Context context, HttpRequest request);
Awaitable<Reply> delete_session(Context context, HttpRequest request);

// audit_log.cc
Awaitable<Reply> list_audit_log(Context context, HttpRequest request);
Awaitable<Reply> verify_audit_log(Context context, HttpRequest request);

// stats.cc
Awaitable<Reply> get_stats(Context context, HttpRequest request);

// webhook_stats.cc
Awaitable<Reply> get_webhook_stats(Context context, HttpRequest request);

// stream.cc
Awaitable<Reply> stream_events(Context context, HttpRequest request);

// health.cc
Awaitable<Reply> get_health(Context context, HttpRequest request);
Awaitable<Reply> get_readiness(Context context, HttpRequest request);
Awaitable<Reply> get_metrics(Context context, HttpRequest request);

// contract.cc
Awaitable<Reply> get_contract(Context context, HttpRequest request);

// sources.cc
Awaitable<Reply> list_sources(Context context, HttpRequest request);
Awaitable<Reply> pause_source(Context context, HttpRequest request);
Awaitable<Reply> resume_source(Context context, HttpRequest request);

// nodes.cc
Awaitable<Reply> list_nodes(Context context, HttpRequest request);

// settings.cc
Awaitable<Reply> list_settings(Context context, HttpRequest request);

// ui/dashboard_routes.cc
Awaitable<Reply> get_dashboard(Context context, HttpRequest request);

}  // namespace postrider::api
