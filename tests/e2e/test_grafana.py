"""deploy/grafana/postrider.json: its form, and its queries on a real Prometheus."""

import collections
import itertools
import json
import re
import sys
import time

import jsonschema
import pytest

from harness import ADMIN_KEY, ROOT, wait_for
from metric_pages import documented, metrics_in, provoke_everything, server_with_sources
from world import World

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from prometheus import Prometheus  # noqa: E402

DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "postrider.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
VARIABLES = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
Query = collections.namedtuple("Query", "title ref expression instant")
QUERIES = [Query(panel["title"], target["refId"], target["expr"], target["instant"])
           for panel in PANELS for target in panel["targets"]]

OBJECT = {"type": "object"}
SOURCE = {"const": {"type": "prometheus", "uid": "${datasource}"}}
GRID = {"type": "object", "additionalProperties": False, "required": ["h", "w", "x", "y"],
        "properties": {"h": {"type": "integer", "minimum": 1},
                       "w": {"type": "integer", "minimum": 1, "maximum": 24},
                       "x": {"type": "integer", "minimum": 0, "maximum": 23},
                       "y": {"type": "integer", "minimum": 0}}}
TARGET = {"type": "object", "required": ["refId", "datasource", "expr", "legendFormat"],
          "properties": {"refId": {"pattern": "^[A-Z]$"}, "datasource": SOURCE,
                         "expr": {"type": "string", "minLength": 1},
                         "format": {"enum": ["time_series", "table", "heatmap"]},
                         "range": {"type": "boolean"}, "instant": {"type": "boolean"}}}
PANEL = {"type": "object",
         "required": ["id", "type", "title", "description", "datasource", "gridPos",
                      "fieldConfig", "options", "targets"],
         "properties": {
             "id": {"type": "integer", "minimum": 1},
             "type": {"enum": ["timeseries", "stat", "table", "heatmap"]},
             "title": {"type": "string", "minLength": 1},
             "description": {"type": "string", "minLength": 1},
             "datasource": SOURCE, "gridPos": GRID,
             "fieldConfig": {"type": "object", "required": ["defaults", "overrides"],
                             "properties": {"defaults": {"required": ["unit"]},
                                            "overrides": {"type": "array"}}},
             "options": OBJECT,
             "targets": {"type": "array", "minItems": 1, "items": TARGET}}}
ROW = {"type": "object", "required": ["id", "type", "title", "collapsed", "gridPos", "panels"],
       "properties": {"type": {"const": "row"}, "gridPos": GRID, "panels": {"maxItems": 0}}}
# The parts of Grafana's dashboard model, version 39 (Grafana 10.4 and later), that are used here.
SCHEMA = {"type": "object",
          "required": ["uid", "title", "schemaVersion", "panels", "templating", "time", "refresh",
                       "annotations", "tags", "editable"],
          "properties": {
              "id": {"type": "null"},
              "uid": {"pattern": "^[a-z0-9-]{1,40}$"},
              "schemaVersion": {"const": 39},
              "time": {"required": ["from", "to"]},
              "panels": {"items": {"if": {"properties": {"type": {"const": "row"}}},
                                   "then": ROW, "else": PANEL}},
              "templating": {"properties": {"list": {"items": {
                  "required": ["name", "type", "query", "current", "hide"],
                  "properties": {"type": {"enum": ["datasource", "query"]}}}}}},
              "annotations": {"properties": {"list": {"items": {
                  "required": ["name", "enable", "datasource"]}}}}}}


def test_the_dashboard_has_the_form_of_grafana():
    jsonschema.validate(DASHBOARD, SCHEMA)
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
    for panel in PANELS:
        refs = [target["refId"] for target in panel["targets"]]
        assert len(refs) == len(set(refs)), panel["title"]


def test_no_panel_covers_another():
    taken = {}
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        for cell in itertools.product(range(at["x"], at["x"] + at["w"]),
                                      range(at["y"], at["y"] + at["h"])):
            assert cell not in taken, (panel["title"], taken.get(cell))
            taken[cell] = panel["title"]


def test_the_rows_cover_what_an_operator_asks_for():
    rows = [panel["title"] for panel in DASHBOARD["panels"] if panel["type"] == "row"]
    assert rows == ["Overview", "Traffic", "Latency", "Backlog", "Circuits", "Tenants", "API",
                    "Store", "Sources of events", "Notifications and traces", "Process"]


def test_the_variables_are_defined_and_used():
    assert list(VARIABLES) == ["datasource", "instance", "tenant"]
    used = set(re.findall(r"\$\{?(\w+)", json.dumps([query.expression for query in QUERIES])))
    assert used == {"instance", "tenant", "__rate_interval"}
    for query in QUERIES:
        assert 'instance=~"$instance"' in query.expression, query
    for variable in ("instance", "tenant"):
        assert VARIABLES[variable]["multi"] and VARIABLES[variable]["includeAll"]


def test_the_dashboard_shows_documented_metrics_and_leaves_out_almost_none():
    used = set().union(*(metrics_in(query.expression) for query in QUERIES))
    assert used - set(documented()) == set()
    assert set(documented()) - used == {"process_virtual_memory_bytes"}


def test_what_each_server_shows_of_the_whole_database_is_not_added_up():
    shared = {"webhook_queue_depth", "webhook_dlq_size", "postrider_deliveries_waiting",
              "postrider_fanout_remaining", "postrider_store_bytes"}
    for query in QUERIES:
        for name in metrics_in(query.expression) & shared:
            assert re.search(rf"\bmax( by \(\w+\) )?\({name}\{{", query.expression), query
    assert shared <= set().union(*(metrics_in(query.expression) for query in QUERIES))


# ---------------------------------------------------------------- a real Prometheus

def resolved(expression, instance=".*", tenant=".*"):
    """The expression as Grafana sends it. Filters of zeros are left out: here nothing has to have
    happened within the last seconds."""
    text = expression.replace("$__rate_interval", "10s").replace("$instance", instance)
    return re.sub(r"> 0$|> 0(?=\))", ">= 0", text.replace("$tenant", tenant))


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory, shared_receiver):
    """A Prometheus that has scraped a server on which everything has happened, twice."""
    directory = tmp_path_factory.mktemp("grafana")
    with server_with_sources(directory, shared_receiver) as (server, world):
        with Prometheus([f"127.0.0.1:{server.port}"], key=ADMIN_KEY) as started:
            wait_for(lambda: started.query("postrider_build_info"), "a scrape")
            provoke_everything(world)
            other = World(server.api(), shared_receiver, "globex")
            provoke_everything(other)
            wait_for(lambda: len(started.query("webhook_dlq_size")) == 2, "both tenants")
            seen = time.time()
            wait_for(lambda: float(started.query("timestamp(up)")[0]["value"][1]) > seen + 2,
                     "two more scrapes")
            yield started
            other.clean()


def run(prometheus, query, **variables):
    expression = resolved(query.expression, **variables)
    return (prometheus.query(expression) if query.instant else prometheus.range(expression, 60))


OF_FILES = pytest.mark.embedded_store("the metric is of the file system of SQLite")


@pytest.mark.parametrize("query", [
    pytest.param(query, id=f"{query.title}-{query.ref}",
                 marks=OF_FILES if "postrider_store_free_bytes" in query.expression else ())
    for query in QUERIES])
def test_every_query_has_series(prometheus, query):
    assert run(prometheus, query), query


@pytest.mark.parametrize("query", [query for query in QUERIES if "$tenant" in query.expression],
                         ids=lambda query: f"{query.title}-{query.ref}")
def test_a_tenant_can_be_chosen(prometheus, query):
    assert run(prometheus, query, tenant="acme")
    shown = run(prometheus, query, tenant="nobody")
    values = [value for series in shown
              for _, value in series.get("values") or [series["value"]]]
    assert set(values) <= {"0"}, shown  # The sum of nothing is shown as zero.
    for series in run(prometheus, query, tenant="acme"):
        assert series["metric"].get("tenant_id", "acme") == "acme"


def test_legends_name_labels_that_the_series_have(prometheus):
    for panel in PANELS:
        for target in panel["targets"]:
            query = Query(panel["title"], target["refId"], target["expr"], target["instant"])
            wanted = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            for series in run(prometheus, query):
                assert wanted <= set(series["metric"]), (panel["title"], target["refId"])


def test_the_variables_have_values(prometheus):
    values = {}
    for name in ("instance", "tenant"):
        query = VARIABLES[name]["query"]["query"]
        series, label = re.fullmatch(r"label_values\((.+), (\w+)\)", query).groups()
        values[name] = prometheus.ask(f"/api/v1/label/{label}/values",
                                      **{"match[]": resolved(series)})
    assert len(values["instance"]) == 1 and values["tenant"] == ["acme", "globex"]


def test_the_annotations_are_valid_queries(prometheus):
    for annotation in DASHBOARD["annotations"]["list"]:
        if "expr" in annotation:
            prometheus.range(resolved(annotation["expr"]), 60)
