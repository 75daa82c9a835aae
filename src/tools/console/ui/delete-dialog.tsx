import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from './dialog.js';
import { contentsText, countContents } from './namespace-contents.js';
import { PropagationChoice } from './propagation-choice.js';
import { api } from './session.js';
import type { ApiObject } from './yaml-text.js';

/** Asks for confirmation, then deletes exactly this object, not another one that got its name meanwhile. */
export function DeleteDialog({ path, object, close }: { path: string; object: ApiObject; close: () => void }) {
  const way = useSignal<string>('Background');
  const problem = useSignal('');
  const { name, namespace, uid } = object.metadata;
  const isNamespace = object.apiVersion === 'v1' && object.kind === 'Namespace';
  const run = async () => {
    problem.value = '';
    const body = JSON.stringify({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: way.value,
      ...(uid !== undefined && { preconditions: { uid } }),
    });
    try {
      await api.text(path, { method: 'DELETE', body });
      close();
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  return (
    <Dialog title={`Delete ${object.kind ?? 'the object'}?`} close={close}>
      <p>
        <strong class="name">{name}</strong>
        {namespace === undefined ? '' : ` in the namespace ${namespace}`} will be deleted
        {object.metadata.deletionTimestamp === undefined ? (isNamespace ? '' : '.') : ' already; finalizers keep it.'}
        {isNamespace && object.metadata.deletionTimestamp === undefined && <Contents namespace={name ?? ''} />}
      </p>
      {!isNamespace && <PropagationChoice what="it" way={way} />}
      <p role="alert" class="problem">
        {problem.value}
      </p>
      <p class="actions">
        <button type="button" class="danger solid" onClick={() => void run()}>
          Delete
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </p>
    </Dialog>
  );
}

/** The end of the sentence that says what goes with a namespace. */
function Contents({ namespace }: { readonly namespace: string }) {
  const counted = useSignal('');
  useEffect(() => {
    const stop = new AbortController();
    countContents(api, namespace, stop.signal).then(
      (counts) => {
        counted.value = contentsText(counts);
      },
      () => {
        // What can't be counted is deleted all the same; the sentence says so.
      },
    );
    return () => stop.abort();
  }, [namespace]);
  return (
    <>
      , and <strong>everything in it</strong>
      {counted.value === '' ? '.' : `: ${counted.value}.`}
    </>
  );
}
