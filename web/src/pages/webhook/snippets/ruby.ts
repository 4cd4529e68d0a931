import { derPrefix, lines, type Plan, singleQuote } from "./plan.ts";

const key = (plan: Plan) =>
  plan.isPublic
    ? [
        `KEY_BYTES = ENV.fetch("WEBHOOK_PUBLIC_KEY").delete_prefix("whpk_").unpack1("m0")`,
        `PUBLIC_KEY = OpenSSL::PKey.read(["${derPrefix}"].pack("H*") + KEY_BYTES)`,
      ]
    : [
        `SECRET = ENV.fetch("WEBHOOK_SECRET")`,
        `raise "Set WEBHOOK_SECRET." if SECRET.empty?`,
        plan.isStandard &&
          `KEY = SECRET.start_with?("whsec_") ? SECRET[6..].unpack1("m0") : SECRET`,
      ];

function candidates(plan: Plan): (string | false)[] {
  const header = (name: string) => `headers.fetch(${singleQuote(name)}, "")`;
  if (plan.nextHeader) {
    return [
      `  # During a rotation, the second one is made with the new secret.`,
      `  candidates = [${header(plan.signatureHeader)},`,
      `                ${header(plan.nextHeader)}]`,
      plan.timestampHeader !== null && `  timestamp = ${header(plan.timestampHeader)}`,
    ];
  }
  if (plan.isStandard) {
    return [
      `  id = headers.fetch("webhook-id", "")`,
      `  timestamp = headers.fetch("webhook-timestamp", "")`,
      `  candidates = headers.fetch("webhook-signature", "").split(" ")`,
    ];
  }
  return [
    `  candidates = ${header(plan.signatureHeader)}.split(",")`,
    `  timestamp = candidates.find { |part| part.start_with?("t=") }.to_s.delete_prefix("t=")`,
  ];
}

function decision(plan: Plan): string[] {
  if (plan.isPublic) {
    return [
      `  text = "#{id}.#{timestamp}.".b + body.b`,
      `  candidates.any? do |part|`,
      `    next unless part.start_with?("v1a,")`,
      `    PUBLIC_KEY.verify(nil, part.delete_prefix("v1a,").unpack1("m"), text)`,
      `  end`,
    ];
  }
  const text = plan.isStandard
    ? `"#{id}.#{timestamp}.".b + body.b`
    : plan.hasTimestamp
      ? `"#{timestamp}.".b + body.b`
      : `body`;
  const expected = plan.isStandard
    ? `"v1," + [OpenSSL::HMAC.digest("SHA256", KEY, ${text})].pack("m0")`
    : `"${plan.nextHeader ? "sha256=" : "v1="}" + OpenSSL::HMAC.hexdigest("SHA256", SECRET, ${text})`;
  return [
    `  expected = ${expected}`,
    `  candidates.any? { |part| OpenSSL.secure_compare(part, expected) }`,
  ];
}

export const ruby = (plan: Plan) =>
  lines(
    `require "openssl"`,
    ``,
    ...key(plan),
    plan.hasTimestamp && `TOLERANCE_SECONDS = 5 * 60`,
    ``,
    `# headers: a hash with names in lower case. body: the bytes as received.`,
    `def verify(headers, body)`,
    ...candidates(plan),
    plan.hasTimestamp && `  return false unless timestamp.match?(/\\A[0-9]{1,12}\\z/)`,
    plan.hasTimestamp &&
      `  return false if (Time.now.to_i - timestamp.to_i).abs > TOLERANCE_SECONDS`,
    plan.hasTimestamp && ``,
    ...decision(plan),
    `end`,
  );
