"""The servers that `sources.py` takes events from. Each class has the same methods."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time

import run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "servers"))
import pika  # noqa: E402
import postgres  # noqa: E402
import rabbitmq  # noqa: E402
import redis_server  # noqa: E402

FILLER = "x" * 960  # As large as the body that wrk posts.
BATCH = 1000


def data(number):
    return json.dumps({"n": number, "filler": FILLER})


class OutboxBench:
    """PostgreSQL on the same machine, with its usual durability."""

    label = "outbox"
    writes_first = False

    def __init__(self):
        self.server = postgres.PostgresServer(fsync=True).start()
        with contextlib.closing(self.server.connect()) as connection:
            connection.cursor().execute("CREATE EXTENSION pg_stat_statements")
        self.address = None

    def close(self):
        self.server.close()

    def source(self):
        """An empty source. Returns its table of the configuration."""
        self.address = self.server.make_database(f"bench_{time.monotonic_ns()}")
        subprocess.run([run.BUILD / "postrider", "outbox", "init", "--dsn", self.address,
                        "--apply"], check=True, stdout=subprocess.DEVNULL)
        return {"name": "bench", "kind": "outbox", "address": self.address, "batch_max": BATCH}

    def write_all(self, count):
        """Writes the messages 0, 1, … as the superuser, so that they can be told apart."""
        database = self.address.rpartition("/")[2]
        admin = self.server.admin_address(database)
        with contextlib.closing(self.server.connect(admin)) as connection:
            cursor = connection.cursor()
            for start in range(0, count, BATCH):
                cursor.execute(
                    "INSERT INTO webhook_outbox (type, data) SELECT 'bench.event', "
                    "json_build_object('n', n, 'filler', %s) FROM generate_series(%s, %s) n",
                    (FILLER, start, min(start + BATCH, count) - 1))

    def start_counting(self):
        with contextlib.closing(self.server.connect()) as connection:
            connection.cursor().execute("SELECT pg_stat_statements_reset()")

    def statements(self):
        """Statements of the reader since `start_counting`."""
        with contextlib.closing(self.server.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s "
                           "JOIN pg_roles r ON r.oid = s.userid WHERE rolname = %s",
                           (postgres.USER,))
            return int(cursor.fetchone()[0])

    @contextlib.contextmanager
    def writer(self):
        """Yields a function that writes one message and returns after its commit."""
        with contextlib.closing(self.server.connect(self.address)) as connection:
            cursor = connection.cursor()

            def write(number):
                cursor.execute("SELECT postrider_emit('bench.event', %s)",
                               (data(number),))
            yield write


class RedisBench:
    """Redis with an append-only file that is written every second."""

    label = "redis"
    writes_first = True

    def __init__(self):
        self.server = redis_server.Redis(settings=("appendonly yes",)).start()
        self.stream = None

    def close(self):
        self.server.stop()

    def source(self):
        self.stream = f"bench_{time.monotonic_ns()}"
        return {"name": "bench", "kind": "redis", "address": self.server.address(),
                "stream": self.stream, "group": "postrider", "batch_max": BATCH}

    def write_all(self, count):
        client = self.server.client()
        for start in range(0, count, BATCH):
            pipeline = client.pipeline(transaction=False)
            for number in range(start, min(start + BATCH, count)):
                pipeline.xadd(self.stream, {"type": "bench.event", "data": data(number)})
            pipeline.execute()

    def start_counting(self):
        pass

    def statements(self):
        return None

    @contextlib.contextmanager
    def writer(self):
        client = self.server.client()

        def write(number):
            client.xadd(self.stream, {"type": "bench.event", "data": data(number)})
        yield write


class RabbitMQBench:
    """Durable queues and persistent messages."""

    label = "amqp"
    writes_first = True

    def __init__(self):
        self.server = rabbitmq.RabbitMQ().start()
        self.queue = None

    def close(self):
        self.server.stop()

    def source(self):
        self.queue = f"bench_{time.monotonic_ns()}"
        return {"name": "bench", "kind": "amqp", "address": self.server.address(),
                "queue": self.queue, "batch_max": BATCH, "prefetch": 2 * BATCH}

    def publish(self, channel, number):
        properties = pika.BasicProperties(message_id=f"m-{number}", type="bench.event",
                                          delivery_mode=2)
        channel.basic_publish("", self.queue, data(number).encode(), properties)

    def write_all(self, count):
        with contextlib.closing(self.server.connection()) as connection:
            channel = connection.channel()
            channel.queue_declare(self.queue, durable=True)
            channel.tx_select()  # A commit returns when the messages are on disk.
            for start in range(0, count, BATCH):
                for number in range(start, min(start + BATCH, count)):
                    self.publish(channel, number)
                channel.tx_commit()

    def start_counting(self):
        pass

    def statements(self):
        return None

    @contextlib.contextmanager
    def writer(self):
        with contextlib.closing(self.server.connection()) as connection:
            channel = connection.channel()
            channel.confirm_delivery()
            yield lambda number: self.publish(channel, number)


KINDS = (OutboxBench, RedisBench, RabbitMQBench)
