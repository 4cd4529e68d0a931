// The schema migrations: numbered SQL files, embedded in the binary, applied forward only.
#pragma once

#include <span>

#include "core/base/embedded_file.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "ports/schema_versions.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

/// The files in migrations/, oldest first. A name starts with the version it leads to.
[[nodiscard]] std::span<const EmbeddedFile> embedded_migrations();

/// Creates the tables in an empty schema or migrates them to the newest version, each step in its
/// own transaction, one node at a time. Returns the identity of the store, which is random. Fails
/// with invalid if the schema holds something else, was written by a newer version, or may not be
/// changed by this user.
[[nodiscard]] Result<Uuid> migrate(Session& session);

/// Reads the versions without changing anything. Fails like `migrate`.
[[nodiscard]] Result<SchemaVersions> read_versions(Session& session);

/// Returns the identity without migrating. Fails with invalid if the schema is not the newest.
[[nodiscard]] Result<Uuid> check_schema(Session& session);

}  // namespace postrider::postgres
