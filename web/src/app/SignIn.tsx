import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useEffect, useState } from "react";

import { type Session, signIn } from "~/api/session.tsx";
import { Problem } from "~/ui/Problem.tsx";

/** Exchanges an API key for a session. `error`: why the visitor is here, for example a used link. */
export function SignIn({ error, onSession }: { error: unknown; onSession: (s: Session) => void }) {
  const [key, setKey] = useState("");
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    document.title = "Sign in";
  }, []);
  useEffect(() => setFailure(null), [error]);
  const submit = async () => {
    setPending(true);
    try {
      const session = await signIn({ key: key.trim() });
      if (session) onSession(session);
    } catch (problem) {
      setFailure(problem);
      setKey("");
    } finally {
      setPending(false);
    }
  };
  const problem = failure ?? error;
  return (
    <Center mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={440} component="main">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <Stack>
            <Title order={1} size="h2">
              Sign in
            </Title>
            {problem !== null && problem !== undefined && <Problem error={problem} />}
            <Text size="sm" c="dimmed">
              If you came by a link, ask for a new one where you got it: links work once. It can be
              opened in another tab, and this page goes on where you were.
            </Text>
            <PasswordInput
              label="API key"
              description="Operators can sign in with a key."
              autoComplete="off"
              required
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
            />
            <Button type="submit" loading={pending} disabled={key.trim() === ""}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
