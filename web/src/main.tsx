import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "uplot/dist/uPlot.min.css";
import "~/ui/global.css";

import { setNonce } from "get-nonce";
import { createRoot } from "react-dom/client";

import { App } from "~/app/App.tsx";
import { styleNonce } from "~/lib/nonce.ts";

setNonce(styleNonce()); // For the styles that lock scrolling behind a dialog.

const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
