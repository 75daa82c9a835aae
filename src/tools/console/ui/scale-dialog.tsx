import { useSignal } from '@preact/signals';
import { ActionDialog } from './action-dialog.js';
import { replicasOf, scaleRequest } from './actions.js';
import { sendAction } from './send-action.js';
import type { ApiObject } from './yaml-text.js';

interface ScaleDialogProps {
  readonly path: string;
  readonly object: ApiObject;
  readonly close: () => void;
}

export function ScaleDialog({ path, object, close }: ScaleDialogProps) {
  const now = replicasOf(object);
  const wanted = useSignal(String(now));
  const count = /^\d{1,9}$/.test(wanted.value.trim()) ? Number(wanted.value) : undefined;
  return (
    <ActionDialog
      title={`Scale ${object.metadata.name}`}
      verb={count === 0 ? 'Scale to 0' : 'Scale'}
      isDangerous={count === 0}
      isBlocked={count === undefined}
      run={() => sendAction(scaleRequest(path, count ?? now))}
      close={close}
    >
      <label class="stacked">
        Replicas (now {now})
        <input
          type="number"
          min={0}
          value={wanted.value}
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
          }}
        />
      </label>
    </ActionDialog>
  );
}
