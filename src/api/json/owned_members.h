// The objects of a webhook whose members its owner names: headers and metadata. A body changes the
// members that it has and leaves the others alone; null takes one away.
#pragma once

#include <string>

#include "core/model/attempt.h"

#include "api/json/field_reader.h"

namespace postrider::api {

/// The member `headers`, when it is there. Whether they may be sent is not judged here.
void merge_headers(ObjectReader& reader, const Headers& defaults, Headers& headers);

/// The member `metadata`, when it is there. Values are kept as they were spelled.
void merge_metadata(ObjectReader& reader, const std::string& defaults, std::string& metadata);

}  // namespace postrider::api
