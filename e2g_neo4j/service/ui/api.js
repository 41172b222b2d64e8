// Requests to the service. The API key is kept here, in memory, and nowhere else.

const BASE = new URL("../v1", document.baseURI).href;

let key = "";

export const setKey = (text) => {
  key = text.trim();
};

export const hasKey = () => key !== "";

/** An error as the service describes it (application/problem+json). */
export class Problem extends Error {
  constructor({ status = 0, code = "", title = "Error.", detail = "", next = "", request_id = "" }) {
    super(detail || title);
    Object.assign(this, { status, code, title, detail, next, requestId: request_id });
  }
}

const UNREACHABLE = new Problem({
  code: "unreachable",
  title: "The service cannot be reached.",
  next: "Check that it is running, then try again.",
});

/** Return the path of a corpus and what belongs to it. */
export const inCorpus = (corpus, ...parts) => ["/corpora", ...[corpus, ...parts].map(encodeURIComponent)].join("/");

/** Send a request and return the reply, parsed. */
export async function call(method, path, { body, query, signal } = {}) {
  const reply = await send(method, path, { body, query, signal });
  return reply.json();
}

/** Download the reply to a request as a file. */
export async function download(path, query, name) {
  const reply = await send("GET", path, { query });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await reply.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Send a request and yield the events of the reply: {name, data}. */
export async function* events(path, { body, signal }) {
  const reply = await send("POST", path, { body, signal });
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read().catch(broken);
    if (done) return;
    text += value.replaceAll("\r", "");
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const event = parsed(block);
      if (event?.name === "error") throw new Problem(event.data);
      if (event) yield event;
    }
  }
}

/** Upload a form, and return the task. `progress` is called with the share of it that has been sent. */
export function upload(path, form, { progress, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); // fetch does not report the progress of uploads
    request.open("POST", BASE + path);
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onload = () => {
      const reply = safely(request.responseText);
      if (request.status < 300) resolve(reply);
      else reject(new Problem({ status: request.status, ...reply }));
    };
    request.onerror = () => reject(UNREACHABLE);
    request.onabort = () => reject(new DOMException("Aborted.", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

async function send(method, path, { body, query, signal }) {
  const address = new URL(BASE + path);
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of [value].flat()) if (one != null && one !== "") address.searchParams.append(name, one);
  }
  const sent = { method, headers: headers(), signal, cache: "no-store", credentials: "omit" };
  if (body !== undefined) {
    sent.headers["Content-Type"] = "application/json";
    sent.body = JSON.stringify(body);
  }
  const reply = await fetch(address, sent).catch(broken);
  if (!reply.ok) throw new Problem({ status: reply.status, ...safely(await reply.text()) });
  return reply;
}

const headers = () => (key ? { Authorization: `Bearer ${key}` } : {});

function broken(error) {
  throw error.name === "AbortError" ? error : UNREACHABLE;
}

function safely(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function parsed(block) {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}
