// How a request that brings an idempotency key is carried out once: its key is taken in the
// transaction that makes what it asks for. Either both are stored or neither (P3).
#pragma once

#include "core/base/result.h"
#include "ports/store.h"

namespace postrider {

/// First in the transaction of every change that makes something. Fails with conflict when the key
/// was used before: then nothing is made.
[[nodiscard]] inline Result<void> take_request_key(Store& store, const AuditEntry& entry) {
  if (!entry.request_key) {
    return {};
  }
  const RequestKey& key = *entry.request_key;
  return store.request_keys->take(key, key.subject.empty() ? entry.subject : key.subject, entry.at);
}

}  // namespace postrider
