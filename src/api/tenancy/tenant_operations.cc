#include "api/tenancy/tenant_operations.h"

#include <utility>

namespace postrider::api {
namespace {

class TenantOperations final : public OperationReader {
 public:
  TenantOperations(OperationReader& all, TenantId tenant_id)
      : all_(all), tenant_id_(std::move(tenant_id)) {}

  Result<std::vector<Operation>> list(const OperationFilter& filter,
                                      const OperationPage& page) override {
    if (filter.tenant_id.value_or(tenant_id_) != tenant_id_) {
      return std::vector<Operation>{};
    }
    OperationFilter mine = filter;
    mine.tenant_id = tenant_id_;
    return all_.list(mine, page);
  }

  Result<Operation> find(OperationId id) override {
    POSTRIDER_TRY(Operation operation, all_.find(id));
    if (operation.tenant_id != tenant_id_) {
      return fail(Errc::not_found, "There is no such operation.");
    }
    return operation;
  }

 private:
  OperationReader& all_;
  TenantId tenant_id_;
};

}  // namespace

std::unique_ptr<OperationReader> make_tenant_operations(OperationReader& all, TenantId tenant_id) {
  return std::make_unique<TenantOperations>(all, std::move(tenant_id));
}

}  // namespace postrider::api
