import { HighlightStyle } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Colours of the parts of a text, from those of the page, light or dark. */
export const highlights = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent-strong)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword, tags.atom], color: 'var(--busy)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--ink-3)', fontStyle: 'italic' },
  { tag: [tags.meta, tags.labelName, tags.typeName], color: 'var(--warn)' },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: 'var(--ink-2)' },
]);

const panel = { backgroundColor: 'var(--surface)', color: 'var(--ink)' };

/** How the editor looks: as the fields of the page do. */
export const editorTheme = EditorView.theme({
  '&': {
    fontSize: '12.5px',
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--round)',
    maxHeight: '66vh',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '6px 0' },
  '.cm-placeholder': { color: 'var(--ink-3)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--ink-3)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--warn-soft)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)', outline: '1px solid var(--accent)' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-foldGutter span': { padding: '0 3px', cursor: 'pointer' },
  '.cm-foldPlaceholder': {
    ...{ backgroundColor: 'var(--accent-soft)', color: 'var(--accent-strong)' },
    ...{ border: 'none', padding: '0 6px', margin: '0 6px' },
  },
  '.cm-panels': panel,
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 8px', fontFamily: 'system-ui, sans-serif' },
  '.cm-textfield': { ...panel, border: '1px solid var(--line-strong)', borderRadius: '4px' },
  '.cm-button': {
    ...{ backgroundImage: 'none', backgroundColor: 'var(--sunken)', color: 'var(--ink)' },
    ...{ border: '1px solid var(--line-strong)', borderRadius: '4px' },
  },
  '.cm-panel.cm-search [name=close]': { color: 'var(--ink)' },
  '.cm-tooltip': {
    ...panel,
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--round)',
    boxShadow: 'var(--shadow)',
    fontSize: '12.5px',
  },
  '.cm-tooltip.cm-completionInfo': { ...panel, maxWidth: '360px', padding: '6px 10px', whiteSpace: 'pre-wrap' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '15em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail': { color: 'var(--on-accent)' },
  '.cm-completionIcon': { display: 'none' },
  '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal' },
  '.help': { maxWidth: '440px', padding: '8px 12px', fontFamily: 'system-ui, sans-serif', lineHeight: '1.45' },
  '.help span': { color: 'var(--ink-2)' },
  '.help p': { margin: '4px 0 0', whiteSpace: 'pre-wrap' },
});
