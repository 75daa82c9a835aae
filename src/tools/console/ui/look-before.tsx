import { useSignal } from '@preact/signals';
import { realNow } from './clock.js';
import { liveApi } from './session.js';
import { timeBefore } from './time-before.js';
import { visit } from './time-machine.js';
import type { ApiObject } from './yaml-text.js';

interface LookBeforeProps {
  readonly object: ApiObject;
  /** The version at which it was deleted. */
  readonly deletedVersion: string;
}

/** Leads from a deleted object to the moment before, from where it can be restored. */
export function LookBefore({ object, deletedVersion }: LookBeforeProps) {
  const problem = useSignal('');
  const look = async () => {
    problem.value = '';
    try {
      visit(await timeBefore(liveApi, object.metadata, deletedVersion, realNow.peek()));
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  return (
    <p class="actions before">
      <button type="button" class="main" onClick={() => void look()}>
        See it before that, to restore it…
      </button>
      <span role="alert" class="problem">
        {problem.value}
      </span>
    </p>
  );
}
