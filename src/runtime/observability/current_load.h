// What is being worked on at the moment, for all tenants or for one.
#pragma once

#include <cstdint>

namespace postrider {

struct CurrentLoad {
  std::int64_t waiting = 0;  // Deliveries that are neither final nor in flight.
  std::int64_t in_flight = 0;
  std::int64_t dead_letters = 0;
  std::int64_t open_circuits = 0;

  bool operator==(const CurrentLoad&) const = default;
};

}  // namespace postrider
