import { useSignal } from '@preact/signals';
import { ApiFault } from './api-fault.js';
import { CodeEditor } from './code-editor.js';
import { createText } from './create-text.js';
import { DiffView } from './diff-view.js';
import { collectionOf, type PastedObject, pastedObjects } from './documents.js';
import { kindOf } from './kinds.js';
import { chosenNamespace } from './navigation.js';
import { formatRoute } from './routes.js';
import { api, kinds, loadKinds } from './session.js';
import { StatusText } from './status-badge.js';
import { type ApiObject, readObject, toYaml, withoutManagedFields } from './yaml-text.js';

/** What became of one object: what the server made of it, or why not. */
interface Outcome {
  readonly pasted: PastedObject;
  readonly result?: ApiObject;
  /** The object that was there before, if it is changed. */
  readonly before?: ApiObject;
  readonly problem?: string;
  /** The namespace that another object of the text makes first: only then can the server look at this one. */
  readonly waitsFor?: string;
}

/** What was tried, and whether for good. */
interface Tried {
  readonly text: string;
  readonly isDryRun: boolean;
  readonly outcomes: readonly Outcome[];
}

/**
 * Creates the objects of a pasted text, or changes those that exist by server-side apply: first in a dry run.
 */
export function CreatePage() {
  const tried = useSignal<Tried | undefined>(undefined);
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const text = createText.value;
  const send = async (isDryRun: boolean) => {
    if (isBusy.value) return;
    const objects = pastedObjects(text);
    problem.value = 'problem' in objects ? objects.problem : objects.length === 0 ? 'there is no object' : '';
    if ('problem' in objects || problem.value !== '') return;
    isBusy.value = true;
    const outcomes: Outcome[] = [];
    for (const pasted of objects) {
      outcomes.push(await apply(pasted, isDryRun, newNamespaces(outcomes)));
      tried.value = { text, isDryRun, outcomes: [...outcomes] };
    }
    if (!isDryRun) void loadKinds().catch(() => {});
    isBusy.value = false;
  };
  const isTried = tried.value?.text === text;
  const isGood = isTried && tried.value?.isDryRun === true && tried.value.outcomes.every((each) => !each.problem);
  const objects = pastedObjects(text);
  const count = 'problem' in objects ? 0 : objects.length;
  return (
    <section class="page create">
      <header class="heading">
        <div>
          <p class="crumbs">Create or change</p>
          <h1>Paste YAML</h1>
        </div>
      </header>
      <p class="quiet">
        One object or several, with <code>---</code> between them. Objects without a namespace go to{' '}
        <strong>{chosenNamespace.value || 'default'}</strong>. The first step is a dry run.
      </p>
      <form
        class="edit"
        onSubmit={(event) => {
          event.preventDefault();
          void send(!isGood);
        }}
      >
        <CodeEditor
          label="YAML of the objects"
          text={text}
          placeholder={'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  key: value'}
          change={(next) => {
            createText.value = next;
          }}
          submit={() => void send(!isGood)}
        />
        <p class="actions">
          <button type="submit" class="main" aria-disabled={isBusy.value}>
            {isGood ? `Apply ${count === 1 ? 'it' : `all ${count}`}` : 'Try (dry run)'}
          </button>
          <span class="quiet" role="status">
            {isTried && tried.value !== undefined ? summary(tried.value) : count > 1 ? `${count} objects` : ''}
          </span>
        </p>
      </form>
      {problem.value !== '' && (
        <p role="alert" class="problem">
          {problem.value}
        </p>
      )}
      {isTried && tried.value !== undefined && <Outcomes tried={tried.value} />}
    </section>
  );
}

/** What came of it, beside the button: the rest may be out of sight. */
function summary({ isDryRun, outcomes }: Tried): string {
  const refused = outcomes.filter(({ problem }) => problem !== undefined).length;
  const all = outcomes.length === 1 ? 'the object' : `${outcomes.length} objects`;
  if (refused === 0) return isDryRun ? `Nothing is wrong with ${all}` : 'Applied';
  return outcomes.length === 1 ? 'The object is refused: see below' : `${refused} of ${all} are refused: see below`;
}

/** Namespaces that are not there yet, and that the text itself makes. */
function newNamespaces(outcomes: readonly Outcome[]): ReadonlySet<string> {
  const made = outcomes.filter(
    ({ pasted, before, problem }) =>
      pasted.kind === 'Namespace' && pasted.apiVersion === 'v1' && before === undefined && problem === undefined,
  );
  return new Set(made.map(({ pasted }) => pasted.name));
}

/**
 * Sends one object. Its failure is a part of the outcome.
 *
 * @param coming namespaces that objects before it make
 */
async function apply(pasted: PastedObject, isDryRun: boolean, coming: ReadonlySet<string>): Promise<Outcome> {
  const collection = collectionOf(kinds.value?.all ?? [], pasted, chosenNamespace.value);
  if (collection === undefined) {
    return { pasted, problem: `the server does not serve ${pasted.kind} of ${pasted.apiVersion}` };
  }
  const options = { fieldManager: 'plinth-console', fieldValidation: 'Strict', ...(isDryRun && { dryRun: 'All' }) };
  const query = new URLSearchParams(options);
  try {
    if (pasted.name === '') {
      const made = await api.text(`${collection}?${query}`, {
        method: 'POST',
        body: pasted.text,
        contentType: 'application/yaml',
      });
      return { pasted, result: readObject(made) };
    }
    const path = `${collection}/${encodeURIComponent(pasted.name)}`;
    const before = await api.text(path).then(readObject, (error: unknown) => {
      if (error instanceof ApiFault && error.code === 404) return undefined;
      throw error;
    });
    const result = await api.text(`${path}?${query}`, {
      method: 'PATCH',
      body: pasted.text,
      contentType: 'application/apply-patch+yaml',
    });
    return { pasted, result: readObject(result), ...(before !== undefined && { before }) };
  } catch (error) {
    const namespace = pasted.namespace || chosenNamespace.value;
    const isMissing = error instanceof ApiFault && error.code === 404;
    if (isDryRun && isMissing && coming.has(namespace)) return { pasted, waitsFor: namespace };
    return { pasted, problem: (error as Error).message };
  }
}

function Outcomes({ tried: { isDryRun, outcomes } }: { readonly tried: Tried }) {
  return (
    <section class="outcome">
      <h2>{isDryRun ? 'What the server would make of it' : 'Done'}</h2>
      <ul class="outcomes">
        {outcomes.map(({ pasted, result, before, problem, waitsFor }, index) => (
          <li key={index}>
            <p>
              <OutcomeWord {...{ isDryRun, before, problem, waitsFor }} />{' '}
              <ObjectName pasted={pasted} result={isDryRun ? undefined : result} />
            </p>
            {problem !== undefined && <p class="problem">{problem}</p>}
            {waitsFor !== undefined && (
              <p class="quiet">The server can check it only once the namespace {waitsFor} is there.</p>
            )}
            {isDryRun && result !== undefined && (
              <DiffView
                before={before === undefined ? '' : shown(before)}
                after={shown(result)}
                label={`What becomes of ${pasted.kind} ${pasted.name}`}
              />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function OutcomeWord({
  isDryRun,
  before,
  problem,
  waitsFor,
}: Pick<Outcome, 'before' | 'problem' | 'waitsFor'> & { readonly isDryRun: boolean }) {
  if (problem !== undefined) return <StatusText tone="bad" text="refused" />;
  if (waitsFor !== undefined) return <StatusText tone="idle" text="comes after its namespace" />;
  const word = before === undefined ? 'created' : 'changed';
  return <StatusText tone="good" text={isDryRun ? `would be ${word}` : word} />;
}

function ObjectName({ pasted, result }: { readonly pasted: PastedObject; readonly result: ApiObject | undefined }) {
  const text = `${pasted.kind} ${result?.metadata.name ?? pasted.name}`;
  const kind = kindOf(kinds.value?.all ?? [], pasted.apiVersion, pasted.kind);
  if (result === undefined || kind === undefined) return <strong>{text}</strong>;
  const { name, namespace = '' } = result.metadata;
  return <a href={formatRoute({ page: 'object', ...kind, namespace, name, tab: 'summary' })}>{text}</a>;
}

const shown = (object: ApiObject) => toYaml(withoutManagedFields(object));
