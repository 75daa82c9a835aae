import { acceptCompletion, autocompletion, type Completion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { codeFolding, foldEffect, foldGutter, foldKeymap, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { editorTheme, highlights } from './editor-theme.js';
import { helpAt, noiseIn, type Offer, offersAt, type SchemaOf } from './yaml-completion.js';

export interface YamlEditorSettings {
  readonly text: string;
  /** The name for screen readers. */
  readonly label: string;
  readonly isReadOnly: boolean;
  readonly placeholder: string;
  readonly schemaOf: SchemaOf;
  readonly change: (text: string) => void;
  readonly submit: () => void;
}

/** An editor in the page. */
export interface YamlEditor {
  /** Shows another text; folds and the position stay where the text stays the same. */
  readonly set: (text: string) => void;
  readonly focus: () => void;
  readonly destroy: () => void;
}

/**
 * Makes an editor of YAML in an element. It lives in a shadow tree: there its styles are constructed sheets, which the
 * content security policy allows; style elements it forbids.
 */
export function makeYamlEditor(host: HTMLElement, settings: YamlEditorSettings): YamlEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const { text, change } = settings;
  const submitted = () => {
    settings.submit();
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([{ key: 'Mod-Enter', run: submitted }]),
        settings.isReadOnly ? readOnly : editing(settings.schemaOf),
        common(settings.label),
        settings.placeholder === '' ? [] : placeholder(settings.placeholder),
        hoverTooltip((shown, at) => hoverAt(shown, at, settings.schemaOf)),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) change(update.state.doc.toString());
        }),
      ],
    }),
  });
  foldNoise(view);
  return {
    set: (next) => setText(view, next),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

const readOnly: Extension = [EditorState.readOnly.of(true), EditorView.editable.of(false)];

function editing(of: SchemaOf): Extension {
  return [
    history(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    autocompletion({
      override: [
        async ({ state, pos, explicit }) => {
          const { number, from } = state.doc.lineAt(pos);
          const found = await offersAt(linesOf(state.doc), number - 1, pos - from, of);
          if (found === undefined || (found.typed === '' && !explicit && !isAfterBreak(state.doc, pos))) return null;
          return { from: pos - found.typed.length, options: found.offers.map(completionOf), validFor: /^[\w.-]*$/ };
        },
      ],
      activateOnCompletion: ({ type }) => type === 'property',
    }),
    // Before the usual keys: with no offers shown, Tab leaves the editor, as in any field.
    keymap.of([{ key: 'Tab', run: acceptCompletion }, ...completionKeymap, ...historyKeymap]),
  ];
}

/** Fields are offered unasked on a line that has just begun. */
function isAfterBreak(text: Text, at: number): boolean {
  const { from, text: line } = text.lineAt(at);
  return at > from && /^[\s-]*$/.test(line.slice(0, at - from));
}

function common(label: string): Extension {
  return [
    lineNumbers(),
    codeFolding(),
    foldGutter(),
    yaml(),
    indentUnit.of('  '),
    highlightSpecialChars(),
    highlightSelectionMatches(),
    search({ top: true }),
    syntaxHighlighting(highlights),
    editorTheme,
    keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', spellcheck: 'false' }),
  ];
}

function completionOf({ text, inserted, type, description, isRequired }: Offer): Completion {
  return {
    label: text,
    detail: isRequired ? `${type}, required` : type,
    apply: inserted,
    type: inserted === text ? 'constant' : 'property',
    boost: isRequired ? 1 : 0,
    ...(description === '' ? {} : { info: description }),
  };
}

async function hoverAt(view: EditorView, at: number, of: SchemaOf) {
  const { number, from, to } = view.state.doc.lineAt(at);
  const help = await helpAt(linesOf(view.state.doc), number - 1, at - from, of);
  if (help === undefined) return null;
  return {
    pos: at,
    end: to,
    create: () => {
      const dom = document.createElement('div');
      dom.className = 'help';
      const name = dom.appendChild(document.createElement('strong'));
      name.textContent = help.field;
      const type = dom.appendChild(document.createElement('span'));
      type.textContent = ` ${help.type}${help.isRequired ? ', required' : ''}`;
      const description = dom.appendChild(document.createElement('p'));
      description.textContent = help.description;
      return { dom };
    },
  };
}

function linesOf(text: Text): readonly string[] {
  return text.toString().split('\n');
}

/** Folds what programs write; it stays in the text, since what is missing there would be removed. */
function foldNoise(view: EditorView): void {
  const { doc } = view.state;
  const effects = noiseIn(linesOf(doc)).map(({ from, to }) =>
    foldEffect.of({ from: doc.line(from + 1).to, to: doc.line(to + 1).to }),
  );
  if (effects.length > 0) view.dispatch({ effects });
}

/** Replaces what is different, so that nothing moves that stays. */
function setText(view: EditorView, next: string): void {
  const before = view.state.doc.toString();
  if (before === next) return;
  let from = 0;
  while (from < before.length && from < next.length && before[from] === next[from]) from++;
  let end = 0;
  const most = Math.min(before.length, next.length) - from;
  while (end < most && before[before.length - 1 - end] === next[next.length - 1 - end]) end++;
  view.dispatch({ changes: { from, to: before.length - end, insert: next.slice(from, next.length - end) } });
}
