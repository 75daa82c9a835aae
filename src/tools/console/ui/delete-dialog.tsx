import { useSignal } from '@preact/signals';
import { Dialog } from './dialog.js';
import { api } from './session.js';
import type { ApiObject } from './yaml-text.js';

/** What happens to the dependents of an object that is deleted. */
export const propagations = [
  ['Background', 'then what depends on it (Background)'],
  ['Foreground', 'after what depends on it (Foreground)'],
  ['Orphan', 'and leave what depends on it (Orphan)'],
] as const;

/** Asks for confirmation, then deletes exactly this object, not another one that got its name meanwhile. */
export function DeleteDialog({ path, object, close }: { path: string; object: ApiObject; close: () => void }) {
  const way = useSignal<string>('Background');
  const problem = useSignal('');
  const { name, namespace, uid } = object.metadata;
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
        {object.metadata.deletionTimestamp === undefined ? '.' : ' already; finalizers keep it.'}
      </p>
      <label>
        Delete it{' '}
        <select
          value={way.value}
          onChange={(event) => {
            way.value = event.currentTarget.value;
          }}
        >
          {propagations.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
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
