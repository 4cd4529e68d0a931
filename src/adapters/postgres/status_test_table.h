// An outbox in status mode for tests.
#pragma once

#include <string>

#include "adapters/postgres/test_server.h"

namespace postrider::postgres::test {

/// Makes an outbox whose name no other test uses.
inline std::string make_status_outbox() {
  static int number = 0;
  const std::string table = "status_" + std::to_string(++number);
  const Result<std::string> ddl = outbox_status_ddl(table);
  EXPECT_TRUE(ddl.has_value());
  // It can be run again.
  for (int time = 0; time < 2; ++time) {
    const Result<void> applied = apply_outbox_ddl(server_address(), *ddl);
    EXPECT_TRUE(applied.has_value()) << applied.error().message;
  }
  return table;
}

}  // namespace postrider::postgres::test
