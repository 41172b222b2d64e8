// Where the words of a question are in a text, and its sentences.

import { make } from "./dom.js";

const COMMON = new Set(
  ("a about after all also am an and any are as at be been before between both but by can could did do does for from had has have he her here him his how i if in into is it " +
    "its just know many may me might more most much my no nor not now of on one only or other our out over she should so some such tell than that the their them then there these " +
    "they this those through to too under up us very was we were what when where which while who whom whose why will with would you your really").split(" "),
);
const SEGMENTER = new Intl.Segmenter("en", { granularity: "sentence" });
const UNFINISHED = /(?<![\p{L}.])(?:Mr|Mrs|Ms|Dr|St|Sr|Jr|Prof|Capt|Col|Gen|Lt|Sgt|Rev|Hon|No|vol|pp?|cf|e\.g|i\.e|\p{Lu})\.\s*$/u;
const MOST_TERMS = 60;

/** Return what to look for: the words of a question, and the names of its entities. */
export function termsOf(question, entities) {
  const words = (question.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []).map((word) => word.replace(/['’]s$/, ""));
  const names = new Set(entities.map((name) => name.toLowerCase()));
  const plain = [...new Set(words)].filter((word) => word.length > 1 && !COMMON.has(word) && !names.has(word));
  return [...names, ...plain]
    .slice(0, MOST_TERMS)
    .map((text) => `(?<![\\p{L}\\p{N}])${stemmed(text)}(?![\\p{L}\\p{N}])`);
}

/** A word in any of its forms, such as "counted" for "counting". A name may have other blanks between its words. */
function stemmed(text) {
  const escaped = (part) => part.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  if (/\s/.test(text)) return text.split(/\s+/).map(escaped).join("\\s+");
  const stem = text.replace(/(ies|ing|ed|es|s|e|y)$/, "");
  return stem.length < 3 ? escaped(text) : `${escaped(stem)}\\p{L}{0,3}`;
}

/** Return the sentences of a text: {start, end}, as places in the string. Neither "Mr." nor a line ends one. */
function sentences(text) {
  const found = [];
  let start = 0;
  for (const { segment, index } of SEGMENTER.segment(text.replace(/[\r\n]/g, " "))) {
    const last = index + segment.length;
    if (UNFINISHED.test(segment) && last < text.length) continue;
    found.push({ start, end: index + segment.trimEnd().length });
    start = last;
  }
  return found;
}

/** Return the sentence at a place of a text, or the next one; null if the text ends before. */
export const sentenceAt = (text, place) => sentences(text).find(({ start, end }) => end > Math.max(place, start)) ?? null;

/** Return the nodes of a text in which the words of the question are marked. */
export function marked(text, terms) {
  if (!terms.length) return [text];
  const found = [];
  let last = 0;
  for (const match of text.matchAll(new RegExp(terms.join("|"), "giu"))) {
    if (!match[0]) continue;
    found.push(text.slice(last, match.index), make("mark", {}, match[0]));
    last = match.index + match[0].length;
  }
  return [...found, text.slice(last)];
}
