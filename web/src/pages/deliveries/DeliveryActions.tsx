import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";

import type { DeliveryDetail } from "~/api/types.ts";
import { useConfirm } from "~/ui/confirm.tsx";

import { isFinal } from "./deliveryWords.ts";
import { type Priority, useDeliveryActions } from "./useDeliveryActions.ts";

const priorities: Priority[] = ["high", "normal", "low"];

/** Retry, with a priority if wanted, and cancel. Only for admins. */
export function DeliveryActions({ delivery }: { delivery: DeliveryDetail }) {
  const actions = useDeliveryActions();
  const confirm = useConfirm();
  const { id, status } = delivery;
  const hasSucceeded = status === "succeeded";
  const mayRetry = (isFinal(status) || status === "retrying") && delivery.webhook_url !== null;
  const words = hasSucceeded ? "Send again" : "Retry";

  const retry = async (priority?: Priority) => {
    if (hasSucceeded) {
      const yes = await confirm({
        title: "Send this delivery again?",
        consequences: "The receiver has accepted it before and will get it once more.",
        action: "Send again",
      });
      if (!yes) return;
    }
    actions.retry(id, priority);
  };
  return (
    <>
      {mayRetry && (
        <Button.Group>
          <Button
            variant={hasSucceeded ? "default" : "filled"}
            loading={actions.retrying === id}
            onClick={() => void retry()}
          >
            {words}
          </Button>
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon
                size={36}
                variant={hasSucceeded ? "default" : "filled"}
                className="split-button"
                aria-label={`${words} with a priority`}
              >
                <IconChevronDown size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {priorities.map((priority) => (
                <Menu.Item key={priority} onClick={() => void retry(priority)}>
                  {words} with {priority} priority
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        </Button.Group>
      )}
      {!isFinal(status) && (
        <Button
          variant="default"
          loading={actions.cancelling}
          onClick={() => void actions.cancel(id)}
        >
          Cancel delivery
        </Button>
      )}
    </>
  );
}
