// A webhook's policies as JSON: retry, circuit breaker, rate limit, signature.
//
// Reading merges: what the object does not mention stays as it is, null resets a field to that of
// `defaults`, `preset` starts over from a named policy. Mistakes go to the reader's errors.
#pragma once

#include <optional>

#include "core/policy/breaker.h"
#include "core/policy/retry.h"
#include "core/policy/token_bucket.h"
#include "core/request/signature.h"

#include "api/json/field_reader.h"
#include "api/json/json_writer.h"

namespace postrider::api {

constexpr IntegerRange timeout_ms_range{10, 300'000};

void read_retry(ObjectReader& reader, const RetryPolicy& defaults, RetryPolicy& policy);
void write_retry(JsonWriter& writer, const RetryPolicy& policy);

void read_breaker(ObjectReader& reader, const BreakerPolicy& defaults, BreakerPolicy& policy);
void write_breaker(JsonWriter& writer, const BreakerPolicy& policy);

/// Sets `limit` when all is well. A rate without a burst may burst for a second's worth.
void read_rate_limit(ObjectReader& reader, std::optional<RateLimit>& limit);
void write_rate_limit(JsonWriter& writer, const std::optional<RateLimit>& limit);

void read_signature(ObjectReader& reader, const SignaturePolicy& defaults, SignaturePolicy& policy);
void write_signature(JsonWriter& writer, const SignaturePolicy& policy);

}  // namespace postrider::api
