// The TLS certificate and private key of a listener.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "core/base/result.h"

namespace postrider::api {

using TlsIdentity = std::shared_ptr<boost::asio::ssl::context>;

struct TlsFiles {
  std::string certificate;  // Path of a PEM file: the certificate followed by its chain.
  std::string key;          // Path of a PEM file.
};

/// Loads the files for TLS 1.2 and later.
/// Fails with: invalid (the message names the file and the error), unavailable (no TLS 1.2).
[[nodiscard]] Result<TlsIdentity> load_tls_identity(const TlsFiles& files);

}  // namespace postrider::api
