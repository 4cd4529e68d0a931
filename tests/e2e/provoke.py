"""One function for each documented problem: sends a request that the server answers with it."""

from resources import echo


def merged(resources, operation, **members):
    """The operation's first example with these members added or replaced."""
    body = resources.any_body(operation)
    if operation.id == "publishBatch":
        return {"events": [{"type": "a.b", "data": 1, **members}]}
    return {**(body or {}), **members}


def with_example(resources, operation):
    return resources.send(operation, body=resources.any_body(operation))


def dry_run(resources, operation):
    return resources.send(operation, body=merged(resources, operation, dry_run=True))


def without_key(resources, operation):
    return resources.send(operation, path=resources.unknown_path(operation), key=None,
                          body=resources.any_body(operation))


def another_host(resources, operation):
    return resources.send(operation, body=resources.any_body(operation),
                          headers={"Host": "other.example"})


def wrong_scope(resources, operation):
    """A publish key cannot read or manage; a read key cannot publish."""
    scope = "read" if operation.path.startswith("/v1/events") else "publish"
    scope = "publish" if operation.method == "GET" else scope
    return resources.send(operation, path=resources.unknown_path(operation),
                          key=resources.key(scope)["key"], body=resources.any_body(operation))


def unknown_id(resources, operation):
    return resources.send(operation, path=resources.unknown_path(operation),
                          body=resources.any_body(operation))


def unknown_parameter(resources, operation):
    return resources.send(operation, path=resources.path(operation) + "?colour=red",
                          body=resources.any_body(operation))


def broken_escape(resources, operation):
    return resources.send(operation, path=resources.unknown_path(operation) + "?a=%")


def forged_cursor(resources, operation):
    return resources.send(operation, path=resources.path(operation) + "?cursor=forged")


def broken_json(resources, operation):
    return resources.send(operation, body=b'{"')


def key_twice(resources, operation):
    return resources.send(operation, body=b'{"a":1,"a":2}')


def unknown_field(resources, operation):
    return resources.send(operation, body=merged(resources, operation, colour="red"))


def wrong_type(resources, operation):
    properties = operation.contract.properties(operation.body_schema)
    if not properties:
        return resources.send(operation, body={f"field{number}": 1 for number in range(65)})
    name = next(iter(properties))
    return resources.send(operation, body={**(resources.any_body(operation) or {}), name: [[]]})


def large_body(resources, operation):
    """Events are refused by their Content-Length, other bodies by their size."""
    if operation.path.startswith("/v1/events"):
        return resources.send(operation, body=b" " * ((16 << 20) + 1))
    return resources.send(operation, body=b" " * 200_000 + b"{}")


def large_data(resources, operation):
    return resources.send(operation, body=merged(resources, operation, data="x" * 262_143))


def plain_text(resources, operation):
    return resources.send(operation, body=b"{}", headers={"Content-Type": "text/plain"})


def compressed(resources, operation):
    return resources.send(operation, body=b"{}", headers={"Content-Encoding": "gzip"})


def bad_key_header(resources, operation):
    return resources.send(operation, body=resources.any_body(operation),
                          headers={"Idempotency-Key": "k" * 257})


def reused_key(resources, operation):
    key = resources.body("order-7-paid")
    for data in (1, 2):
        body = merged(resources, operation, data=data, idempotency_key=key)
        answer = resources.send(operation, body=body)
    return answer


def keyed(resources, operation):
    """Arguments for `resources.send`: a request with an idempotency key."""
    return {"path": resources.plain(operation), "body": resources.any_body(operation),
            "headers": {"Idempotency-Key": resources.body("order-7-paid")}}


def another_request_with_the_key(resources, operation):
    request = keyed(resources, operation)
    assert resources.send(operation, **request).status in operation.successes
    if operation.body:
        request["body"] = {"another": "body"}
    else:
        request["path"] = resources.path(operation) + "?age=lt_1h"
    return resources.send(operation, **request)


def made_once_and_gone(resources, operation):
    request = keyed(resources, operation)
    made = resources.send(operation, **request)
    assert made.status == 201
    if "location" in made.headers:
        assert resources.api.request("DELETE", made.headers["location"]).status == 204
    return resources.send(operation, **request)


def published_again(resources, operation, **fields):
    key = resources.body("order-7-paid")
    body = {"type": "order.paid", "data": 1, "tenant_id": key, "idempotency_key": key, **fields}
    assert resources.send(operation, body=body).status == 202
    return resources.send(operation, body=body)


def still_being_delivered(resources, operation):
    webhook = resources.webhook()
    resources.api.post(f"/v1/webhooks/{webhook['id']}/pause")
    return published_again(resources, operation, tenant_id=webhook["tenant_id"])


def final_already(resources, operation):
    values = {"id": resources.dead_letter()["id"]}
    return resources.send(operation, path=resources.path(operation, values))


def webhook_deleted(resources, operation):
    delivery = resources.dead_letter()
    resources.api.delete(f"/v1/webhooks/{delivery['webhook_id']}")
    values = {"id": delivery["id"], "delivery_id": delivery["id"]}
    return resources.send(operation, path=resources.path(operation, values))


def not_a_dead_letter(resources, operation):
    delivery = resources.delivery(resources.webhook(), "succeeded")
    values = {"delivery_id": delivery["id"]}
    return resources.send(operation, path=resources.path(operation, values))


def known_tenant(resources, operation):
    return resources.send(operation, body={"id": resources.tenant()})


def tenant_with_webhooks(resources, operation):
    tenant = resources.tenant()
    resources.webhook(tenant_id=tenant)
    return resources.send(operation, path=resources.path(operation, {"id": tenant}))


def suspended_once_and_gone(resources, operation):
    request = keyed(resources, operation)
    assert resources.send(operation, **request).status == 200
    assert resources.api.request("DELETE", request["path"].rpartition("/")[0]).status == 204
    return resources.send(operation, **request)


def portal_session_of_a_suspended_tenant(resources, operation):
    return resources.send(operation, path=resources.unknown_path(operation), key=None,
                          headers=resources.suspended_session(), body=resources.any_body(operation))


def link_for_a_suspended_tenant(resources, operation):
    tenant = resources.tenant()
    resources.api.post(f"/v1/tenants/{tenant}/suspend")
    return resources.send(operation, body={"tenant_id": tenant})


def link_of_a_suspended_tenant(resources, operation):
    tenant = resources.tenant()
    token = resources.portal_token(tenant)
    resources.api.post(f"/v1/tenants/{tenant}/suspend")
    return resources.send(operation, body={"token": token}, key=None)


def only_admin_key(resources, operation):
    keys = [key["id"] for key in resources.api.all("/v1/api-keys") if key["scope"] == "admin"]
    return resources.send(operation, path=resources.path(operation, {"id": keys[0]}))


def spent_link(resources, operation):
    body = {"token": resources.portal_token()}
    assert resources.send(operation, body=body, key=None).status == 201
    return resources.send(operation, body=body, key=None)


def unknown_key(resources, operation):
    return resources.send(operation, body={"key": "prk_unknown"}, key=None)


def from_another_site(resources, operation):
    return resources.send(operation, body=resources.any_body(operation), key=None,
                          headers={"Origin": "https://evil.example"})


def events_beyond_quota(resources, operation):
    body = merged(resources, operation, tenant_id=resources.tenant(events_per_minute=1))
    assert resources.send(operation, body=body).status == 202
    return resources.send(operation, body=body)


def batch_beyond_quota(resources, operation):
    event = {"type": "a.b", "data": 1, "tenant_id": resources.tenant(events_per_minute=1)}
    return resources.send(operation, body=[event, event])


def webhooks_beyond_quota(resources, operation):
    return resources.send(operation, body=merged(resources, operation,
                                                 tenant_id=resources.tenant(webhooks_max=0)))


def entry_to_come(resources, operation):
    return resources.send(operation, path=operation.path + "?after=1000000000")


def known_event_type(resources, operation):
    return resources.send(operation, body={"name": resources.event_type()})


def event_of_archived_type(resources, operation):
    return resources.send(operation, body=merged(resources, operation,
                                                 type=resources.event_type(archived=True)))


def event_against_its_schema(resources, operation):
    kind = resources.event_type(schema={"type": "object", "required": ["order"]})
    return resources.send(operation, body=merged(resources, operation, type=kind, data={}))


def event_that_takes_too_long_to_check(resources, operation):
    node = {"properties": {"a": {"$ref": "#"}}}
    kind = resources.event_type(schema={"allOf": [node, node]})
    deep = 1
    for _ in range(28):
        deep = {"a": deep}
    return resources.send(operation, body=merged(resources, operation, type=kind, data=deep))


def finished_operation(resources, operation):
    path = resources.path(operation)
    assert resources.send(operation, path=path).status == 200
    return resources.send(operation, path=path)


def inactive_webhook(resources, operation):
    values = {"id": resources.webhook(active=False)["id"]}
    return resources.send(operation, path=resources.path(operation, values),
                          body=resources.any_body(operation))


def paused_webhook(resources, operation):
    path = resources.path(operation)
    resources.api.post(path.rpartition("/")[0] + "/pause")
    return resources.send(operation, path=path)


def open_circuit(resources, operation):
    path = resources.path(operation)
    resources.api.patch(path.rpartition("/")[0] + "/circuit-breaker", {"action": "force_open"})
    return resources.send(operation, path=path)


def too_many_secrets(resources, operation):
    path = resources.path(operation)
    answers = [resources.send(operation, path=path) for _ in range(11)]
    return answers[-1]


def same_secret(resources, operation):
    path = resources.path(operation)
    body = operation.body_examples["given"]
    assert resources.send(operation, path=path, body=body).status == 200
    return resources.send(operation, path=path, body=body)


def silent_receiver(resources, operation):
    """A receiver that answers 200 and does not repeat the challenge."""
    values = {"id": resources.webhook()["id"]}
    body = None if operation.id == "verifyWebhook" else merged(
        resources, operation, require_verification=True)
    return resources.send(operation, path=resources.path(operation, values), body=body)


def out_of_tokens(resources, operation):
    """The next token comes later than the time that a test request is waited for."""
    webhook = resources.webhook(rate_limit={"requests_per_minute": 1, "burst": 1}, timeout_ms=1000)
    path = resources.path(operation, {"id": webhook["id"]})
    assert resources.send(operation, path=path).status == 200
    return resources.send(operation, path=path)


def url_changed_meanwhile(resources, operation):
    """The receiver changes the webhook's URL before it answers the challenge."""
    def change(request):
        api = resources.server.api()
        api.patch(f"/v1/webhooks/{webhook['id']}", {"url": resources.receiver.url("/elsewhere")})
        api.close()
        return echo(request)
    webhook = resources.webhook(change)
    return resources.send(operation, path=resources.path(operation, {"id": webhook["id"]}))


def webhook_of_channel(resources, operation):
    values = {"id": resources.channel()["webhook_id"]}
    body = None if operation.method == "DELETE" else {"payload_format": "tenant"}
    return resources.send(operation, path=resources.path(operation, values), body=body)


def reserved_event_type(resources, operation):
    values = {"name": "postrider.alert.raised"}
    body = resources.any_body(operation)
    return resources.send(operation, path=resources.path(operation, values), body=body)


def configured_channel(resources, operation):
    channels = resources.api.all("/v1/notification-channels")
    values = {"id": next(each["id"] for each in channels if each["configured"])}
    return resources.send(operation, path=resources.path(operation, values),
                          body=resources.any_body(operation))


def channels_beyond_limit(resources, operation):
    body = {"name": "a", "kind": "email", "target": {"to_owner": True},
            "tenant_id": resources.tenant()}
    answers = [resources.send(operation, body=body) for _ in range(21)]
    return answers[-1]


def tests_beyond_limit(resources, operation):
    path = resources.path(operation)
    answers = [resources.send(operation, path=path) for _ in range(21)]
    return answers[-1]


# By code, or by (operation, code) where an operation needs its own request.
PROVOKERS = {
    ("cancelBatchOperation", "conflict"): finished_operation,
    ("cancelOperation", "conflict"): finished_operation,
    ("rotateWebhookSecret", "conflict"): too_many_secrets,
    ("createPortalLink", "tenant_suspended"): link_for_a_suspended_tenant,
    ("createSession", "tenant_suspended"): link_of_a_suspended_tenant,
    ("createSession", "unauthorized"): unknown_key,
    "cross_site_request": from_another_site,
    ("resumeTenant", "already_created"): suspended_once_and_gone,
    ("suspendTenant", "already_created"): suspended_once_and_gone,
    ("verifyAuditLog", "not_found"): entry_to_come,
    ("verifyWebhook", "conflict"): url_changed_meanwhile,
    "bad_request": broken_escape,
    "batch_exceeds_quota": batch_beyond_quota,
    "body_too_large": large_body,
    "channel_configured": configured_channel,
    "circuit_open": open_circuit,
    "conflict": final_already,
    "data_too_large": large_data,
    "duplicate_event": still_being_delivered,
    "event_type_archived": event_of_archived_type,
    "event_type_exists": known_event_type,
    "event_type_reserved": reserved_event_type,
    "event_quota_exceeded": events_beyond_quota,
    ("publishBatch", "idempotency_key_reused"): reused_key,
    ("publishEvent", "idempotency_key_reused"): reused_key,
    "already_created": made_once_and_gone,
    "idempotency_key_reused": another_request_with_the_key,
    "insufficient_scope": wrong_scope,
    "invalid": same_secret,
    "invalid_cursor": forged_cursor,
    "invalid_idempotency_key": bad_key_header,
    "invalid_json": broken_json,
    "invalid_query": unknown_parameter,
    "last_admin_key": only_admin_key,
    "not_a_dead_letter": not_a_dead_letter,
    "not_found": unknown_id,
    "link_spent": spent_link,
    "schema_violation": event_against_its_schema,
    "tenant_exists": known_tenant,
    "tenant_has_webhooks": tenant_with_webhooks,
    "too_many_channels": channels_beyond_limit,
    "too_many_tests": tests_beyond_limit,
    "tenant_suspended": portal_session_of_a_suspended_tenant,
    "unacceptable_json": key_twice,
    "unauthorized": without_key,
    "unknown_field": unknown_field,
    "unknown_host": another_host,
    "unsupported_encoding": compressed,
    "unsupported_media_type": plain_text,
    "validation_failed": wrong_type,
    "validation_budget_exceeded": event_that_takes_too_long_to_check,
    "verification_failed": silent_receiver,
    "webhook_deleted": webhook_deleted,
    "webhook_inactive": inactive_webhook,
    "webhook_of_channel": webhook_of_channel,
    "webhook_paused": paused_webhook,
    "webhook_quota_exceeded": webhooks_beyond_quota,
}

IDEMPOTENCY_TEST = "src/api/resources/idempotent_request_routes_test.cc"

# Problems that no request to a server with these settings causes: {code: the test of it}.
PROVOKED_ELSEWHERE = {
    ("discardDeadLetters", "already_created"): IDEMPOTENCY_TEST,
    ("replayWebhook", "already_created"): IDEMPOTENCY_TEST,
    ("retryDeadLetters", "already_created"): IDEMPOTENCY_TEST,
    ("rotateWebhookSecret", "already_created"): IDEMPOTENCY_TEST,
    ("testWebhook", "already_created"): IDEMPOTENCY_TEST,
    ("testNotificationChannel", "already_created"): IDEMPOTENCY_TEST,
    ("createNotificationChannel", "verification_failed"):
        "src/api/resources/channel_routes_test.cc",
    ("updateNotificationChannel", "verification_failed"):
        "src/api/resources/channel_routes_test.cc",
    ("previewWebhook", "data_too_large"):
        "test_an_event_over_the_configured_size_is_refused",
    "api_key_quota_exceeded": "src/api/tenancy/tenancy_test.cc",
    "csrf_token_required": "tests/e2e/test_sessions.py",
    "fanout_backlog_full": "src/api/resources/event_routes_test.cc",
    "event_type_schema_unusable":
        "test_a_stored_schema_that_is_refused_now_does_not_harm_the_server",
    "no_secrets_key": "test_rotating_the_secrets_key_without_one_is_a_conflict",
    ("getMetrics", "unauthorized"): "test_metrics_need_a_key_unless_the_client_is_on_this_machine",
    "rate_limited": "test_a_client_over_its_rate_gets_429_with_retry_after",
    "share_exceeded": "tests/e2e/test_door.py",
    "unknown_event_type": "src/api/resources/event_type_routes_test.cc",
    "unknown_tenant": "src/api/resources/registry_routes_test.cc",
}

# Success statuses that need more than an example: {(operation, status): how to reach it}.
SUCCESSES = {
    ("discardDeadLetters", 200): lambda resources, operation: resources.send(
        operation, path=resources.plain(operation) + "&dry_run=true"),
    ("discardDeadLetters", 202): lambda resources, operation: resources.send(operation),
    ("replayWebhook", 200): dry_run,
    ("replayWebhook", 202): with_example,
    ("retryDeadLetters", 200): dry_run,
    ("retryDeadLetters", 202): with_example,
    ("publishEvent", 200): published_again,
    ("publishEvent", 202): with_example,
    ("testWebhook", 200): lambda resources, operation: resources.send(operation),
    ("testWebhook", 202): out_of_tokens,
}
