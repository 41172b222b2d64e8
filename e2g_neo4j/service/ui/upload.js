// Uploads: files and folders, a text, a page of the web.

import { call, inCorpus, upload } from "./api.js";
import { byId, counted, make } from "./dom.js";
import { clear, show } from "./problems.js";
import { shownIn, sign } from "./tasks.js";

const MOST = 1000; // files of a request

let refresh;

/** Set up the card. `done` shows the documents again. */
export function setUpUpload(done) {
  refresh = done;
  const corpus = () => byId("upload-corpus").value.trim();
  const drop = byId("drop");
  let dropped = []; // files of a folder that was dropped
  byId("upload-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const inputs = [byId("files"), byId("folder")];
    sendFiles(corpus(), [...dropped, ...inputs.flatMap((one) => [...one.files])]);
    for (const one of inputs) one.value = "";
    dropped = [];
    byId("dropped").textContent = "";
  });
  for (const [name, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    drop.addEventListener(name, async (event) => {
      event.preventDefault();
      drop.classList.toggle("over", over);
      if (name !== "drop") return;
      const entries = [...event.dataTransfer.items].map((one) => one.webkitGetAsEntry() ?? one.getAsFile()).filter(Boolean);
      dropped = (await Promise.all(entries.map(filesOf))).flat();
      byId("dropped").textContent = `${counted(dropped.length, "file")} dropped.`;
    });
  }
  byId("text-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!byId("upload-corpus").reportValidity()) return;
    const [title, text] = [byId("text-name").value.trim(), byId("text-body").value];
    const body = { documents: [{ source: title, title, text }] };
    follow(corpus(), title, () => call("POST", inCorpus(corpus(), "documents"), { body }));
    event.target.reset();
  });
  byId("page-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!byId("upload-corpus").reportValidity()) return;
    const url = byId("page-url").value.trim();
    follow(corpus(), url, () => call("POST", inCorpus(corpus(), "documents", "fetch"), { body: { url } }));
    event.target.reset();
  });
}

/** Return the files below an entry of what was dropped, each with its path. */
async function filesOf(entry) {
  if (entry instanceof File) return [entry];
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [Object.assign(file, { path: entry.fullPath.slice(1) })];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return (await Promise.all(found.map(filesOf))).flat();
    found.push(...some);
  }
}

/** Send files, those of folders with their paths. What the service cannot read is left out, but what is chosen by itself. */
function sendFiles(corpus, files) {
  const readable = new Set(byId("files").accept.split(","));
  const named = files.map((file) => ({ file, name: file.path || file.webkitRelativePath || file.name }));
  const sent = named.filter(({ name }) => !name.includes("/") || readable.has(/\.[^./]*$/.exec(name.toLowerCase())?.[0]));
  const left = named.length - sent.length;
  byId("upload-left").textContent = left ? `${counted(left, "file")} of folders left out: of a type that is not read.` : sent.length ? "" : "Choose files or a folder first.";
  for (let from = 0; from < sent.length; from += MOST) {
    const some = sent.slice(from, from + MOST);
    const form = new FormData();
    for (const { file, name } of some) form.append("files", file, name);
    const names = some.length > 3 ? `${some[0].name} and ${some.length - 1} more` : some.map(({ name }) => name).join(", ");
    follow(corpus, names, (how) => upload(inCorpus(corpus, "documents"), form, how));
  }
}

/** Show how something is sent to a corpus, and then its task. */
async function follow(corpus, names, start) {
  clear();
  const controller = new AbortController();
  const bar = make("progress", { max: 1, value: 0, "aria-label": `Upload of ${names}` });
  const percent = make("span", { class: "note" }, "sending");
  const cancel = make("button", { type: "button", onclick: () => controller.abort() }, "Cancel");
  const status = make("div", { class: "task" }, bar, percent, cancel);
  byId("uploads").prepend(make("li", {}, make("p", {}, make("strong", {}, names), ` → ${corpus}`), status));
  try {
    const progress = (share) => {
      bar.value = share;
      percent.textContent = share < 1 ? `sending, ${Math.round(100 * share)} %` : "sent, being stored";
    };
    await shownIn(status, await start({ progress, signal: controller.signal }), false);
    await refresh();
  } catch (problem) {
    const stopped = problem.name === "AbortError";
    status.replaceChildren(make("span", { class: stopped ? "note" : "error" }, sign(stopped ? "–" : "✕"), stopped ? "Cancelled." : `Failed. ${problem.message}`));
    show(problem);
  }
}
