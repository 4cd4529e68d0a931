// Reads and writes the branding of links and sessions.
#pragma once

#include "core/model/access.h"

#include "api/json/field_reader.h"
#include "api/json/json_writer.h"

namespace postrider::api {

/// Reads the member `branding`. Reports invalid fields to the reader.
[[nodiscard]] Branding read_branding(ObjectReader& reader);

/// Writes the object with all members. What `branding` leaves open is taken from `defaults`.
void write_branding(JsonWriter& writer, const Branding& branding, const Branding& defaults);

}  // namespace postrider::api
