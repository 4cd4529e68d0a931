// The RequestKeyWriter role on the writer's connection and the RequestKeyReader role on a reader's:
// idempotency keys of requests.
#pragma once

#include <memory>

#include "ports/request_keys.h"

#include "adapters/sql/database.h"
#include "adapters/sql/writer.h"

namespace postrider::sql {

[[nodiscard]] std::unique_ptr<RequestKeyWriter> make_request_key_writer(
    std::shared_ptr<Writer> writer);
[[nodiscard]] std::unique_ptr<RequestKeyReader> make_request_key_reader(
    std::shared_ptr<Database> database);

}  // namespace postrider::sql
