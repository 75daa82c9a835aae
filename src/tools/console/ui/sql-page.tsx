import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { session } from './session.js';
import { ask, type SqlAnswer } from './sql-answer.js';

const examples: readonly (readonly [string, string])[] = [
  [
    'Pods that do not run',
    `select namespace, name, phase, node, now() - created_at as age\nfrom cluster.pods\nwhere phase <> 'Running'\norder by created_at`,
  ],
  ['Images in use', 'select image, count(*)\nfrom cluster.pods, unnest(images) image\ngroup by 1 order by 2 desc'],
  [
    'Changes of the last hour',
    `select resource, namespace, name, verb, manager, diff\nfrom cluster.changes_between('1h ago', 'now')`,
  ],
];
const question = { text: examples[0]?.[1] ?? '' };

/** Queries to the database, as a role that may only read. */
export function SqlPage() {
  const text = useSignal(question.text);
  const answer = useSignal<SqlAnswer | undefined>(undefined);
  const problem = useSignal('');
  const isBusy = useSignal(false);
  /** The query that is under way. */
  const asked = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => asked.current?.abort(), []);
  if (session.value?.sql !== true) {
    return (
      <p class="centre">
        Questions in SQL need a console with --sql-url, and the right to get the non-resource URL /sql.
      </p>
    );
  }
  const set = (value: string) => {
    question.text = value;
    text.value = value;
  };
  const run = async () => {
    if (isBusy.value) return;
    isBusy.value = true;
    problem.value = '';
    answer.value = undefined;
    const stop = new AbortController();
    asked.current = stop;
    try {
      answer.value = await ask('/console/sql', { sql: text.value }, stop.signal);
    } catch (error) {
      problem.value = stop.signal.aborted ? '' : (error as Error).message;
    }
    isBusy.value = false;
  };
  return (
    <section class="page">
      <h1>SQL</h1>
      <form
        class="edit"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <textarea
          aria-label="Question in SQL"
          rows={8}
          spellcheck={false}
          value={text.value}
          onInput={(event) => set(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            void run();
          }}
        />
        <Actions isBusy={isBusy.value} stop={() => asked.current?.abort()} choose={set} />
      </form>
      <p role="alert" class="problem">
        {problem.value}
      </p>
      {answer.value !== undefined && <Answer answer={answer.value} />}
    </section>
  );
}

interface ActionsProps {
  readonly isBusy: boolean;
  readonly stop: () => void;
  /** Takes the text of an example. */
  readonly choose: (sql: string) => void;
}

function Actions({ isBusy, stop, choose }: ActionsProps) {
  return (
    <p class="actions">
      <button type="submit" class="main" aria-disabled={isBusy}>
        Ask (Ctrl+Enter)
      </button>
      {isBusy && (
        <button type="button" onClick={stop}>
          Stop
        </button>
      )}
      {examples.map(([title, sql]) => (
        <button key={title} type="button" onClick={() => choose(sql)}>
          {title}
        </button>
      ))}
    </p>
  );
}

/** How many rows are drawn at once: more than anybody reads would hold up the page for seconds. */
const rowsAtOnce = 500;

function Answer({ answer: { columns, rows, isCut, ms } }: { readonly answer: SqlAnswer }) {
  const drawn = useSignal(rowsAtOnce);
  const more = rows.length - drawn.value;
  return (
    <>
      <p class="quiet" role="status">
        {isCut ? `The first ${rows.length} rows` : `${rows.length} rows`} in {Math.round(ms)} ms
      </p>
      <div class="wide">
        <table class="plain">
          <thead>
            <tr>
              {columns.map((name, index) => (
                <th key={`${index} ${name}`} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, drawn.value).map((row, line) => (
              <tr key={`${line}`}>
                {row.map((cell, index) => (
                  <td key={`${index}`}>{cell ?? <span class="quiet">null</span>}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 && (
        <p class="actions">
          <button
            type="button"
            onClick={() => {
              drawn.value += rowsAtOnce;
            }}
          >
            Show {Math.min(more, rowsAtOnce)} more of {more}
          </button>
        </p>
      )}
    </>
  );
}
