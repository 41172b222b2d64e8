// Where in a passage the words of a question are: its best sentence, and the words marked.

import { make } from "./dom.js";

const COMMON = new Set(
  ("a about after all also am an and any are as at be been before between both but by can could did do does for from had has have he her here him his how i if in into is it " +
    "its just know many may me might more most much my no nor not now of on one only or other our out over she should so some such tell than that the their them then there these " +
    "they this those through to too under up us very was we were what when where which while who whom whose why will with would you your really").split(" "),
);
const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });
const UNFINISHED = /(?<![\p{L}.])(?:Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Capt|Col|Gen|Lt|Sgt|Rev|Hon|No|vol|pp?|cf|e\.g|i\.e|\p{Lu})\.\s*$/u;
const MOST_TERMS = 60;

/** Return what to look for: the words of a question, and the names of its entities, which count for more. */
export function termsOf(question, entities) {
  const words = (question.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []).map((word) => word.replace(/['’]s$/, ""));
  const names = new Set(entities.map((name) => name.toLowerCase()));
  const plain = [...new Set(words)].filter((word) => word.length > 1 && !COMMON.has(word) && !names.has(word));
  return [...[...names].map((text) => ({ text, weight: 2 })), ...plain.map((text) => ({ text, weight: 1 }))]
    .slice(0, MOST_TERMS)
    .map(({ text, weight }) => ({ weight, pattern: `(?<![\\p{L}\\p{N}])${stemmed(text)}(?![\\p{L}\\p{N}])` }));
}

/** A word in any of its forms, such as "counted" for "counting". A name may have other blanks between its words. */
function stemmed(text) {
  const escaped = (part) => part.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  if (/\s/.test(text)) return text.split(/\s+/).map(escaped).join("\\s+");
  const stem = text.replace(/(ies|ing|ed|es|s|e|y)$/, "");
  return stem.length < 3 ? escaped(text) : `${escaped(stem)}\\p{L}{0,3}`;
}

/** Return the sentences of a text: {start, end}, as places in the string. "Mr." does not end one. */
function sentences(text) {
  const found = [];
  let start = 0;
  for (const { segment, index } of SEGMENTER.segment(text)) {
    const last = index + segment.length;
    if (UNFINISHED.test(segment) && last < text.length) continue;
    found.push({ start, end: index + segment.trimEnd().length });
    start = last;
  }
  return found;
}

/** Return the best sentence of a text: {start, end}, as places in the string; null if it has no word of the question. */
export function bestSentence(text, terms) {
  let best = null;
  for (const { start, end } of sentences(text)) {
    const sentence = text.slice(start, end);
    const score = terms.reduce((sum, { pattern, weight }) => sum + (new RegExp(pattern, "iu").test(sentence) ? weight : 0), 0);
    if (score > (best?.score ?? 0)) best = { start, end, score };
  }
  return best;
}

/** Return the sentence at a place of a text, or the next one; null if the text ends before. */
export const sentenceAt = (text, place) => sentences(text).find(({ start, end }) => end > Math.max(place, start)) ?? null;

/** Return the part of a text that begins with its best sentence, with the words of the question marked. */
export function excerpt(text, terms, length) {
  const best = bestSentence(text, terms);
  let start = best && best.end > length / 2 ? best.start : 0;
  if (best && best.end - start > length) start += Math.max(0, firstMatch(text.slice(start, best.end), terms) - length / 4);
  if (start > (best?.start ?? 0)) start = text.indexOf(" ", start) + 1;
  const part = text.slice(start, start + length);
  return [start ? "… " : "", ...marked(part, terms), start + length < text.length ? " …" : ""];
}

const anyOf = (terms, flags) => new RegExp(terms.map(({ pattern }) => pattern).join("|"), flags);

const firstMatch = (text, terms) => Math.max(0, text.search(anyOf(terms, "iu")));

/** Return the nodes of a text in which the words of the question are marked. */
export function marked(text, terms) {
  if (!terms.length) return [text];
  const found = [];
  let last = 0;
  for (const match of text.matchAll(anyOf(terms, "giu"))) {
    if (!match[0]) continue;
    found.push(text.slice(last, match.index), make("mark", {}, match[0]));
    last = match.index + match[0].length;
  }
  return [...found, text.slice(last)];
}
