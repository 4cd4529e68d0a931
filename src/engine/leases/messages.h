// The inputs and commands of NodeLeases. Plain structs. Messages shared with the engine's shards
// are in engine/shard/messages.h.
#pragma once

#include <variant>
#include <vector>

#include "core/base/time.h"
#include "core/model/lease.h"
#include "engine/shard/messages.h"

namespace postrider {

// ---------------------------------------------------------------- inputs

/// The answer to RunTurn.
struct TurnAnswered {
  ClusterView view;
};

/// The answer to RunTurn after a failure. It is unknown whether the turn was taken.
struct TurnFailed {};

/// The server is to stop. The shards are handed over to other nodes.
struct LeaveRequested {};

/// AlarmRang answers SetAlarm. It is also the first input.
using LeaseInput =
    std::variant<TurnAnswered, TurnFailed, ShardHandedBack, LeaveRequested, AlarmRang>;

// ---------------------------------------------------------------- commands

/// Call Leases::take_turn. Answered by TurnAnswered or TurnFailed, exactly once.
struct RunTurn {
  LeaseTurn turn;

  bool operator==(const RunTurn&) const = default;
};

/// All shards are handed back. Call Leases::leave. Not answered; no command follows.
struct LeavePool {
  bool operator==(const LeavePool&) const = default;
};

/// To be performed in their order.
using LeaseCommand = std::variant<ShardLost, ShardAcquired, RunTurn, SetAlarm, LeavePool>;
using LeaseCommands = std::vector<LeaseCommand>;

}  // namespace postrider
