// What a table shows, as a file: CSV for spreadsheets, JSON for programs. It is made here, and sent nowhere.

import { byId, make } from "./dom.js";
import { show } from "./problems.js";

const FORMULA = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/; // what a spreadsheet may calculate; the last four are wide forms

/** Offer rows in an element of the page. `rows` returns objects, or a promise of them; without it nothing is offered. */
export function offerRows(id, name, rows) {
  const button = (kind, made) => {
    const onclick = async () => {
      try {
        save(`${name.replace(/[^\p{L}\p{N} .-]/gu, "_")}.${kind.toLowerCase()}`, made(await rows()));
      } catch (problem) {
        show(problem);
      }
    };
    return make("button", { type: "button", "aria-label": `${name} as ${kind}`, onclick }, kind);
  };
  const json = (found) => new Blob([JSON.stringify(found, null, 2)], { type: "application/json" });
  const csv = (found) => new Blob(["\ufeff", csvOf(found)], { type: "text/csv" }); // the mark says that it is UTF-8
  byId(id).replaceChildren(...(rows ? [button("CSV", csv), button("JSON", json)] : []));
}

/** Return rows as CSV. Each cell is text or a number in a spreadsheet, and never a formula. */
export function csvOf(rows) {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  return [columns, ...rows.map((row) => columns.map((one) => row[one]))].map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

function cell(value) {
  const plain = Array.isArray(value) && value.every((one) => typeof one !== "object") ? value.join("; ") : value;
  const text = plain == null ? "" : typeof plain === "object" ? JSON.stringify(plain) : String(plain);
  const safe = typeof plain === "string" && FORMULA.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

function save(file, blob) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
