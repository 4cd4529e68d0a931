import { lines, type Plan, quote } from "./plan.ts";

const imports = (plan: Plan) =>
  [
    plan.isPublic ? "crypto/ed25519" : "crypto/hmac",
    !plan.isPublic && "crypto/sha256",
    plan.isStandard ? "encoding/base64" : "encoding/hex",
    plan.hasTimestamp && "math",
    "net/http",
    "os",
    plan.hasTimestamp && "strconv",
    (plan.isStandard || !plan.nextHeader) && "strings",
    plan.hasTimestamp && "time",
  ]
    .filter((name): name is string => name !== false)
    .map((name) => `\t${quote(name)}`);

function candidates(plan: Plan): (string | false)[] {
  const header = (name: string) => `header.Get(${quote(name)})`;
  if (plan.nextHeader) {
    return [
      `\t// During a rotation, the second one is made with the new secret.`,
      `\tcandidates := []string{${header(plan.signatureHeader)}, ${header(plan.nextHeader)}}`,
      plan.timestampHeader !== null && `\ttimestamp := ${header(plan.timestampHeader)}`,
    ];
  }
  if (plan.isStandard) {
    return [
      `\tid, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")`,
      `\tcandidates := strings.Split(header.Get("webhook-signature"), " ")`,
    ];
  }
  return [
    `\tcandidates := strings.Split(${header(plan.signatureHeader)}, ",")`,
    `\ttimestamp := ""`,
    `\tfor _, part := range candidates {`,
    `\t\tif strings.HasPrefix(part, "t=") {`,
    `\t\t\ttimestamp = part[2:]`,
    `\t\t\tbreak`,
    `\t\t}`,
    `\t}`,
  ];
}

const timeCheck = (plan: Plan) =>
  plan.hasTimestamp
    ? [
        `\tseconds, err := strconv.ParseInt(timestamp, 10, 64)`,
        `\tif err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > toleranceSeconds {`,
        `\t\treturn false`,
        `\t}`,
      ]
    : [];

const publicDecision = [
  `\ttext := append([]byte(id+"."+timestamp+"."), body...)`,
  `\tfor _, part := range candidates {`,
  `\t\tsignature, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(part, "v1a,"))`,
  `\t\tif err == nil && ed25519.Verify(publicKey, text, signature) {`,
  `\t\t\treturn true`,
  `\t\t}`,
  `\t}`,
  `\treturn false`,
];

function decision(plan: Plan): (string | false)[] {
  if (plan.isPublic) return publicDecision;
  const before = plan.isStandard ? `id + "." + timestamp + "."` : `timestamp + "."`;
  const mark = plan.isStandard ? "v1," : plan.nextHeader ? "sha256=" : "v1=";
  const encoded = plan.isStandard
    ? `base64.StdEncoding.EncodeToString(mac.Sum(nil))`
    : `hex.EncodeToString(mac.Sum(nil))`;
  return [
    `\tmac := hmac.New(sha256.New, key)`,
    plan.hasTimestamp && `\tmac.Write([]byte(${before}))`,
    `\tmac.Write(body)`,
    `\texpected := ${quote(mark)} + ${encoded}`,
    `\tfor _, part := range candidates {`,
    `\t\tif hmac.Equal([]byte(part), []byte(expected)) {`,
    `\t\t\treturn true`,
    `\t\t}`,
    `\t}`,
    `\treturn false`,
  ];
}

const readKey = (plan: Plan) =>
  plan.isPublic
    ? [
        `var publicKey = readKey()`,
        ``,
        `func readKey() ed25519.PublicKey {`,
        `\ttext := strings.TrimPrefix(os.Getenv("WEBHOOK_PUBLIC_KEY"), "whpk_")`,
        `\tkey, err := base64.StdEncoding.DecodeString(text)`,
        `\tif err != nil || len(key) != ed25519.PublicKeySize {`,
        `\t\tpanic("Set WEBHOOK_PUBLIC_KEY.")`,
        `\t}`,
        `\treturn key`,
        `}`,
      ]
    : [
        `var key = readKey()`,
        ``,
        `func readKey() []byte {`,
        `\tsecret := os.Getenv("WEBHOOK_SECRET")`,
        plan.isStandard && `\tif strings.HasPrefix(secret, "whsec_") {`,
        plan.isStandard && `\t\tdecoded, _ := base64.StdEncoding.DecodeString(secret[6:])`,
        plan.isStandard && `\t\tsecret = string(decoded)`,
        plan.isStandard && `\t}`,
        `\tif secret == "" {`,
        `\t\tpanic("Set WEBHOOK_SECRET.")`,
        `\t}`,
        `\treturn []byte(secret)`,
        `}`,
      ];

export const go = (plan: Plan) =>
  lines(
    `package main`,
    ``,
    `import (`,
    ...imports(plan),
    `)`,
    ``,
    plan.hasTimestamp && `const toleranceSeconds = 5 * 60`,
    plan.hasTimestamp && ``,
    ...readKey(plan),
    ``,
    `// verify reports whether the request is genuine and recent. body: the bytes as received.`,
    `func verify(header http.Header, body []byte) bool {`,
    ...candidates(plan),
    ...timeCheck(plan),
    ...decision(plan),
    `}`,
  );
