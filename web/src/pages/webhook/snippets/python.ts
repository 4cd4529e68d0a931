import { lines, type Plan, quote } from "./plan.ts";

const imports = (plan: Plan) =>
  plan.isPublic
    ? [
        `import base64`,
        `import os`,
        `import re`,
        `import time`,
        ``,
        `from cryptography.exceptions import InvalidSignature`,
        `from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey`,
      ]
    : [
        plan.isStandard && `import base64`,
        `import hashlib`,
        `import hmac`,
        `import os`,
        plan.hasTimestamp && `import re`,
        plan.hasTimestamp && `import time`,
      ];

const key = (plan: Plan) =>
  plan.isPublic
    ? [
        `PUBLIC_KEY = Ed25519PublicKey.from_public_bytes(`,
        `    base64.b64decode(os.environ["WEBHOOK_PUBLIC_KEY"].replace("whpk_", "")))`,
      ]
    : [
        `SECRET = os.environ["WEBHOOK_SECRET"]`,
        `if not SECRET:`,
        `    raise SystemExit("Set WEBHOOK_SECRET.")`,
        plan.isStandard &&
          `KEY = base64.b64decode(SECRET[6:]) if SECRET.startswith("whsec_") else SECRET.encode()`,
      ];

function candidates(plan: Plan): (string | false)[] {
  const header = (name: string) => `headers.get(${quote(name)}, "")`;
  if (plan.nextHeader) {
    return [
      `    # During a rotation, the second one is made with the new secret.`,
      `    candidates = [${header(plan.signatureHeader)},`,
      `                  ${header(plan.nextHeader)}]`,
      plan.timestampHeader !== null && `    timestamp = ${header(plan.timestampHeader)}`,
    ];
  }
  if (plan.isStandard) {
    return [
      `    message_id = headers.get("webhook-id", "")`,
      `    timestamp = headers.get("webhook-timestamp", "")`,
      `    candidates = headers.get("webhook-signature", "").split(" ")`,
    ];
  }
  return [
    `    candidates = ${header(plan.signatureHeader)}.split(",")`,
    `    timestamp = next((part[2:] for part in candidates if part.startswith("t=")), "")`,
  ];
}

function decision(plan: Plan): string[] {
  if (plan.isPublic) {
    return [
      `    text = f"{message_id}.{timestamp}.".encode() + body`,
      `    return any(is_signed(part[4:], text) for part in candidates if part.startswith("v1a,"))`,
      ``,
      ``,
      `def is_signed(signature, text):`,
      `    try:`,
      `        PUBLIC_KEY.verify(base64.b64decode(signature), text)`,
      `        return True`,
      `    except (InvalidSignature, ValueError):`,
      `        return False`,
    ];
  }
  const text = plan.isStandard
    ? `f"{message_id}.{timestamp}.".encode() + body`
    : plan.hasTimestamp
      ? `f"{timestamp}.".encode() + body`
      : `body`;
  const expected = plan.isStandard
    ? `b"v1," + base64.b64encode(mac.digest())`
    : `b${quote(plan.nextHeader ? "sha256=" : "v1=")} + mac.hexdigest().encode()`;
  return [
    `    mac = hmac.new(${plan.isStandard ? "KEY" : "SECRET.encode()"}, ${text}, hashlib.sha256)`,
    `    expected = ${expected}`,
    `    return any(hmac.compare_digest(part.encode(), expected) for part in candidates)`,
  ];
}

export const python = (plan: Plan) =>
  lines(
    ...imports(plan),
    ``,
    ...key(plan),
    plan.hasTimestamp && `TOLERANCE_SECONDS = 5 * 60`,
    ``,
    ``,
    `def verify(headers, body):`,
    `    """headers: a mapping with names in lower case. body: the bytes as received."""`,
    ...candidates(plan),
    plan.hasTimestamp && `    if not re.fullmatch("[0-9]{1,12}", timestamp):`,
    plan.hasTimestamp && `        return False`,
    plan.hasTimestamp && `    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:`,
    plan.hasTimestamp && `        return False`,
    ...decision(plan),
  );
