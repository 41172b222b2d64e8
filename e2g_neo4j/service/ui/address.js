// The addresses of the page. Each state has one, after the #, so that back, forward, reloading and sending it work.

const VIEWS = ["ask", "explore", "documents", "compare", "tasks"];
const PATH = /^#\/corpora\/([^/?]+)\/(documents|entities|communities)\/([^/?]+)(?:\?(.*))?$/;
const CONVERSATION = /^#\/conversations\/([^/?]+)(?:\?(.*))?$/;

/** Return what an address names: {view, corpus, kind, name, params}; without a view if it is none of this page. */
export function readAddress(hash) {
  const path = PATH.exec(hash);
  if (path) {
    const view = path[2] === "documents" ? "text" : "explore";
    return { view, corpus: decoded(path[1]), kind: path[2], name: decoded(path[3]), params: new URLSearchParams(path[4]) };
  }
  const kept = CONVERSATION.exec(hash);
  if (kept) return { view: "ask", conversation: decoded(kept[1]), params: new URLSearchParams(kept[2]) };
  const [name, query] = hash.slice(1).split(/\?(.*)/s);
  const params = new URLSearchParams(query);
  return { view: hash ? VIEWS.find((one) => one === name) : "ask", corpus: params.get("corpus"), params };
}

/** Return the address of a view. Of what is null or empty there is nothing in it; lists are repeated. */
export const viewAddress = (view, values = {}) => `#${view}${queryOf(values)}`;

/** Return the address of a document; `at`: a place in its text. */
export const documentAddress = (corpus, document, at = 0) => pathTo(corpus, "documents", document) + queryOf({ at });

/** Return the address of a conversation that is kept, or of one of its turns. */
export const conversationAddress = (id, turn) => `#/conversations/${encodeURIComponent(id)}${queryOf({ turn })}`;

/** Return the address of an entity in Explore; `more` says what else is open, such as `with`, the other end of a link. */
export const entityAddress = (corpus, name, more = {}) => pathTo(corpus, "entities", name) + queryOf(more);

/** Return the address of a community in Explore. */
export const communityAddress = (corpus, id) => pathTo(corpus, "communities", id);

const pathTo = (...parts) => "#/corpora/" + parts.map((one, place) => (place === 1 ? one : encodeURIComponent(one))).join("/");

function queryOf(values) {
  const pairs = Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const query = new URLSearchParams(pairs.filter(([, value]) => value != null && value !== "")).toString();
  return query && `?${query}`;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a percent sign that encodes nothing
  }
}

/** Go to an address. If the page is there already, nothing happens, and this returns false. */
export function goTo(address) {
  if (location.hash === address) return false;
  location.hash = address;
  return true;
}
