import { useSignal } from '@preact/signals';
import { ActionDialog } from './action-dialog.js';
import {
  type Action,
  type ActionId,
  actionsOf,
  decideRequest,
  evictRequest,
  flipRequest,
  jobOf,
  restartRequest,
} from './actions.js';
import { DrainDialog } from './drain-dialog.js';
import { pathOf } from './kinds.js';
import { go } from './navigation.js';
import type { Right } from './right.js';
import { type Decision, useRights } from './rights.js';
import { RollbackDialog } from './rollback-dialog.js';
import type { ObjectRoute } from './routes.js';
import { ScaleDialog } from './scale-dialog.js';
import { sendAction } from './send-action.js';
import { session } from './session.js';
import type { ApiObject } from './yaml-text.js';

interface ActionBarProps {
  readonly route: ObjectRoute;
  readonly path: string;
  /** Undefined while the object is not known, or no longer there. */
  readonly object: ApiObject | undefined;
  readonly edit: () => void;
  readonly remove: () => void;
}

/** Actions that ask before anything happens, or need more to be said. */
const asking: ReadonlySet<ActionId> = new Set(['scale', 'rollback', 'drain', 'restart', 'evict', 'deny']);

/** What can be done with an object, with the reason where the user may not. */
export function ActionBar({ route, path, object, edit, remove }: ActionBarProps) {
  const open = useSignal<ActionId | undefined>(undefined);
  const problem = useSignal('');
  const done = useSignal('');
  const { group, resource, namespace, name } = route;
  const actions = object === undefined ? [] : actionsOf(route, object);
  const own: Record<string, Right> = {
    edit: { verb: 'update', group, resource, namespace, name },
    delete: { verb: 'delete', group, resource, namespace, name },
  };
  for (const { id, rights } of actions) for (const [index, right] of rights.entries()) own[`${id} ${index}`] = right;
  const decisions = useRights(own).value;
  const run = async (action: Action) => {
    if (object === undefined) return;
    problem.value = '';
    done.value = '';
    if (asking.has(action.id)) {
      open.value = action.id;
      return;
    }
    try {
      done.value = await carryOut(action.id, route, path, object);
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  const close = (said = '') => {
    open.value = undefined;
    done.value = said;
  };
  const asked = actions.find(({ id }) => id === open.value);
  return (
    <>
      <div class="actions-bar" role="toolbar" aria-label="Actions">
        {actions.map((action) => (
          <ActionButton
            key={action.id}
            title={action.title}
            help={action.help}
            refused={refusalOf(action, decisions)}
            run={() => void run(action)}
          />
        ))}
        <ActionButton
          title="Edit"
          help="Change it as YAML (E)"
          refused={object === undefined ? 'it is not there' : (decisions.edit?.why ?? '')}
          run={edit}
        />
        <ActionButton
          title="Delete"
          help="Delete it (D)"
          isDangerous
          refused={object === undefined ? 'it is not there' : (decisions.delete?.why ?? '')}
          run={remove}
        />
      </div>
      <p role="status" class={problem.value === '' ? 'done' : 'problem'}>
        {problem.value || done.value}
      </p>
      {asked !== undefined && object !== undefined && <AskFirst {...{ action: asked, route, path, object, close }} />}
    </>
  );
}

function refusalOf({ id, rights }: Action, decisions: Readonly<Record<string, Decision>>): string {
  return rights.map((_, index) => decisions[`${id} ${index}`]?.why ?? '').find((why) => why !== '') ?? '';
}

interface ActionButtonProps {
  readonly title: string;
  readonly help: string;
  /** Why it can't be done; empty if it can. */
  readonly refused: string;
  readonly isDangerous?: boolean;
  readonly run: () => void;
}

/** Refused actions stay in reach of keyboards and pointers, so that the reason can be read. */
function ActionButton({ title, help, refused, isDangerous = false, run }: ActionButtonProps) {
  const isRefused = refused !== '';
  return (
    <button
      type="button"
      class={isDangerous ? 'danger' : ''}
      aria-disabled={isRefused}
      title={isRefused ? refused : help}
      onClick={() => {
        if (!isRefused) run();
      }}
    >
      {title}
      {isRefused && <span class="unseen"> ({refused})</span>}
    </button>
  );
}

/** Carries out an action that needs no question. Resolves with what happened. */
async function carryOut(id: ActionId, route: ObjectRoute, path: string, object: ApiObject): Promise<string> {
  switch (id) {
    case 'pause':
      await sendAction(flipRequest(path, object, 'paused'));
      return '';
    case 'suspend':
      await sendAction(flipRequest(path, object, 'suspend'));
      return '';
    case 'cordon':
      await sendAction(flipRequest(path, object, 'unschedulable'));
      return '';
    case 'approve':
      await sendAction(decideRequest(path, object, 'Approved', session.value?.user.name ?? ''));
      return 'Approved.';
    case 'trigger': {
      const { namespace } = route;
      const kind = { group: 'batch', version: 'v1', resource: 'jobs' };
      const { name, body } = jobOf(object, `manual-${Date.now().toString(36)}`);
      await sendAction({ method: 'POST', path: pathOf(kind, namespace), contentType: 'application/json', body });
      go({ page: 'object', ...kind, namespace, name, tab: 'summary' });
      return '';
    }
    default:
      return '';
  }
}

interface AskFirstProps {
  readonly action: Action;
  readonly route: ObjectRoute;
  readonly path: string;
  readonly object: ApiObject;
  readonly close: (said?: string) => void;
}

function AskFirst({ action, route, path, object, close }: AskFirstProps) {
  const { name } = object.metadata;
  switch (action.id) {
    case 'scale':
      return <ScaleDialog path={path} object={object} close={close} />;
    case 'rollback':
      return <RollbackDialog route={route} path={path} object={object} close={close} />;
    case 'drain':
      return <DrainDialog path={path} node={object} close={close} />;
    case 'restart':
      return (
        <ActionDialog
          title={`Restart ${name}?`}
          text="All its pods are replaced, a few at a time as its strategy says."
          verb="Restart"
          run={() => sendAction(restartRequest(path, new Date()))}
          close={() => close()}
        />
      );
    case 'evict':
      return (
        <ActionDialog
          title={`Evict ${name}?`}
          text="The pod ends, if disruption budgets allow it. What it belongs to makes another one."
          verb="Evict"
          isDangerous
          run={() => sendAction(evictRequest(path, object))}
          close={() => close()}
        />
      );
    default:
      return (
        <ActionDialog
          title={`Deny ${name}?`}
          text="The certificate is refused for good."
          verb="Deny"
          isDangerous
          run={() => sendAction(decideRequest(path, object, 'Denied', session.value?.user.name ?? ''))}
          close={() => close()}
        />
      );
  }
}
