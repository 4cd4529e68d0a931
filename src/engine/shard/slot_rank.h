// How much right an attempt has to a slot when slots are scarce (P5).
//
// What counts is how long a webhook holds its slots, not whether it accepts the events: a receiver
// that answers at once, even with an error, costs next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace postrider {

/// What the latest attempts of a webhook say about how long it holds a slot.
enum class Standing : std::uint8_t {
  unknown,  // No attempt has ended yet.
  proven,   // The latest one ended soon.
  suspect,  // The latest one took long or timed out, or takes long right now.
};

/// From the most to the least right. slot_shares.h says how many slots each may use.
enum class SlotRank : std::uint8_t {
  idle,      // A proven webhook with nothing in flight.
  proven,    // A proven webhook.
  unknown,   // The only attempt of an unknown webhook.
  doubtful,  // The same, and others on its origin hang.
  retry,     // A retry of a proven webhook, or the only attempt of an unknown one if it is a retry.
  further,   // A further attempt of an unknown webhook.
  suspect,   // Any attempt of a suspect webhook.
};
constexpr std::size_t slot_rank_count = 7;
constexpr SlotRank widest_rank = SlotRank::suspect;

}  // namespace postrider
