#include "adapters/openssl/signer.h"

#include "core/request/secret_text.h"

#include "adapters/openssl/ed25519_key.h"
#include "adapters/openssl/hmac_key.h"

namespace postrider {

Sign make_sign(SignatureScheme scheme, const Secret<std::string>& secret) {
  if (scheme == SignatureScheme::standard_ed25519) {
    return [key = Ed25519Key{secret}](std::string_view prefix, std::string_view body) {
      return key.sign(prefix, body);
    };
  }
  return [key = HmacKey{signing_key(scheme, secret)}](
             std::string_view prefix, std::string_view body) { return key.sign(prefix, body); };
}

}  // namespace postrider
