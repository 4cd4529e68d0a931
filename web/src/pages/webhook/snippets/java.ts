import { derPrefix, lines, type Plan, quote } from "./plan.ts";

const imports = (plan: Plan) =>
  [
    "java.nio.charset.StandardCharsets",
    plan.isPublic && "java.security.KeyFactory",
    "java.security.GeneralSecurityException",
    !plan.isPublic && "java.security.MessageDigest",
    plan.isPublic && "java.security.PublicKey",
    plan.isPublic && "java.security.Signature",
    plan.isPublic && "java.security.spec.X509EncodedKeySpec",
    plan.hasTimestamp && "java.time.Instant",
    plan.isStandard && "java.util.Base64",
    (plan.isPublic || !plan.isStandard) && "java.util.HexFormat",
    "java.util.Map",
    !plan.isPublic && "javax.crypto.Mac",
    !plan.isPublic && "javax.crypto.spec.SecretKeySpec",
  ]
    .filter((name): name is string => name !== false)
    .sort()
    .map((name) => `import ${name};`);

const key = (plan: Plan) =>
  plan.isPublic
    ? [
        `    byte[] raw = Base64.getDecoder().decode(`,
        `        System.getenv("WEBHOOK_PUBLIC_KEY").replace("whpk_", ""));`,
        `    byte[] der = HexFormat.of().parseHex(`,
        `        "${derPrefix}" + HexFormat.of().formatHex(raw));`,
        `    PublicKey key = KeyFactory.getInstance("Ed25519")`,
        `        .generatePublic(new X509EncodedKeySpec(der));`,
      ]
    : [
        `    String secret = System.getenv("WEBHOOK_SECRET");`,
        plan.isStandard
          ? `    byte[] key = secret.startsWith("whsec_")\n` +
            `        ? Base64.getDecoder().decode(secret.substring(6))\n` +
            `        : secret.getBytes(StandardCharsets.UTF_8);`
          : `    byte[] key = secret.getBytes(StandardCharsets.UTF_8);`,
      ];

function candidates(plan: Plan): (string | false)[] {
  const header = (name: string) => `headers.getOrDefault(${quote(name)}, "")`;
  if (plan.nextHeader) {
    return [
      `    // During a rotation, the second one is made with the new secret.`,
      `    String[] candidates = {`,
      `        ${header(plan.signatureHeader)},`,
      `        ${header(plan.nextHeader)}};`,
      plan.timestampHeader !== null && `    String timestamp = ${header(plan.timestampHeader)};`,
    ];
  }
  if (plan.isStandard) {
    return [
      `    String id = headers.getOrDefault("webhook-id", "");`,
      `    String timestamp = headers.getOrDefault("webhook-timestamp", "");`,
      `    String[] candidates = headers.getOrDefault("webhook-signature", "").split(" ");`,
    ];
  }
  return [
    `    String[] candidates = ${header(plan.signatureHeader)}.split(",");`,
    `    String timestamp = "";`,
    `    for (String part : candidates) {`,
    `      if (part.startsWith("t=") && timestamp.isEmpty()) timestamp = part.substring(2);`,
    `    }`,
  ];
}

const publicDecision = [
  `    byte[] before = (id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8);`,
  `    for (String part : candidates) {`,
  `      if (!part.startsWith("v1a,")) continue;`,
  `      try {`,
  `        Signature signature = Signature.getInstance("Ed25519");`,
  `        signature.initVerify(key);`,
  `        signature.update(before);`,
  `        signature.update(body);`,
  `        if (signature.verify(Base64.getDecoder().decode(part.substring(4)))) return true;`,
  `      } catch (java.security.SignatureException | IllegalArgumentException malformed) {`,
  `        // Not a signature. The next one may be valid.`,
  `      }`,
  `    }`,
  `    return false;`,
];

function decision(plan: Plan): (string | false)[] {
  if (plan.isPublic) return publicDecision;
  const before = plan.isStandard ? `id + "." + timestamp + "."` : `timestamp + "."`;
  const mark = plan.isStandard ? "v1," : plan.nextHeader ? "sha256=" : "v1=";
  const encoded = plan.isStandard
    ? `Base64.getEncoder().encodeToString(mac.doFinal(body))`
    : `HexFormat.of().formatHex(mac.doFinal(body))`;
  return [
    `    Mac mac = Mac.getInstance("HmacSHA256");`,
    `    mac.init(new SecretKeySpec(key, "HmacSHA256"));`,
    plan.hasTimestamp && `    mac.update((${before}).getBytes(StandardCharsets.UTF_8));`,
    `    byte[] expected = (${quote(mark)} + ${encoded})`,
    `        .getBytes(StandardCharsets.UTF_8);`,
    `    for (String part : candidates) {`,
    `      if (MessageDigest.isEqual(part.getBytes(StandardCharsets.UTF_8), expected)) return true;`,
    `    }`,
    `    return false;`,
  ];
}

export const java = (plan: Plan) =>
  lines(
    ...imports(plan),
    ``,
    `public final class WebhookVerifier {`,
    plan.hasTimestamp && `  private static final long TOLERANCE_SECONDS = 5 * 60;`,
    plan.hasTimestamp && ``,
    `  /** headers: with names in lower case. body: the bytes as received. */`,
    `  public static boolean verify(Map<String, String> headers, byte[] body)`,
    `      throws GeneralSecurityException {`,
    ...key(plan),
    ...candidates(plan),
    plan.hasTimestamp && `    if (!timestamp.matches("[0-9]{1,12}")) return false;`,
    plan.hasTimestamp &&
      `    long age = Instant.now().getEpochSecond() - Long.parseLong(timestamp);`,
    plan.hasTimestamp && `    if (Math.abs(age) > TOLERANCE_SECONDS) return false;`,
    ...decision(plan),
    `  }`,
    `}`,
  );
