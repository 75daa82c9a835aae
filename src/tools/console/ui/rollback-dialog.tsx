import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ActionDialog } from './action-dialog.js';
import { Skeleton } from './blank.js';
import { now } from './clock.js';
import { DiffView } from './diff-view.js';
import { dig } from './dig.js';
import { pathOf } from './kinds.js';
import { type Revision, revisionsOf, rollbackRequest, templateText } from './revisions.js';
import type { ObjectRoute } from './routes.js';
import { sendAction } from './send-action.js';
import { api } from './session.js';
import { agoText } from './times.js';
import { type ApiObject, readObject } from './yaml-text.js';

interface RollbackDialogProps {
  readonly route: ObjectRoute;
  readonly path: string;
  readonly object: ApiObject;
  readonly close: () => void;
}

/** Shows the earlier templates of a workload, each as a diff, and returns to one. */
export function RollbackDialog({ route, path, object, close }: RollbackDialogProps) {
  const revisions = useSignal<readonly Revision[] | undefined>(undefined);
  const problem = useSignal('');
  const chosen = useSignal(0);
  const { group, version, resource, namespace } = route;
  useEffect(() => {
    const kept = resource === 'deployments' ? 'replicasets' : 'controllerrevisions';
    const collection = pathOf({ group, version, resource: kept }, namespace);
    api.text(`${collection}?limit=500`).then(
      (list) => {
        const items = readObject(list).items;
        const found = revisionsOf(object, Array.isArray(items) ? items : []);
        revisions.value = found;
        // The first one is the present one.
        chosen.value = found[1]?.number ?? 0;
      },
      (error: unknown) => {
        problem.value = (error as Error).message;
      },
    );
  }, [path]);
  const all = revisions.value ?? [];
  const revision = all.find(({ number }) => number === chosen.value);
  const present = templateText(dig(object, 'spec', 'template'));
  return (
    <ActionDialog
      title={`Roll back ${object.metadata.name}`}
      verb={revision === undefined ? 'Roll back' : `Return to revision ${revision.number}`}
      isBlocked={revision === undefined}
      run={async () => revision !== undefined && sendAction(rollbackRequest(path, object, revision))}
      close={close}
    >
      {problem.value !== '' && <p class="problem">{problem.value}</p>}
      {revisions.value === undefined && problem.value === '' && <Skeleton lines={4} />}
      {revisions.value !== undefined && all.length < 2 && <p>There is no earlier revision.</p>}
      {all.length > 1 && (
        <label class="stacked">
          Revision
          <select
            value={String(chosen.value)}
            onChange={(event) => {
              chosen.value = Number(event.currentTarget.value);
            }}
          >
            {all.slice(1).map(({ number, created, cause }) => (
              <option key={number} value={String(number)}>
                {[`Revision ${number}`, agoText(created, now.peek()), cause].filter(Boolean).join(', ')}
              </option>
            ))}
          </select>
        </label>
      )}
      {revision !== undefined && (
        <DiffView before={present} after={templateText(revision.template)} label="What changes in the template" />
      )}
    </ActionDialog>
  );
}
