// The policies of a webhook as JSON: retry, circuit breaker, rate limit, signature.
//
// Reading merges: absent fields keep their value, null resets a field to its value in `defaults`,
// and `preset` replaces the whole policy before the other fields apply. Errors go to the reader.
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
constexpr IntegerRange in_flight_range{1, 1'000};

void read_retry(ObjectReader& reader, const RetryPolicy& defaults, RetryPolicy& policy);
void write_retry(JsonWriter& writer, const RetryPolicy& policy);

/// `force_open_until` must be after `now`, unless it is unchanged.
void read_breaker(ObjectReader& reader, const BreakerPolicy& defaults, WallTime now,
                  BreakerPolicy& policy);
void write_breaker(JsonWriter& writer, const BreakerPolicy& policy);

/// Sets `limit` if the rate is valid. The default burst is the number of requests per second.
void read_rate_limit(ObjectReader& reader, std::optional<RateLimit>& limit);
void write_rate_limit(JsonWriter& writer, const std::optional<RateLimit>& limit);

void read_signature(ObjectReader& reader, const SignaturePolicy& defaults, SignaturePolicy& policy);
void write_signature(JsonWriter& writer, const SignaturePolicy& policy);

}  // namespace postrider::api
