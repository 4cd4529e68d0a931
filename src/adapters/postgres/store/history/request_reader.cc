#include "adapters/postgres/store/history/request_reader.h"

#include <optional>
#include <string_view>
#include <utility>

#include "core/stored/attempt_detail.h"
#include "core/stored/shape_bytes.h"

#include "adapters/sql/sealed_shape.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view details_sql =
    "SELECT number, detail, webhook_id FROM attempt WHERE delivery_id = $1";

constexpr std::string_view shapes_sql =
    "SELECT number, sealed, shape FROM request_shape WHERE webhook_id = $1 AND number = ANY ($2)";

/// The shape of each attempt that sent a request, by attempt number.
using ShapeNumbers = std::map<std::uint32_t, std::uint32_t>;
/// Nullopt for a shape whose key was not given.
using Shapes = std::map<std::uint32_t, std::optional<RequestShape>>;

Result<ShapeNumbers> read_numbers(const Rows& details) {
  ShapeNumbers numbers;
  for (int row = 0; row < details.count(); ++row) {
    POSTRIDER_TRY(const std::uint32_t shape, stored::unpack_shape_number(details.bytes(row, 1)));
    if (shape != 0) {
      numbers.emplace(details.as<std::uint32_t>(row, 0), shape);
    }
  }
  return numbers;
}

Result<std::optional<RequestShape>> open_shape(const sql::ShapeColumns& columns,
                                               const sql::ShapeKey& key, const Vault* vault) {
  const Result<std::string> packed = sql::open_columns(columns, key, vault);
  if (!packed && packed.error().code == Errc::invalid) {
    return std::nullopt;
  }
  POSTRIDER_CHECK(packed);
  POSTRIDER_TRY(RequestShape shape, stored::unpack_shape(*packed));
  return shape;
}

Result<Shapes> read_shapes(Session& session, WebhookId webhook_id, const ShapeNumbers& wanted,
                           const Vault* vault) {
  Array numbers{ElementType::int8};
  for (const auto& [attempt, shape] : wanted) {
    numbers.add(shape);
  }
  POSTRIDER_TRY(const Rows rows,
                session.run(shapes_sql, Parameters::of(webhook_id, std::move(numbers))));
  Shapes shapes;
  for (int row = 0; row < rows.count(); ++row) {
    const sql::ShapeKey key{webhook_id, rows.as<std::uint32_t>(row, 0)};
    POSTRIDER_TRY(
        shapes[key.number],
        open_shape({.shape = rows.blob(row, 2), .sealed = rows.boolean(row, 1)}, key, vault));
  }
  return shapes;
}

}  // namespace

Result<std::map<std::uint32_t, RequestShape>> read_requests(Session& session, DeliveryId id,
                                                            const Vault* vault) {
  std::map<std::uint32_t, RequestShape> requests;
  POSTRIDER_TRY(const Rows details, session.run(details_sql, Parameters::of(id)));
  POSTRIDER_TRY(const ShapeNumbers numbers, read_numbers(details));
  if (numbers.empty()) {
    return requests;
  }
  POSTRIDER_TRY(const Shapes shapes,
                read_shapes(session, details.id<WebhookId>(0, 2), numbers, vault));
  for (const auto& [attempt, number] : numbers) {
    const auto shape = shapes.find(number);
    if (shape == shapes.end()) {
      return fail(Errc::corrupt, "The stored request of an attempt is missing.");
    }
    if (shape->second) {
      requests.emplace(attempt, *shape->second);
    }
  }
  return requests;
}

}  // namespace postrider::postgres
