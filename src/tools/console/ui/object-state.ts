import { dig, listAt, numberAt, textAt } from './dig.js';
import { podState, type State } from './pod-state.js';
import { toneOfCondition, toneOfWord } from './status.js';

/** How an object stands; undefined for kinds that have no state. */
export function objectState(resource: string, object: unknown): State | undefined {
  if (textAt(object, 'metadata', 'deletionTimestamp') !== '') {
    const finalizers = listAt(object, 'metadata', 'finalizers').map(String);
    const why = finalizers.length === 0 ? '' : `finalizers keep it: ${finalizers.join(', ')}`;
    return { tone: 'busy', word: 'Terminating', why };
  }
  switch (resource) {
    case 'pods':
      return podState(object);
    case 'nodes':
      return nodeState(object);
    case 'jobs':
      return jobState(object);
    case 'deployments':
    case 'statefulsets':
    case 'replicasets':
    case 'replicationcontrollers':
      return shareState(object, dig(object, 'spec', 'replicas') ?? 1, numberAt(object, 'status', 'readyReplicas'));
    case 'daemonsets':
      return shareState(
        object,
        numberAt(object, 'status', 'desiredNumberScheduled'),
        numberAt(object, 'status', 'numberReady'),
      );
    case 'cronjobs':
      return dig(object, 'spec', 'suspend') === true
        ? { tone: 'idle', word: 'Suspended', why: '' }
        : { tone: 'good', word: 'Scheduled', why: '' };
    case 'certificatesigningrequests':
      return requestState(object);
    default:
      return otherState(object);
  }
}

/** How a node stands, with everything that is wrong with it. */
export function nodeState(node: unknown): State {
  const conditions = listAt(node, 'status', 'conditions');
  const ready = conditions.find((each) => textAt(each, 'type') === 'Ready');
  const isCordoned = dig(node, 'spec', 'unschedulable') === true;
  if (textAt(ready, 'status') !== 'True') {
    return { tone: 'bad', word: 'NotReady', why: textAt(ready, 'message') || 'the node does not report' };
  }
  const pressed = conditions.filter((each) => textAt(each, 'type') !== 'Ready' && textAt(each, 'status') === 'True');
  if (pressed.length > 0) {
    const why = pressed.map((each) => textAt(each, 'message')).filter(Boolean);
    return { tone: 'warn', word: pressed.map((each) => textAt(each, 'type')).join(', '), why: why.join('; ') };
  }
  if (isCordoned) return { tone: 'warn', word: 'Ready,SchedulingDisabled', why: 'it is cordoned: no new pods' };
  return { tone: 'good', word: 'Ready', why: '' };
}

function jobState(job: unknown): State {
  const is = (type: string) =>
    listAt(job, 'status', 'conditions').find(
      (each) => textAt(each, 'type') === type && textAt(each, 'status') === 'True',
    );
  const failed = is('Failed');
  if (failed !== undefined) return { tone: 'bad', word: 'Failed', why: textAt(failed, 'message') };
  if (is('Complete') !== undefined) return { tone: 'idle', word: 'Complete', why: '' };
  if (is('Suspended') !== undefined) return { tone: 'idle', word: 'Suspended', why: '' };
  const failures = numberAt(job, 'status', 'failed');
  if (failures > 0) return { tone: 'warn', word: 'Running', why: `${failures} of its pods failed so far` };
  return { tone: 'busy', word: 'Running', why: '' };
}

function shareState(object: unknown, wanted: unknown, ready: number): State {
  const want = typeof wanted === 'number' ? wanted : 0;
  const word = `${ready} of ${want} ready`;
  if (dig(object, 'spec', 'paused') === true) return { tone: 'idle', word: `Paused, ${word}`, why: '' };
  if (want === 0) return { tone: 'idle', word: 'Scaled to 0', why: '' };
  if (ready >= want) return { tone: 'good', word, why: '' };
  const troubled = listAt(object, 'status', 'conditions').find(
    (each) =>
      (textAt(each, 'type') === 'ReplicaFailure' && textAt(each, 'status') === 'True') ||
      (textAt(each, 'type') === 'Progressing' && textAt(each, 'status') === 'False'),
  );
  if (troubled !== undefined) return { tone: 'bad', word, why: textAt(troubled, 'message') };
  return { tone: ready === 0 ? 'bad' : 'warn', word, why: '' };
}

function requestState(request: unknown): State {
  const types = listAt(request, 'status', 'conditions').map((each) => textAt(each, 'type'));
  if (types.includes('Denied')) return { tone: 'bad', word: 'Denied', why: '' };
  if (types.includes('Failed')) return { tone: 'bad', word: 'Failed', why: '' };
  if (!types.includes('Approved')) return { tone: 'busy', word: 'Pending', why: 'nobody has approved it yet' };
  const isIssued = textAt(request, 'status', 'certificate') !== '';
  return { tone: 'good', word: isIssued ? 'Issued' : 'Approved', why: '' };
}

function otherState(object: unknown): State | undefined {
  const phase = textAt(object, 'status', 'phase');
  if (phase !== '') return { tone: toneOfWord(phase) ?? 'idle', word: phase, why: textAt(object, 'status', 'message') };
  const conditions = listAt(object, 'status', 'conditions');
  for (const wanted of ['Ready', 'Available', 'Established', 'Accepted', 'Programmed']) {
    const found = conditions.find((each) => textAt(each, 'type') === wanted);
    if (found === undefined) continue;
    const status = textAt(found, 'status');
    const tone = toneOfCondition(wanted, status);
    const reason = textAt(found, 'reason');
    const word = status === 'True' ? wanted : reason || `${wanted}: ${status}`;
    return { tone, word, why: status === 'True' ? '' : textAt(found, 'message') };
  }
  return undefined;
}
