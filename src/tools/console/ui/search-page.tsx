import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Blank } from './blank.js';
import { nounOfKind } from './kind-title.js';
import type { Kind } from './kinds.js';
import { shownVersion } from './moment.js';
import { chosenNamespace, go } from './navigation.js';
import { formatRoute } from './routes.js';
import { type SearchState, searchAll } from './search-all.js';
import { foundIn, searchQuestion } from './search-sql.js';
import { api, kinds, session } from './session.js';
import { ask } from './sql-answer.js';
import { tablesOf, tablesQuestion } from './sql-completion.js';
import { TableHead } from './table-head.js';

/** Objects of all kinds whose names contain a text. */
export function SearchPage({ text }: { readonly text: string }) {
  const typed = useSignal(text);
  const state = useSignal<SearchState | undefined>(undefined);
  const namespace = chosenNamespace.value;
  useEffect(() => {
    typed.value = text;
    state.value = undefined;
    const known = kinds.value;
    if (text.trim() === '' || known === undefined) return;
    const stop = new AbortController();
    const show = (next: SearchState) => {
      state.value = next;
    };
    const byLists = () =>
      searchAll(api, { kinds: known.all, suffix: known.suffix, namespace, text }, show, stop.signal);
    const hasSql = session.peek()?.sql === true && shownVersion() === '';
    if (hasSql) {
      // Whatever the database can't say, lists can.
      searchBySql(known.all, { namespace, text }, stop.signal)
        .then((found) => (found === undefined ? byLists() : show(found)))
        .catch(() => (stop.signal.aborted ? undefined : byLists()));
    } else void byLists();
    return () => stop.abort();
  }, [text, namespace, shownVersion()]);
  return (
    <section class="page">
      <h1>Find objects</h1>
      <form
        class="actions"
        onSubmit={(event) => {
          event.preventDefault();
          go({ page: 'search', text: typed.value });
        }}
      >
        <input
          type="search"
          aria-label="A part of the name"
          placeholder="A part of the name"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="main">
          Find
        </button>
        <span class="quiet">in {namespace === '' ? 'all namespaces' : namespace}</span>
      </form>
      {text.trim() === '' && (
        <Blank title="Find any object by a part of its name">
          <p>It looks through all kinds that you may list, but for events and leases.</p>
        </Blank>
      )}
      {state.value !== undefined && <Found state={state.value} />}
    </section>
  );
}

/** How many objects are shown at most. */
const mostFound = 500;

/** Asks the database; undefined where the question would be too long for it. */
async function searchBySql(
  all: readonly Kind[],
  sought: { readonly namespace: string; readonly text: string },
  signal: AbortSignal,
): Promise<SearchState | undefined> {
  const tables = tablesOf((await ask('/console/sql', { sql: tablesQuestion }, signal)).rows);
  const question = searchQuestion(tables, { ...sought, most: mostFound });
  if (question === undefined) return undefined;
  const { rows, ms } = await ask('/console/sql', { sql: question }, signal);
  return { found: foundIn(rows, all), left: 0, cut: [], refused: [], bySqlMs: ms };
}

function Found({ state: { found, left, cut, refused, bySqlMs } }: { readonly state: SearchState }) {
  return (
    <>
      <p role="status" class="quiet found-so-far">
        {found.length} {found.length === 1 ? 'object' : 'objects'}
        {bySqlMs === undefined ? '' : `, by SQL in ${Math.round(bySqlMs)} ms`}
        {left > 0 ? `, ${left} kinds left to look through` : ''}
        {cut.length > 0 ? `; of ${cut.join(', ')} only the first 5,000` : ''}
        {refused.length > 0 ? `; not listed: ${refused.join(', ')}` : ''}
      </p>
      {found.length === 0 && left === 0 && <Blank title="No name contains this" />}
      {found.length > 0 && (
        <table class="plain found">
          <TableHead titles={['Name', 'Kind', 'Namespace']} />
          <tbody>
            {found.map(({ kind, namespace, name }) => (
              <tr key={`${kind.group}/${kind.resource}/${namespace}/${name}`}>
                <td>
                  <a href={formatRoute({ page: 'object', ...kind, namespace, name, tab: 'summary' })}>{name}</a>
                </td>
                <td class="quiet">{nounOfKind(kind.kind)}</td>
                <td class="quiet">{namespace}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
