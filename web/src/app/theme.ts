import {
  Anchor,
  createTheme,
  Drawer,
  type MantineColorsTuple,
  type MantineThemeOverride,
  Modal,
  Notification,
} from "@mantine/core";

import { shadesOf } from "./shades.ts";

const blue: MantineColorsTuple = [
  "#eef3ff",
  "#dbe4fb",
  "#b3c6f4",
  "#89a6ee",
  "#658ae9",
  "#4e79e6",
  "#3d6ce2",
  "#2f5fd0",
  "#274fb0",
  "#1f4193",
];

// White text has a contrast of 4.5 : 1 on the shade of buttons, which is the eighth.
const red: MantineColorsTuple = [
  "#fff5f5",
  "#ffe3e3",
  "#ffc9c9",
  "#ffa8a8",
  "#ff8787",
  "#ff6b6b",
  "#fa5252",
  "#c92a2a",
  "#b02525",
  "#9c1f1f",
];

const closeName = { "aria-label": "Close" };

/** `brand`: the colour of the portal's operator, `#rrggbb`. */
export function makeTheme(brand: string | null): MantineThemeOverride {
  return createTheme({
    primaryColor: "brand",
    primaryShade: { light: 7, dark: 7 },
    colors: { brand: (brand ? shadesOf(brand) : null) ?? blue, red },
    fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
    headings: { fontWeight: "650" },
    cursorType: "pointer",
    respectReducedMotion: true,
    components: {
      Anchor: Anchor.extend({ defaultProps: { underline: "always" } }),
      Drawer: Drawer.extend({ defaultProps: { closeButtonProps: closeName } }),
      Modal: Modal.extend({ defaultProps: { closeButtonProps: closeName } }),
      Notification: Notification.extend({ defaultProps: { closeButtonProps: closeName } }),
    },
  });
}
