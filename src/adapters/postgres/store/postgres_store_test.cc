#include <gtest/gtest.h>

#include "tests/contract/store_contract.h"
#include "tests/support/open_postgres.h"

namespace postrider::test {
namespace {

POSTRIDER_STORE_CONTRACT(Postgres,
                         StoreFactory{"server", [] { return std::make_unique<OpenPostgres>(); }});

}  // namespace
}  // namespace postrider::test
