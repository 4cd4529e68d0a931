#include "api/ui/status_page.h"

namespace postrider::api {

const std::string_view status_html = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Postrider</title>
<link rel="stylesheet" href="/status.css">
<script src="/status.js" defer></script>
</head>
<body>
<header>
<h1>Postrider</h1>
<p id="state" role="status">Enter an API key to see the server's state.</p>
<div class="key">
<label for="key">API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false">
<button id="use" type="button">Use</button>
<button id="forget" type="button">Forget</button>
</div>
</header>
<main hidden>
<section>
<h2>Webhooks</h2>
<table>
<thead><tr><th>Webhook</th><th>URL</th><th>Events</th><th>State</th><th>Circuit</th></tr></thead>
<tbody id="webhooks"></tbody></table>
</section>
<section>
<h2>Dead letters</h2>
<table>
<thead><tr><th>Delivery</th><th>Event type</th><th>Reason</th><th>Attempts</th><th>Since</th>
<th></th></tr></thead>
<tbody id="dead"></tbody></table>
</section>
<section>
<h2>Recent deliveries</h2>
<table>
<thead><tr><th>Delivery</th><th>Event type</th><th>Status</th><th>HTTP</th><th>Attempts</th>
<th>Created</th></tr></thead>
<tbody id="deliveries"></tbody></table>
</section>
</main>
</body>
</html>
)html";

const std::string_view status_css = R"css(
:root { color-scheme: light dark; --line: #8884; --good: #16834a; --bad: #c22f2f; --wait: #a86a00; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 72rem; padding: 1rem; }
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
header { align-items: center; display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; }
#state { flex: 1; margin: 0; min-width: 14rem; opacity: .8; }
.key { align-items: center; display: flex; gap: .5rem; }
input, button { border: 1px solid var(--line); border-radius: .4rem; font: inherit; }
input, button { padding: .2rem .6rem; }
button { cursor: pointer; }
section { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem .35rem 0; }
th, td { text-align: left; vertical-align: top; }
th { font-weight: 600; opacity: .7; }
td { overflow-wrap: anywhere; }
.id { font-family: ui-monospace, monospace; font-size: .85em; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.wait { color: var(--wait); }
.none { opacity: .6; }
)css";

const std::string_view status_js = R"js("use strict";
// All text is written with textContent, so that text of receivers and tenants is never HTML.
const byId = (id) => document.getElementById(id);
const keyName = "postrider-key";
const refreshMs = 5000;
let timer = 0;

async function call(method, path) {
  const response = await fetch(path, {
    method,
    headers: { Authorization: "Bearer " + sessionStorage.getItem(keyName) },
  });
  const body = await response.json();
  if (!response.ok) {
    const problem = new Error(body.detail || response.statusText);
    problem.status = response.status;
    throw problem;
  }
  return body;
}

function cell(row, text, className) {
  const td = row.insertCell();
  td.textContent = text === null || text === undefined ? "–" : String(text);
  if (className) td.className = className;
  return td;
}

function fill(id, items, columns, write) {
  const body = document.createElement("tbody");
  body.id = id;
  for (const item of items) write(body.insertRow(), item);
  if (items.length === 0) {
    const td = cell(body.insertRow(), "None.", "none");
    td.colSpan = columns;
  }
  byId(id).replaceWith(body);
}

const time = (text) => (text ? new Date(text).toLocaleString() : null);

const tones = {
  succeeded: "good", closed: "good", active: "good",
  dead_letter: "bad", open: "bad", cancelled: "none", inactive: "none",
};
const tone = (word) => tones[word] || "wait";

function webhookState(webhook) {
  if (!webhook.active) return "inactive";
  return webhook.paused ? "paused" : "active";
}

function writeWebhook(row, webhook) {
  cell(row, webhook.name || webhook.id, webhook.name ? "" : "id");
  cell(row, webhook.url);
  cell(row, webhook.events.join(", "));
  const state = webhookState(webhook);
  cell(row, webhook.disabled_reason ? state + ": " + webhook.disabled_reason : state, tone(state));
  const circuit = webhook.circuit ? webhook.circuit.state : null;
  cell(row, circuit, tone(circuit));
}

function deliveryState(delivery) {
  const { status, blocked } = delivery;
  return blocked ? status + ", blocked by " + blocked.reason : status;
}

function writeDelivery(row, delivery) {
  cell(row, delivery.id, "id");
  cell(row, delivery.event_type);
  cell(row, deliveryState(delivery), tone(delivery.status));
  cell(row, delivery.http_status || delivery.failure_category);
  cell(row, delivery.attempt_count);
  cell(row, time(delivery.created_at));
}

function writeDead(row, delivery) {
  cell(row, delivery.id, "id");
  cell(row, delivery.event_type);
  cell(row, delivery.dead_letter ? delivery.dead_letter.reason : null);
  cell(row, delivery.attempt_count);
  cell(row, time(delivery.completed_at));
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Retry";
  button.addEventListener("click", () => retry(button, delivery.id));
  row.insertCell().append(button);
}

async function retry(button, id) {
  button.disabled = true;
  try {
    await call("POST", "/v1/dlq/" + encodeURIComponent(id) + "/retry");
    await refresh();
  } catch (problem) {
    button.disabled = false;
    byId("state").textContent = problem.message;
  }
}

async function refresh() {
  clearTimeout(timer);
  if (!sessionStorage.getItem(keyName)) return;
  try {
    const [webhooks, dead, deliveries] = await Promise.all([
      call("GET", "/v1/webhooks?limit=50"),
      call("GET", "/v1/dlq?limit=20"),
      call("GET", "/v1/deliveries?limit=20"),
    ]);
    fill("webhooks", webhooks.data, 5, writeWebhook);
    fill("dead", dead.data, 6, writeDead);
    fill("deliveries", deliveries.data, 6, writeDelivery);
    byId("state").textContent = "As of " + new Date().toLocaleTimeString() + ".";
    document.querySelector("main").hidden = false;
  } catch (problem) {
    byId("state").textContent = problem.message;
    if (problem.status === 401) return forget();
  }
  timer = setTimeout(refresh, refreshMs);
}

function use() {
  const key = byId("key").value.trim();
  if (key) {
    sessionStorage.setItem(keyName, key);
    byId("key").value = "";
  }
  refresh();
}

function forget() {
  clearTimeout(timer);
  sessionStorage.removeItem(keyName);
  document.querySelector("main").hidden = true;
}

// A link may contain the key after the #, which browsers do not send. Removes it from the address.
const keyFromLink = new URLSearchParams(location.hash.slice(1)).get("key");
if (keyFromLink) {
  sessionStorage.setItem(keyName, keyFromLink);
  history.replaceState(null, "", location.pathname);
}

byId("use").addEventListener("click", use);
byId("forget").addEventListener("click", forget);
byId("key").addEventListener("keydown", (event) => {
  if (event.key === "Enter") use();
});
refresh();
)js";

}  // namespace postrider::api
