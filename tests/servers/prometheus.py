"""A private Prometheus on loopback.

    with Prometheus(["127.0.0.1:8080"], key="pk_…", rules=[file]) as prometheus:
        prometheus.query("up")                   # [{"metric": {…}, "value": [time, "1"]}]
        prometheus.range("rate(x[1m])", 60)      # The same with "values", over 60 seconds.
        prometheus.alerts()                      # {(name, state), …}
"""

import json
import pathlib
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import program  # noqa: E402

ANSWER_SECONDS_MAX = 30


class Prometheus:
    """Scrapes every second as job `postrider`. `key`: an API key that it sends. `rules`: files,
    evaluated every second.
    """

    def __init__(self, targets, key=None, rules=(), directory=None):
        self._directory = program.PrivateDirectory(directory)
        self.directory = self._directory.path
        self.targets = list(targets)
        self.key = key
        self.rules = [str(file) for file in rules]
        self.port = program.free_port()
        self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        (self.directory / "prometheus.yml").write_text(json.dumps(self._configuration()))
        self.process = program.start_child(
            ["prometheus", "--config.file", self.directory / "prometheus.yml",
             "--storage.tsdb.path", self.directory / "data",
             "--web.listen-address", f"127.0.0.1:{self.port}", "--log.level", "warn"],
            self.directory / "prometheus.log")
        program.wait_until(self._is_ready, "Prometheus to be ready")
        return self

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        self._directory.remove()

    def ask(self, path, **parameters):
        """The `data` of an answer of the API. An error of a query is a ValueError."""
        url = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=ANSWER_SECONDS_MAX) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(f"{parameters}: {error.read().decode()}") from error

    def query(self, expression):
        answer = self.ask("/api/v1/query", query=expression)
        assert answer["resultType"] == "vector", (expression, answer)
        return answer["result"]

    def range(self, expression, seconds):
        now = time.time()
        return self.ask("/api/v1/query_range", query=expression, start=now - seconds, end=now,
                        step=1)["result"]

    def alerts(self):
        """{(name, state)} of the alerts that are pending or firing."""
        return {(alert["labels"]["alertname"], alert["state"])
                for alert in self.ask("/api/v1/alerts")["alerts"]}

    def rules_health(self):
        """{name: last error} of all rules."""
        return {rule["name"]: rule.get("lastError", "") if rule["health"] != "ok" else ""
                for group in self.ask("/api/v1/rules")["groups"] for rule in group["rules"]}

    def _configuration(self):
        job = {"job_name": "postrider", "static_configs": [{"targets": self.targets}]}
        if self.key is not None:
            (self.directory / "key").write_text(self.key)
            job["authorization"] = {"credentials_file": str(self.directory / "key")}
        # JSON is YAML.
        return {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": self.rules, "scrape_configs": [job]}

    def _is_ready(self):
        log = (self.directory / "prometheus.log").read_text(errors="replace")
        assert self.process.poll() is None, f"Prometheus ended:\n{log}"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready",
                                        timeout=ANSWER_SECONDS_MAX) as answer:
                return answer.status == 200
        except OSError:
            return False
