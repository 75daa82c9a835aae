import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ask } from './sql-answer.js';
import { type Completions, completions, type SqlTables, tablesOf, tablesQuestion } from './sql-completion.js';

interface SqlEditorProps {
  readonly text: string;
  readonly set: (text: string) => void;
  readonly run: () => void;
}

const none: Completions = { from: 0, words: [] };

/** A field for a question, which offers the tables and columns that the role may read: Tab takes the first. */
export function SqlEditor({ text, set, run }: SqlEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const tables = useSignal<SqlTables>(new Map());
  const offered = useSignal<Completions>(none);
  useEffect(() => {
    const stop = new AbortController();
    ask('/console/sql', { sql: tablesQuestion }, stop.signal).then(
      ({ rows }) => {
        tables.value = tablesOf(rows);
      },
      () => {
        // Without the tables nothing is offered; the question itself shows what is wrong.
      },
    );
    return () => stop.abort();
  }, []);
  const offer = ({ value, selectionStart, selectionEnd }: HTMLTextAreaElement) => {
    offered.value = selectionStart === selectionEnd ? completions(value, selectionStart, tables.value) : none;
  };
  const take = (word: string) => {
    const { current } = area;
    if (current === null) return;
    const { from } = offered.value;
    const next = `${text.slice(0, from)}${word}${text.slice(current.selectionStart)}`;
    set(next);
    current.value = next;
    current.focus();
    current.setSelectionRange(from + word.length, from + word.length);
    offer(current);
  };
  const { words } = offered.value;
  return (
    <>
      <textarea
        ref={area}
        aria-label="Question in SQL"
        rows={8}
        spellcheck={false}
        value={text}
        onInput={(event) => {
          set(event.currentTarget.value);
          offer(event.currentTarget);
        }}
        onKeyDown={(event) => {
          const [first] = words;
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
          else if (event.key === 'Tab' && !event.shiftKey && first !== undefined) take(first);
          else if (event.key === 'Escape' && first !== undefined) offered.value = none;
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <p class="offered" aria-live="polite">
        {words.map((word, index) => (
          <button
            key={word}
            type="button"
            title={index === 0 ? 'Tab' : undefined}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(word)}
          >
            {word}
          </button>
        ))}
        <span class="quiet">
          {words.length > 0 ? 'Tab takes the first' : 'Tables and columns are offered while you type'}
        </span>
      </p>
    </>
  );
}
