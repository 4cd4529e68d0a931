import { lines, type Plan, quote } from "./plan.ts";

export const cpp = (plan: Plan) =>
  lines(
    `#include <cstdlib>`,
    `#include <string_view>`,
    ``,
    `#include <postrider/verify.h>`,
    ``,
    `// headers: in any order. body: the bytes as received.`,
    `bool verify(const postrider::verify::Headers& headers, std::string_view body) {`,
    `  static const postrider::verify::Verifier verifier = [] {`,
    `    const char* key = std::getenv("${plan.isPublic ? "WEBHOOK_PUBLIC_KEY" : "WEBHOOK_SECRET"}");`,
    `    postrider::verify::Options options;`,
    `    options.keys = {key == nullptr ? "" : key};  // Without a key, nothing is valid.`,
    `    options.scheme = postrider::verify::Scheme::${plan.scheme.replaceAll("-", "_")};`,
    !plan.isStandard && `    options.header_prefix = ${quote(plan.prefix)};`,
    `    return postrider::verify::Verifier(options);`,
    `  }();`,
    `  return verifier.check(headers, body) == postrider::verify::Outcome::valid;`,
    `}`,
  );
