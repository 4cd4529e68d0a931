#include "adapters/openssl/running_sha256.h"

#include <openssl/evp.h>

#include "core/base/assert.h"

namespace postrider {
namespace {

EVP_MD_CTX* as_context(void* pointer) { return static_cast<EVP_MD_CTX*>(pointer); }

}  // namespace

void RunningSha256::Free::operator()(void* context) const { EVP_MD_CTX_free(as_context(context)); }

RunningSha256::RunningSha256() : context_(EVP_MD_CTX_new()) {
  POSTRIDER_ASSERT(context_ != nullptr);
  POSTRIDER_ASSERT(EVP_DigestInit_ex(as_context(context_.get()), EVP_sha256(), nullptr) == 1);
}

void RunningSha256::add(std::string_view bytes) {
  POSTRIDER_ASSERT(EVP_DigestUpdate(as_context(context_.get()), bytes.data(), bytes.size()) == 1);
}

std::string RunningSha256::finish() {
  std::string hash(32, '\0');
  unsigned int length = 0;
  const int done = EVP_DigestFinal_ex(as_context(context_.get()),
                                      reinterpret_cast<unsigned char*>(hash.data()), &length);
  POSTRIDER_ASSERT(done == 1 && length == hash.size());
  return hash;
}

}  // namespace postrider
