"""spaCy's English tokenizer, taught to part the marks of plain-text books: _italics_ and dashes without spaces."""

from __future__ import annotations

import spacy
from spacy.language import Language
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex


def blank_pipeline() -> Language:
    nlp = spacy.blank("en")
    defaults = nlp.Defaults
    prefixes = [*(defaults.prefixes or []), "_", "—", "--+"]
    suffixes = [*(defaults.suffixes or []), "_", "—", "--+"]
    infixes = [*(defaults.infixes or []), r"(?<=[a-z])\.(?=—|--)", "—", "--+", r"(?<=[a-z])_(?=[^\w]|$)", r"\[", r"\]"]
    nlp.tokenizer.prefix_search = compile_prefix_regex(prefixes).search
    nlp.tokenizer.suffix_search = compile_suffix_regex(suffixes).search
    nlp.tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    return nlp
