import { Button, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { api, body } from "~/api/client.ts";
import { formatCount } from "~/lib/format.ts";
import { Copy } from "~/ui/Copy.tsx";
import { Notice } from "~/ui/Notice.tsx";
import { Problem } from "~/ui/Problem.tsx";

import { addPart, type ChainResult, chainStart, chainWords } from "./chain.ts";

/** The server checks a part of the chain per call. */
async function checkChain(onProgress: (checked: number) => void): Promise<ChainResult> {
  let result = chainStart;
  let after: number | null = 0;
  while (after !== null && result.holds) {
    const part: ChainResult & { next_after: number | null } = await body(
      api.GET("/v1/audit-log/verify", { params: { query: after > 0 ? { after } : {} } }),
    );
    result = addPart(result, part);
    after = part.next_after;
    onProgress(result.checked);
  }
  return result;
}

export function useChainCheck() {
  const [checked, setChecked] = useState(0);
  const check = useMutation({ mutationFn: () => checkChain(setChecked) });
  const button = (
    <Button
      variant="default"
      disabled={check.isPending}
      onClick={() => {
        setChecked(0);
        check.mutate();
      }}
    >
      {check.isPending ? `Checking: ${formatCount(checked)} entries` : "Check the chain"}
    </Button>
  );
  const result = check.data;
  const outcome = check.error ? (
    <Problem error={check.error} />
  ) : (
    result && (
      <Notice
        role="status"
        tone={result.holds ? "good" : "bad"}
        title={result.holds ? "The chain holds" : "The chain is broken"}
      >
        <Text size="sm">{chainWords(result)}</Text>
        {result.head && (
          <Text size="xs" mt={4}>
            Head: <span className="mono">{result.head}</span>{" "}
            <Copy text={result.head} what="the head" />
          </Text>
        )}
      </Notice>
    )
  );
  return { button, outcome };
}
