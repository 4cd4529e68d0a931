// The spans of an event: what is exported of a publish and of an attempt. Pure.
//
//     the publisher's span, if there is one
//       publish        from its arrival until it is on disk
//         commit       the transaction
//         attempt      one for each
//           dns, connect, tls, first_byte     those that happened
//         dead_letter  given up without another attempt
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "core/trace/span.h"
#include "engine/batch.h"
#include "engine/intake/publish.h"
#include "engine/shard/messages.h"

namespace postrider {

/// When a transaction was made.
struct CommitTime {
  WallTime begun;
  Micros duration{0};
};

[[nodiscard]] inline bool is_traced(const Publish& publish) {
  return publish.event.trace && is_sampled(*publish.event.trace);
}

/// The spans of a sampled publish.
[[nodiscard]] std::vector<Span> publish_spans(const Publish& publish, const PublishReceipt& receipt,
                                              const CommitTime& commit);

/// Failed attempts and dead letters are exported whether or not their trace is sampled.
[[nodiscard]] inline bool is_traced(const Settlement& settlement) {
  const bool sampled = settlement.delivery.trace && settlement.delivery.trace->sampled;
  return settlement.dead ||
         (settlement.attempt && (sampled || settlement.attempt->failure_category));
}

/// Where an attempt went. The path of a URL may contain a secret (P11).
struct TracedReceiver {
  std::string_view tenant_id = {};
  std::string_view host = {};  // Empty: unknown.
  std::uint16_t port = 0;
};

/// The spans of a settlement that is traced.
[[nodiscard]] std::vector<Span> settlement_spans(const Settlement& settlement,
                                                 const TracedReceiver& receiver);

}  // namespace postrider
