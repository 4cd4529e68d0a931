// Tests which request shapes are stored and for how long, and that with a key the store
// contains no plain text of them. For stores in a database; StoreContract tests that attempts are
// read back with their shapes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "ports/vault.h"

#include "tests/contract/store_script.h"
#include "tests/support/store_factory.h"

namespace postrider::test {

/// A store whose tables a test can look into.
class ShapeStore {
 public:
  virtual ~ShapeStore() = default;

  [[nodiscard]] virtual OpenStore& open() = 0;
  virtual void reopen_with(std::shared_ptr<const Vault> vault) = 0;
  /// The first value that a statement returns.
  [[nodiscard]] virtual std::int64_t query(const std::string& sql) = 0;
  /// True if the stored bytes of shapes contain the text.
  [[nodiscard]] virtual bool contains(std::string_view text) = 0;
  /// What is published from now on cannot refer to shapes that are retired already.
  virtual void skip_sequences() = 0;

 protected:
  ShapeStore() = default;
  ShapeStore(const ShapeStore&) = delete;
  ShapeStore& operator=(const ShapeStore&) = delete;
};

struct ShapeStoreFactory {
  std::string name;
  std::function<std::unique_ptr<ShapeStore>()> make;
};
inline void PrintTo(const ShapeStoreFactory& factory, std::ostream* out) { *out << factory.name; }

class StoredShapes : public testing::TestWithParam<ShapeStoreFactory> {
 protected:
  using Urls = std::vector<std::string>;

  [[nodiscard]] Store& store() { return shapes_->open().store(); }
  [[nodiscard]] Reader& reader() { return shapes_->open().reader(); }

  Delivery publish();
  /// Records one more attempt of the delivery, with a request of this shape.
  void attempt(Delivery& delivery, const RequestShapeRef& request);
  void finish(Delivery& delivery, const RequestShapeRef& request);
  BatchReceipt commit(const Batch& batch);
  void put_webhook();
  void remove_webhook();
  /// Removes everything that is older than an hour.
  void remove_expired();
  /// The URL of each attempt's request; "none" if there is none.
  Urls urls(const Delivery& delivery);
  std::uint32_t reseal(std::uint32_t limit = 10);

  std::int64_t count() { return query("SELECT count(*) FROM request_shape"); }
  std::int64_t query(const std::string& sql) { return shapes_->query(sql); }

  std::unique_ptr<ShapeStore> shapes_ = GetParam().make();
  StoreScript script_;
  const WebhookId webhook_ = StoreScript::webhook(1);
};

}  // namespace postrider::test
