"""A webhook cannot be pointed at the server itself."""


def test_the_servers_own_listener_is_refused_by_address(server, world):
    answer = world.api.request("POST", "/v1/webhooks", {
        "url": f"http://127.0.0.1:{server.port}/v1/events", "events": ["*"]})
    assert answer.status == 422, answer
    assert "own listener" in answer.json["detail"]


def test_the_servers_own_listener_is_refused_when_a_name_resolves_to_it(server, world):
    hook = world.hook(url=f"http://localhost:{server.port}/v1/events",
                      retry_config={"max_attempts": 1})
    event = world.publish()
    delivery = world.wait_done(event["id"], hook)
    assert (delivery["status"], delivery["failure_category"]) == ("dead_letter", "blocked_address")
    attempts = world.api.get(f"/v1/deliveries/{delivery['id']}")["attempts"]
    assert "own listener" in attempts[0]["error_message"]
