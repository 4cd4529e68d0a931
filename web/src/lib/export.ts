// Writes the rows that a table shows as a file. Pure except for `download`.

export type Cell = string | number | boolean | null;

/**
 * RFC 4180. A text that a spreadsheet would take for a formula gets a leading apostrophe: the text
 * comes from publishers and receivers.
 */
export function toCsv(header: string[], rows: Cell[][]): string {
  const field = (cell: Cell) => {
    if (cell === null) return "";
    const text = typeof cell === "string" && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [header, ...rows].map((row) => row.map(field).join(",") + "\r\n").join("");
}

export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
