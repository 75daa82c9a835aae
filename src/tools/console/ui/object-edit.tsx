import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiFault } from './api-fault.js';
import { CodeEditor } from './code-editor.js';
import { DiffView } from './diff-view.js';
import { api } from './session.js';
import {
  type ApiObject,
  readObject,
  toYaml,
  versionIn,
  withoutManagedFields,
  withVersion,
  yamlProblem,
} from './yaml-text.js';

interface EditProps {
  readonly path: string;
  /** The present state of the object. */
  readonly object: ApiObject;
  readonly isDeleted: boolean;
  readonly done: () => void;
}

const shown = (object: ApiObject) => toYaml(withoutManagedFields(object));

/**
 * Edits an object as YAML. The text goes to the server as it was typed: first in a dry run, whose outcome is shown as a diff,
 * and only then for good.
 */
export function EditView({ path, object, isDeleted, done }: EditProps) {
  /** The object at the start of the edit: the difference to the present state is what others changed. */
  const base = useSignal(shown(object));
  const text = useSignal(base.value);
  const { tried, problem, isBusy, send } = useSending(path, text, done);
  const compared = useSettled(text.value);
  const live = shown(object);
  const liveVersion = object.metadata.resourceVersion ?? '';
  // A text that is being typed may have no version for a moment.
  const isBehind = versionIn(text.value) !== liveVersion && yamlProblem(text.value) === undefined;
  const isTried = tried.value !== undefined && tried.value.text === text.value;
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault();
        void send(!isTried);
      }}
    >
      {(isBehind || isDeleted) && (
        <Conflict
          version={versionIn(text.value)}
          liveVersion={liveVersion}
          isDeleted={isDeleted}
          before={base.value}
          after={live}
          keep={() => {
            text.value = withVersion(text.value, liveVersion);
            tried.value = undefined;
          }}
          restart={() => {
            base.value = live;
            text.value = live;
            tried.value = undefined;
            problem.value = undefined;
          }}
        />
      )}
      <div class="beside">
        <div class="typed">
          <CodeEditor
            label="YAML of the object"
            text={text.value}
            change={(next) => {
              text.value = next;
            }}
            submit={() => void send(!isTried)}
          />
          <p class="actions">
            <button type="submit" class="main" disabled={isDeleted} aria-disabled={isBusy.value}>
              {isTried ? 'Apply' : 'Try (dry run)'}
            </button>
            <button type="button" onClick={done}>
              Cancel
            </button>
          </p>
        </div>
        <section class={isTried ? 'outcome tried' : 'outcome'}>
          {problem.value !== undefined && <Problem fault={problem.value} />}
          <h2>{isTried ? 'What the server would make of it' : 'Your changes'}</h2>
          <DiffView before={live} after={(isTried && tried.value?.outcome) || compared.value} label="What changes" />
        </section>
      </div>
    </form>
  );
}

/** Sends the text to the server, as a dry run or for good. */
function useSending(path: string, text: Signal<string>, done: () => void) {
  /** The text that was tried and the result. */
  const tried = useSignal<{ readonly text: string; readonly outcome: string } | undefined>(undefined);
  const problem = useSignal<ApiFault | undefined>(undefined);
  const isBusy = useSignal(false);
  const send = async (isDryRun: boolean) => {
    // Disabling a button would take the focus from keyboard users.
    if (isBusy.value) return;
    const sent = text.value;
    const fault = yamlProblem(sent);
    problem.value = fault === undefined ? undefined : new ApiFault(0, fault);
    if (fault !== undefined) return;
    isBusy.value = true;
    try {
      const outcome = await put(path, sent, isDryRun);
      if (isDryRun) tried.value = { text: sent, outcome: shown(outcome) };
      else done();
    } catch (error) {
      tried.value = undefined;
      problem.value = error instanceof ApiFault ? error : new ApiFault(0, (error as Error).message);
    }
    isBusy.value = false;
  };
  return { tried, problem, isBusy, send };
}

const settleMs = 200;

/** A text when nobody has typed for a moment: large texts take a while to compare. */
function useSettled(text: string): Signal<string> {
  const settled = useSignal(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      settled.value = text;
    }, settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

async function put(path: string, body: string, isDryRun: boolean): Promise<ApiObject> {
  const query = new URLSearchParams({
    fieldManager: 'plinth-console',
    fieldValidation: 'Strict',
    ...(isDryRun && { dryRun: 'All' }),
  });
  const options = { method: 'PUT', body, contentType: 'application/yaml' } as const;
  return readObject(await api.text(`${path}?${query}`, options));
}

interface ConflictProps {
  /** The version of the object that the text was edited from. */
  readonly version: string | undefined;
  readonly liveVersion: string;
  readonly isDeleted: boolean;
  /** The object at the start of the edit, and as it is now. */
  readonly before: string;
  readonly after: string;
  readonly keep: () => void;
  readonly restart: () => void;
}

/** Shows that somebody else changed or deleted the object, and offers ways to continue. */
function Conflict({ version, liveVersion, isDeleted, before, after, keep, restart }: ConflictProps) {
  return (
    <section class="conflict" role="alert">
      <p>
        {isDeleted
          ? 'The object was deleted meanwhile.'
          : `Somebody else changed the object: you edit version ${version ?? '(none)'}, it is now at ${liveVersion}.`}
      </p>
      {!isDeleted && (
        <>
          <details open>
            <summary>What others changed</summary>
            <DiffView before={before} after={after} label="Changes of others" />
          </details>
          <button type="button" onClick={keep}>
            Keep my text for version {liveVersion}
          </button>
          <button type="button" onClick={restart}>
            Start again from version {liveVersion}
          </button>
        </>
      )}
    </section>
  );
}

function Problem({ fault: { code, message, causes } }: { readonly fault: ApiFault }) {
  return (
    <div role="alert" class="problem">
      <p>
        {code === 409 ? 'Conflict: ' : ''}
        {message}
      </p>
      {causes.length > 1 && (
        <ul>
          {causes.map((cause) => (
            <li key={cause}>{cause}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
