// Stores an order and the event that says so in one PostgreSQL transaction.
//
//	DATABASE_URL=postgres://... go run shop.go ORDER TOTAL [fail]
//
// Needs the outbox table (`postrider outbox init`) and
//
//	CREATE TABLE orders (id text PRIMARY KEY, total numeric NOT NULL);
//
// With `fail` the transaction is rolled back: neither the order nor the event exists then.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"os"

	_ "github.com/lib/pq"
)

func placeOrder(database *sql.DB, order, total string, fail bool) error {
	transaction, err := database.Begin()
	if err != nil {
		return err
	}
	defer transaction.Rollback() // Has no effect after Commit.

	// First the order, then its event: so the events of one order are in order.
	if _, err := transaction.Exec("INSERT INTO orders (id, total) VALUES ($1, $2)", order, total); err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"order": order, "total": json.Number(total)})
	if err != nil {
		return err
	}
	var id string
	err = transaction.QueryRow(
		"SELECT postrider_emit($1, $2, resource_id => $3, source => 'shop')",
		"order.placed", string(data), order).Scan(&id)
	if err != nil {
		return err
	}
	if fail {
		fmt.Println("rolled back", id)
		return transaction.Rollback()
	}
	if err := transaction.Commit(); err != nil {
		return err
	}
	fmt.Println("committed", id)
	return nil
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: DATABASE_URL=postgres://... shop ORDER TOTAL [fail]")
	}
	database, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer database.Close()
	fail := len(os.Args) > 3 && os.Args[3] == "fail"
	if err := placeOrder(database, os.Args[1], os.Args[2], fail); err != nil {
		log.Fatal(err)
	}
}
