import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.js';
import { Icon } from './icons.js';
import { type Kind, pathOf } from './kinds.js';
import { labelPatch } from './label-patch.js';
import { isOfNamespaces } from './namespace-of-route.js';
import { PropagationChoice } from './propagation-choice.js';
import { useRights } from './rights.js';
import { api } from './session.js';
import type { Row } from './table.js';

interface BulkProps {
  readonly kind: Kind;
  /** The rows that are shown. */
  readonly rows: readonly Row[];
  readonly selected: Signal<ReadonlySet<string>>;
}

/** What can be done with all selected rows. */
export function BulkBar({ kind, rows, selected }: BulkProps) {
  const chosen = rows.filter(({ key }) => selected.value.has(key));
  const work = useSignal<'delete' | 'label' | undefined>(undefined);
  const { group, resource } = kind;
  const namespaces = new Set(chosen.map(({ namespace }) => namespace));
  const [only = ''] = namespaces;
  const scope = namespaces.size === 1 ? { namespace: only } : {};
  const rights = useRights({
    delete: { verb: 'delete', group, resource, ...scope },
    label: { verb: 'patch', group, resource, ...scope },
  });
  const close = () => {
    work.value = undefined;
  };
  const hidden = selected.value.size - chosen.length;
  return (
    <div class="bulk" role="toolbar" aria-label="Selected rows">
      <strong>{chosen.length} selected</strong>
      {hidden > 0 && <span class="quiet">({hidden} not shown)</span>}
      <button
        type="button"
        onClick={() => (work.value = 'label')}
        disabled={rights.value.label?.isAllowed === false}
        title={rights.value.label?.why || 'Set or remove labels'}
      >
        Label…
      </button>
      <button
        type="button"
        class="danger"
        onClick={() => (work.value = 'delete')}
        disabled={rights.value.delete?.isAllowed === false}
        title={rights.value.delete?.why || 'Delete'}
      >
        Delete…
      </button>
      <button type="button" class="plain" aria-label="Select nothing" onClick={() => (selected.value = new Set())}>
        <Icon name="close" />
      </button>
      {work.value === 'delete' && <BulkDelete kind={kind} rows={chosen} close={close} />}
      {work.value === 'label' && <BulkLabel kind={kind} rows={chosen} close={close} />}
    </div>
  );
}

interface DialogProps {
  readonly kind: Kind;
  readonly rows: readonly Row[];
  readonly close: () => void;
}

function BulkDelete({ kind, rows, close }: DialogProps) {
  const way = useSignal('Background');
  const run = (row: Row) =>
    api.text(pathOf(kind, row.namespace, row.name), {
      method: 'DELETE',
      body: JSON.stringify({
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: way.value,
        // Not another object that got the name meanwhile.
        ...(row.uid !== '' && { preconditions: { uid: row.uid } }),
      }),
    });
  return (
    <BulkDialog title={`Delete ${rows.length} ${kind.resource}?`} verb="Delete" isDangerous {...{ rows, close, run }}>
      {isOfNamespaces(kind) ? (
        <p>Everything in them will be deleted, too.</p>
      ) : (
        <PropagationChoice what="them" way={way} />
      )}
    </BulkDialog>
  );
}

function BulkLabel({ kind, rows, close }: DialogProps) {
  const text = useSignal('');
  const patch = labelPatch(text.value);
  const run = (row: Row) => {
    if ('problem' in patch) throw new Error(patch.problem);
    return api.text(pathOf(kind, row.namespace, row.name), {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: JSON.stringify(patch),
    });
  };
  return (
    <BulkDialog title={`Label ${rows.length} ${kind.resource}`} verb="Label" {...{ rows, close, run }}>
      <label>
        Labels: <code>key=value</code> sets one, <code>key-</code> removes it
        <input
          class="line"
          value={text.value}
          placeholder="tier=web stage-"
          spellcheck={false}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </label>
      {'problem' in patch && text.value !== '' && <p class="problem">{patch.problem}</p>}
    </BulkDialog>
  );
}

interface BulkDialogProps {
  readonly title: string;
  readonly verb: string;
  readonly rows: readonly Row[];
  readonly isDangerous?: boolean;
  readonly close: () => void;
  readonly run: (row: Row) => Promise<unknown>;
  readonly children: ComponentChildren;
}

const parallel = 4;
const mostNames = 12;

/** Does something with each row, a few at a time, and says which failed. */
function BulkDialog({ title, verb, rows, isDangerous = false, close, run, children }: BulkDialogProps) {
  const done = useSignal(0);
  const failed = useSignal<readonly string[]>([]);
  const isBusy = useSignal(false);
  const start = async () => {
    if (isBusy.value) return;
    isBusy.value = true;
    done.value = 0;
    failed.value = [];
    const left = [...rows];
    const work = async () => {
      for (let row = left.shift(); row !== undefined; row = left.shift()) {
        try {
          await run(row);
          done.value++;
        } catch (error) {
          failed.value = [...failed.value, `${row.key.replace(/^\//, '')}: ${(error as Error).message}`];
        }
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
    isBusy.value = false;
    if (failed.value.length === 0) close();
  };
  const names = rows.map(({ key }) => key.replace(/^\//, ''));
  return (
    <Dialog title={title} close={close}>
      <ul class="names">
        {names.slice(0, mostNames).map((name) => (
          <li key={name}>{name}</li>
        ))}
        {names.length > mostNames && <li class="quiet">and {names.length - mostNames} more</li>}
      </ul>
      {children}
      <div role="status">
        {(isBusy.value || failed.value.length > 0) && `${done.value} of ${rows.length} done`}
        {failed.value.map((problem) => (
          <p key={problem} class="problem">
            {problem}
          </p>
        ))}
      </div>
      <p class="actions">
        <button
          type="button"
          class={isDangerous ? 'danger solid' : 'main'}
          aria-disabled={isBusy.value}
          onClick={() => void start()}
        >
          {verb}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </p>
    </Dialog>
  );
}
