// The certificate and key a listener shows its clients.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "core/base/result.h"

namespace postrider::api {

using TlsIdentity = std::shared_ptr<boost::asio::ssl::context>;

struct TlsFiles {
  std::string certificate;  // PEM, with the chain behind it.
  std::string key;          // PEM.
};

/// TLS 1.2 and later. Errc::invalid with a sentence that names the file and what is wrong with it.
[[nodiscard]] Result<TlsIdentity> load_tls_identity(const TlsFiles& files);

}  // namespace postrider::api
