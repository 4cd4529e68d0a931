// Shard leases in the PostgreSQL database of a store that several nodes share.
#pragma once

#include <memory>

#include "core/model/lease.h"
#include "ports/leases.h"

#include "adapters/postgres/connection.h"

namespace postrider {

/// The tables must exist when a turn is taken: open a store on the database first. Uses its own
/// connection, opened by the first call and reopened after a loss. `interruption`, if not null,
/// ends waiting for the database within seconds.
[[nodiscard]] std::unique_ptr<Leases> make_postgres_leases(
    postgres::ConnectOptions connect, NodeIdentity identity,
    std::shared_ptr<const postgres::Interruption> interruption = nullptr);

}  // namespace postrider
