#include "adapters/sql/sealed_shape.h"

#include <utility>

#include <fmt/format.h>

namespace postrider::sql {
namespace {

std::string vault_context(const ShapeKey& key) {
  return fmt::format("webhook/{}/request/{}", key.webhook_id.to_string(), key.number);
}

}  // namespace

ShapeColumns to_columns(std::string packed, const ShapeKey& key, const Vault* vault) {
  if (vault == nullptr) {
    return {.shape = std::move(packed), .sealed = false};
  }
  return {.shape = vault->seal(packed, vault_context(key)), .sealed = true};
}

Result<std::string> open_columns(const ShapeColumns& columns, const ShapeKey& key,
                                 const Vault* vault) {
  if (!columns.sealed) {
    return columns.shape;
  }
  if (vault == nullptr) {
    return fail(Errc::invalid, "The stored requests are encrypted, but no key is configured.");
  }
  return vault->open(columns.shape, vault_context(key));
}

}  // namespace postrider::sql
