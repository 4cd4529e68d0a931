"""How to provoke each problem that the contract documents."""

from stage import echo


def merged(stage, operation, **members):
    """The operation's first example with these members on top."""
    body = stage.any_body(operation)
    if operation.id == "publishBatch":
        return {"events": [{"type": "a.b", "data": 1, **members}]}
    return {**(body or {}), **members}


def without_key(stage, operation):
    return stage.send(operation, path=stage.unknown_path(operation), key=None,
                      body=stage.any_body(operation))


def wrong_scope(stage, operation):
    """A key for publishing reads nothing and changes nothing; a key for reading publishes none."""
    scope = "read" if operation.path.startswith("/v1/events") else "publish"
    scope = "publish" if operation.method == "GET" else scope
    return stage.send(operation, path=stage.unknown_path(operation), key=stage.key(scope)["key"],
                      body=stage.any_body(operation))


def unknown_id(stage, operation):
    return stage.send(operation, path=stage.unknown_path(operation),
                      body=stage.any_body(operation))


def unknown_parameter(stage, operation):
    return stage.send(operation, path=stage.path(operation) + "?colour=red",
                      body=stage.any_body(operation))


def broken_escape(stage, operation):
    return stage.send(operation, path=stage.unknown_path(operation) + "?a=%")


def forged_cursor(stage, operation):
    return stage.send(operation, path=stage.path(operation) + "?cursor=forged")


def broken_json(stage, operation):
    return stage.send(operation, body=b'{"')


def key_twice(stage, operation):
    return stage.send(operation, body=b'{"a":1,"a":2}')


def unknown_field(stage, operation):
    return stage.send(operation, body=merged(stage, operation, colour="red"))


def wrong_type(stage, operation):
    properties = operation.contract.properties(operation.body_schema)
    if not properties:
        return stage.send(operation, body={f"field{number}": 1 for number in range(65)})
    name = next(iter(properties))
    return stage.send(operation, body={**(stage.any_body(operation) or {}), name: [[]]})


def large_body(stage, operation):
    """Refused by its promised length for events, by its size for everything else."""
    if operation.path.startswith("/v1/events"):
        return stage.send(operation, body=b" " * ((16 << 20) + 1))
    return stage.send(operation, body=b" " * 200_000 + b"{}")


def large_data(stage, operation):
    return stage.send(operation, body=merged(stage, operation, data="x" * 262_143))


def plain_text(stage, operation):
    return stage.send(operation, body=b"{}", headers={"Content-Type": "text/plain"})


def compressed(stage, operation):
    return stage.send(operation, body=b"{}", headers={"Content-Encoding": "gzip"})


def bad_key_header(stage, operation):
    return stage.send(operation, body=stage.any_body(operation),
                      headers={"Idempotency-Key": "k" * 257})


def reused_key(stage, operation):
    key = stage.body("order-7-paid")
    for data in (1, 2):
        body = merged(stage, operation, data=data, idempotency_key=key)
        answer = stage.send(operation, body=body)
    return answer


def keyed(stage, operation):
    """A request that may be made once: what `stage.send` takes."""
    return {"path": stage.plain(operation), "body": stage.any_body(operation),
            "headers": {"Idempotency-Key": stage.body("order-7-paid")}}


def another_request_with_the_key(stage, operation):
    request = keyed(stage, operation)
    assert stage.send(operation, **request).status in operation.successes
    if operation.body:
        request["body"] = {"another": "body"}
    else:
        request["path"] = stage.path(operation) + "?age=lt_1h"
    return stage.send(operation, **request)


def made_once_and_gone(stage, operation):
    request = keyed(stage, operation)
    made = stage.send(operation, **request)
    assert made.status == 201
    if "location" in made.headers:
        assert stage.api.request("DELETE", made.headers["location"]).status == 204
    return stage.send(operation, **request)


def published_again(stage, operation, **fields):
    key = stage.body("order-7-paid")
    body = {"type": "order.paid", "data": 1, "tenant_id": key, "idempotency_key": key, **fields}
    assert stage.send(operation, body=body).status == 202
    return stage.send(operation, body=body)


def still_being_delivered(stage, operation):
    webhook = stage.webhook()
    stage.api.post(f"/v1/webhooks/{webhook['id']}/pause")
    return published_again(stage, operation, tenant_id=webhook["tenant_id"])


def final_already(stage, operation):
    return stage.send(operation, path=stage.path(operation, {"id": stage.dead_letter()["id"]}))


def webhook_deleted(stage, operation):
    delivery = stage.dead_letter()
    stage.api.delete(f"/v1/webhooks/{delivery['webhook_id']}")
    values = {"id": delivery["id"], "delivery_id": delivery["id"]}
    return stage.send(operation, path=stage.path(operation, values))


def not_a_dead_letter(stage, operation):
    delivery = stage.delivery(stage.webhook(), "succeeded")
    return stage.send(operation, path=stage.path(operation, {"delivery_id": delivery["id"]}))


def known_tenant(stage, operation):
    return stage.send(operation, body={"id": stage.tenant()})


def tenant_with_webhooks(stage, operation):
    tenant = stage.tenant()
    stage.webhook(tenant_id=tenant)
    return stage.send(operation, path=stage.path(operation, {"id": tenant}))


def only_admin_key(stage, operation):
    keys = [key["id"] for key in stage.api.all("/v1/api-keys") if key["scope"] == "admin"]
    return stage.send(operation, path=stage.path(operation, {"id": keys[0]}))


def spent_link(stage, operation):
    body = {"token": stage.portal_token()}
    assert stage.send(operation, body=body, key=None).status == 201
    return stage.send(operation, body=body, key=None)


def events_beyond_quota(stage, operation):
    body = merged(stage, operation, tenant_id=stage.tenant(events_per_minute=1))
    assert stage.send(operation, body=body).status == 202
    return stage.send(operation, body=body)


def batch_beyond_quota(stage, operation):
    event = {"type": "a.b", "data": 1, "tenant_id": stage.tenant(events_per_minute=1)}
    return stage.send(operation, body=[event, event])


def webhooks_beyond_quota(stage, operation):
    return stage.send(operation, body=merged(stage, operation,
                                             tenant_id=stage.tenant(webhooks_max=0)))


def entry_to_come(stage, operation):
    return stage.send(operation, path=operation.path + "?after=1000000000")


def known_event_type(stage, operation):
    return stage.send(operation, body={"name": stage.event_type()})


def event_of_archived_type(stage, operation):
    return stage.send(operation, body=merged(stage, operation,
                                             type=stage.event_type(archived=True)))


def event_against_its_schema(stage, operation):
    kind = stage.event_type(schema={"type": "object", "required": ["order"]})
    return stage.send(operation, body=merged(stage, operation, type=kind, data={}))


def finished_operation(stage, operation):
    path = stage.path(operation)
    assert stage.send(operation, path=path).status == 200
    return stage.send(operation, path=path)


def inactive_webhook(stage, operation):
    values = {"id": stage.webhook(active=False)["id"]}
    return stage.send(operation, path=stage.path(operation, values),
                      body=stage.any_body(operation))


def paused_webhook(stage, operation):
    path = stage.path(operation)
    stage.api.post(path.rpartition("/")[0] + "/pause")
    return stage.send(operation, path=path)


def open_circuit(stage, operation):
    path = stage.path(operation)
    stage.api.patch(path.rpartition("/")[0] + "/circuit-breaker", {"action": "force_open"})
    return stage.send(operation, path=path)


def too_many_secrets(stage, operation):
    path = stage.path(operation)
    answers = [stage.send(operation, path=path) for _ in range(11)]
    return answers[-1]


def same_secret(stage, operation):
    path = stage.path(operation)
    body = operation.body_examples["given"]
    assert stage.send(operation, path=path, body=body).status == 200
    return stage.send(operation, path=path, body=body)


def silent_receiver(stage, operation):
    """One that answers 200 and does not repeat the challenge."""
    values = {"id": stage.webhook()["id"]}
    body = None if operation.id == "verifyWebhook" else merged(stage, operation,
                                                               require_verification=True)
    return stage.send(operation, path=stage.path(operation, values), body=body)


def out_of_tokens(stage, operation):
    """No token comes within the attempt's second and the little more that a test is waited for."""
    webhook = stage.webhook(rate_limit={"requests_per_minute": 1, "burst": 1}, timeout_ms=1000)
    path = stage.path(operation, {"id": webhook["id"]})
    assert stage.send(operation, path=path).status == 200
    return stage.send(operation, path=path)


def url_changed_meanwhile(stage, operation):
    """The receiver has its own URL changed before it answers the challenge."""
    def change(request):
        api = stage.server.api()
        api.patch(f"/v1/webhooks/{webhook['id']}", {"url": stage.receiver.url("/elsewhere")})
        api.close()
        return echo(request)
    webhook = stage.webhook(change)
    return stage.send(operation, path=stage.path(operation, {"id": webhook["id"]}))


# By code, or by operation and code where one needs its own way.
PROVOKERS = {
    ("cancelBatchOperation", "conflict"): finished_operation,
    ("cancelOperation", "conflict"): finished_operation,
    ("rotateWebhookSecret", "conflict"): too_many_secrets,
    ("verifyAuditLog", "not_found"): entry_to_come,
    ("verifyWebhook", "conflict"): url_changed_meanwhile,
    "bad_request": broken_escape,
    "batch_exceeds_quota": batch_beyond_quota,
    "body_too_large": large_body,
    "circuit_open": open_circuit,
    "conflict": final_already,
    "data_too_large": large_data,
    "duplicate_event": still_being_delivered,
    "event_type_archived": event_of_archived_type,
    "event_type_exists": known_event_type,
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
    "portal_link_spent": spent_link,
    "schema_violation": event_against_its_schema,
    "tenant_exists": known_tenant,
    "tenant_has_webhooks": tenant_with_webhooks,
    "unacceptable_json": key_twice,
    "unauthorized": without_key,
    "unknown_field": unknown_field,
    "unsupported_encoding": compressed,
    "unsupported_media_type": plain_text,
    "validation_failed": wrong_type,
    "verification_failed": silent_receiver,
    "webhook_deleted": webhook_deleted,
    "webhook_inactive": inactive_webhook,
    "webhook_paused": paused_webhook,
    "webhook_quota_exceeded": webhooks_beyond_quota,
}

IDEMPOTENCY_TEST = "src/api/resources/idempotent_request_routes_test.cc"

# What no request to a server with these settings leads to: {code: the test that provokes it}.
PROVOKED_ELSEWHERE = {
    ("discardDeadLetters", "already_created"): IDEMPOTENCY_TEST,
    ("replayWebhook", "already_created"): IDEMPOTENCY_TEST,
    ("retryDeadLetters", "already_created"): IDEMPOTENCY_TEST,
    ("rotateWebhookSecret", "already_created"): IDEMPOTENCY_TEST,
    ("testWebhook", "already_created"): IDEMPOTENCY_TEST,
    "no_secrets_key": "test_without_a_key_there_is_nothing_to_rotate",
    "rate_limited": "test_a_client_over_its_limit_is_told_when_to_go_on",
    "unknown_event_type": "src/api/resources/event_type_routes_test.cc",
    "unknown_tenant": "src/api/resources/registry_routes_test.cc",
}

# Successes that an example alone does not lead to: (operation, status).
SUCCESSES = {
    ("publishEvent", 200): published_again,
    ("publishEvent", 202): lambda stage, operation: stage.send(
        operation, body=stage.any_body(operation)),
    ("testWebhook", 200): lambda stage, operation: stage.send(operation),
    ("testWebhook", 202): out_of_tokens,
}
