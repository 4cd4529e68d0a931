// Merges the `headers` and `metadata` of a request body into those of a webhook. Members in the
// body are added or replaced, null removes a member, and all other members stay.
#pragma once

#include <string>

#include "core/model/attempt.h"

#include "api/json/field_reader.h"

namespace postrider::api {

/// Merges the field `headers`, if present. Does not check whether the headers may be sent.
void merge_headers(ObjectReader& reader, const Headers& defaults, Headers& headers);

/// Merges the field `metadata`, if present. Values keep their JSON text.
void merge_metadata(ObjectReader& reader, const std::string& defaults, std::string& metadata);

}  // namespace postrider::api
