import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { boundedText } from './bounded-text.js';
import { downloadText } from './download-text.js';
import { ScrolledText } from './scrolled-text.js';
import { session, userName } from './session.js';
import { ask, type SqlAnswer } from './sql-answer.js';
import { SqlEditor } from './sql-editor.js';
import { csvOf, jsonOf } from './sql-export.js';
import { storedOfUser } from './stored-of-user.js';
import { Wide } from './wide.js';

const examples: readonly (readonly [string, string])[] = [
  [
    'Pods that do not run',
    `select namespace, name, phase, node, now() - created_at as age\nfrom pods\nwhere phase <> 'Running'\norder by created_at`,
  ],
  ['Images in use', 'select image, count(*)\nfrom pods, unnest(images) image\ngroup by 1 order by 2 desc'],
  [
    'Changes of the last hour',
    `select resource, namespace, name, verb, manager, diff\nfrom changes_between('1h ago', 'now')`,
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
  const askedText = useRef('');
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
  const run = async (isPlan = false) => {
    const sql = text.value;
    // A second click asks the same; another question takes the place of the one that is under way.
    if (isBusy.value && askedText.current === sql && !isPlan) return;
    asked.current?.abort();
    const stop = new AbortController();
    asked.current = stop;
    askedText.current = sql;
    isBusy.value = true;
    problem.value = '';
    answer.value = undefined;
    try {
      const found = await ask('/console/sql', { sql, ...(isPlan && { plan: true }) }, stop.signal);
      if (asked.current === stop) answer.value = found;
    } catch (error) {
      if (asked.current === stop) problem.value = stop.signal.aborted ? '' : (error as Error).message;
    }
    if (asked.current === stop) isBusy.value = false;
  };
  const askThis = (sql: string) => {
    set(sql);
    void run();
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
        <SqlEditor text={text.value} set={set} run={() => void run()} />
        <Actions
          isBusy={isBusy.value}
          stop={() => asked.current?.abort()}
          choose={askThis}
          explain={() => void run(true)}
        />
      </form>
      <Questions text={text.value} choose={askThis} />
      <p role="alert" class="problem">
        {problem.value}
      </p>
      {answer.value !== undefined &&
        (answer.value.isPlan === true ? <Plan answer={answer.value} /> : <Answer answer={answer.value} />)}
    </section>
  );
}

interface ActionsProps {
  readonly isBusy: boolean;
  readonly stop: () => void;
  /** Runs the question and shows how. */
  readonly explain: () => void;
  /** Asks an example. */
  readonly choose: (sql: string) => void;
}

function Actions({ isBusy, stop, choose, explain }: ActionsProps) {
  return (
    <p class="actions">
      <button type="submit" class="main" aria-disabled={isBusy}>
        Ask (Ctrl+Enter)
      </button>
      <button
        type="button"
        aria-disabled={isBusy}
        onClick={explain}
        title="Runs the question, and shows the steps of the database with their times"
      >
        Explain
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

interface Question {
  readonly name: string;
  readonly sql: string;
}

function areQuestions(value: unknown): value is readonly Question[] {
  const isQuestion = ({ name, sql }: Partial<Question>) => typeof name === 'string' && typeof sql === 'string';
  return Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null && isQuestion(each));
}

/** Questions that the user has given a name; this browser keeps them for that user. */
const kept = storedOfUser<readonly Question[]>('questions', [], areQuestions, userName);

function Questions({ text, choose }: { readonly text: string; readonly choose: (sql: string) => void }) {
  const name = useSignal('');
  return (
    <form
      class="actions kept"
      onSubmit={(event) => {
        event.preventDefault();
        const given = name.value.trim();
        if (given === '' || text.trim() === '') return;
        kept.value = [...kept.value.filter((each) => each.name !== given), { name: given, sql: text }];
        name.value = '';
      }}
    >
      <input
        aria-label="Name of the question"
        placeholder="Keep this question as…"
        value={name.value}
        onInput={(event) => {
          name.value = event.currentTarget.value;
        }}
      />
      <button type="submit">Keep</button>
      {kept.value.map(({ name: title, sql }) => (
        <span key={title} class="pair">
          <button type="button" onClick={() => choose(sql)}>
            {title}
          </button>
          <button
            type="button"
            aria-label={`Forget ${title}`}
            title="Forget it"
            onClick={() => {
              kept.value = kept.value.filter((each) => each.name !== title);
            }}
          >
            ×
          </button>
        </span>
      ))}
    </form>
  );
}

/** How the database ran a question: its steps, each with its rows and time. */
function Plan({ answer: { rows, ms } }: { readonly answer: SqlAnswer }) {
  return (
    <>
      <p class="quiet" role="status">
        Planned and run in {Math.round(ms)} ms
      </p>
      <ScrolledText class="yaml plan">{rows.map(([line]) => line ?? '').join('\n')}</ScrolledText>
    </>
  );
}

/** How many rows and cells are drawn at once: more than anybody reads would hold up the page for seconds. */
const mostAtOnce = { rows: 500, cells: 10_000 } as const;
/** The most letters of a cell that are drawn; the files have all. */
const mostOfCell = 1000;

function Answer({ answer }: { readonly answer: SqlAnswer }) {
  const { columns, rows, isCut, ms } = answer;
  const rowsAtOnce = Math.max(1, Math.min(mostAtOnce.rows, Math.floor(mostAtOnce.cells / Math.max(1, columns.length))));
  const drawn = useSignal(rowsAtOnce);
  const more = rows.length - drawn.value;
  return (
    <>
      <div class="actions">
        <p class="quiet" role="status">
          {isCut ? `The first ${rows.length} rows` : `${rows.length} rows`} in {Math.round(ms)} ms
        </p>
        {rows.length > 0 && (
          <>
            <span class="gap" />
            <button type="button" onClick={() => downloadText(csvOf(answer), 'answer.csv', 'text/csv')}>
              Download CSV
            </button>
            <button type="button" onClick={() => downloadText(jsonOf(answer), 'answer.json', 'application/json')}>
              Download JSON
            </button>
          </>
        )}
      </div>
      <Wide class="answer">
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
                  <td key={`${index}`}>
                    {cell === null ? <span class="quiet">null</span> : boundedText(cell, mostOfCell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
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
