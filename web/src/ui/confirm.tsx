// Asks before something is destroyed.
import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";

export interface Question {
  title: string;
  consequences: ReactNode; // What will happen, in words.
  action: string; // The button, for example "Delete webhook".
  decline?: string; // The other button: "Cancel" unless the action is a cancellation itself.
  typeToConfirm?: string; // For what cannot be undone and is large.
}

type Ask = (question: Question) => Promise<boolean>;

const ConfirmContext = createContext<Ask>(() => Promise.resolve(false));

/** Returns a function that asks and resolves with the answer. */
export const useConfirm = () => useContext(ConfirmContext);

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<{ question: Question; answer: (yes: boolean) => void }>();
  const [isOpen, setOpen] = useState(false); // The question stays until the dialog has closed.
  const [typed, setTyped] = useState("");

  const ask = useCallback<Ask>(
    (question) =>
      new Promise((resolve) => {
        setTyped("");
        setAsked({ question, answer: resolve });
        setOpen(true);
      }),
    [],
  );
  const finish = (yes: boolean) => {
    asked?.answer(yes);
    setOpen(false);
  };
  const question = asked?.question;
  const ready = !question?.typeToConfirm || typed === question.typeToConfirm;
  return (
    <ConfirmContext.Provider value={useMemo(() => ask, [ask])}>
      {children}
      <Modal
        opened={isOpen}
        onClose={() => finish(false)}
        title={question?.title}
        zIndex={300} // Above a drawer or form that asks.
      >
        <Stack>
          <Text component="div" size="sm">
            {question?.consequences}
          </Text>
          {question?.typeToConfirm && (
            <TextInput
              label={`Type ${question.typeToConfirm} to confirm`}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" data-autofocus onClick={() => finish(false)}>
              {question?.decline ?? "Cancel"}
            </Button>
            <Button color="red" disabled={!ready} onClick={() => finish(true)}>
              {question?.action}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </ConfirmContext.Provider>
  );
}
