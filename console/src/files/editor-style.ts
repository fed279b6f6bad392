/** Colours of the editor in both themes, and the languages that it knows. */
import { HighlightStyle, StreamLanguage, type StreamParser } from '@codemirror/language';
import { c, cpp, java } from '@codemirror/legacy-modes/mode/clike';
import { css } from '@codemirror/legacy-modes/mode/css';
import { dockerFile } from '@codemirror/legacy-modes/mode/dockerfile';
import { go } from '@codemirror/legacy-modes/mode/go';
import { javascript, json, typescript } from '@codemirror/legacy-modes/mode/javascript';
import { properties } from '@codemirror/legacy-modes/mode/properties';
import { python } from '@codemirror/legacy-modes/mode/python';
import { ruby } from '@codemirror/legacy-modes/mode/ruby';
import { rust } from '@codemirror/legacy-modes/mode/rust';
import { shell } from '@codemirror/legacy-modes/mode/shell';
import { standardSQL } from '@codemirror/legacy-modes/mode/sql';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { html, xml } from '@codemirror/legacy-modes/mode/xml';
import { yaml } from '@codemirror/legacy-modes/mode/yaml';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const languages: Readonly<Record<string, StreamParser<unknown>>> = {
  ...{ c, h: c, cc: cpp, cpp, hpp: cpp, java, css, dockerfile: dockerFile, go, html, htm: html, svg: xml, xml },
  ...{ js: javascript, jsx: javascript, mjs: javascript, ts: typescript, tsx: typescript, json, jsonl: json },
  ...{ ini: properties, env: properties, conf: properties, py: python, pyi: python, rb: ruby, rs: rust },
  ...{ sh: shell, bash: shell, sql: standardSQL, toml, yaml, yml: yaml },
};

/** By the extension, or by the name of a file without one. */
export function languageOf(path: string): Extension {
  const name = path.toLowerCase().split(/[./]/).pop() ?? '';
  const parser = Object.hasOwn(languages, name) ? languages[name] : undefined;
  return parser ? StreamLanguage.define(parser) : [];
}

export const highlightStyle = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword], color: 'light-dark(#7a1fa2, #d7a6ff)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'light-dark(#1b6e2d, #9ad99f)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'light-dark(#a13d00, #ffb27a)' },
  { tag: [tags.comment, tags.meta], color: 'var(--faint)' },
  { tag: [tags.definition(tags.variableName), tags.propertyName, tags.tagName], color: 'var(--link)' },
  { tag: [tags.typeName, tags.className, tags.standard(tags.variableName)], color: 'light-dark(#00687a, #7fd6e6)' },
  { tag: tags.invalid, color: 'var(--wrong)' },
]);

export const theme = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--paper)', fontSize: '14px' },
  '&.cm-focused': { outline: '2px solid var(--link)' },
  '.cm-scroller': { fontFamily: 'ui-monospace, monospace', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { color: 'var(--faint)', backgroundColor: 'var(--code)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'light-dark(#1a56c40d, #8ab4ff12)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'light-dark(#bcd3ff, #2f4a7a)',
  },
  '.cm-panels': { color: 'var(--ink)', backgroundColor: 'var(--code)' },
  '.cm-textfield, .cm-button': {
    color: 'var(--ink)',
    background: 'var(--paper)',
    border: '1px solid var(--line)',
  },
  '.cm-changedLine': { backgroundColor: 'light-dark(#d9f2dd, #1d3a26)' },
  '.cm-deletedChunk': { backgroundColor: 'light-dark(#fbe3e1, #46241f)' },
});
