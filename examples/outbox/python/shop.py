"""Stores an order and the event that says so in one PostgreSQL transaction.

    DATABASE_URL=postgres://... python3 shop.py ORDER TOTAL [fail]

Needs the outbox table (`postrider outbox init`) and
    CREATE TABLE orders (id text PRIMARY KEY, total numeric NOT NULL);
With `fail` the transaction is rolled back: neither the order nor the event exists then.
"""

import json
import os
import sys

import psycopg2


def place_order(connection, order, total, fail):
    with connection.cursor() as cursor:
        # First the order, then its event: so the events of one order are in order.
        cursor.execute("INSERT INTO orders (id, total) VALUES (%s, %s)", (order, total))
        cursor.execute("SELECT postrider_emit(%s, %s, resource_id => %s, source => 'shop')",
                       ("order.placed", json.dumps({"order": order, "total": float(total)}), order))
        event_id, = cursor.fetchone()
    if fail:
        connection.rollback()
    else:
        connection.commit()
    print("rolled back" if fail else "committed", event_id)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    connection = psycopg2.connect(os.environ["DATABASE_URL"])
    try:
        place_order(connection, sys.argv[1], sys.argv[2], sys.argv[3:] == ["fail"])
    finally:
        connection.close()


if __name__ == "__main__":
    main()
