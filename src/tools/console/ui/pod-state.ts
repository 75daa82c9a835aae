import { dig, listAt, numberAt, textAt } from './dig.js';
import { type Tone, toneOfWord } from './status.js';

/** How something stands, in the field's word, and why. */
export interface State {
  readonly tone: Tone;
  readonly word: string;
  /** The message of the component that reported it; empty if there is none. */
  readonly why: string;
}

interface ContainerState {
  readonly name: string;
  readonly tone: Tone;
  readonly word: string;
  readonly why: string;
  readonly restarts: number;
  readonly isReady: boolean;
}

/** How a container stands, by its status. */
export function containerState(status: unknown): ContainerState {
  const name = textAt(status, 'name');
  const restarts = numberAt(status, 'restartCount');
  const isReady = dig(status, 'ready') === true;
  const state = { name, restarts, isReady };
  const waiting = dig(status, 'state', 'waiting');
  if (waiting !== undefined) {
    const word = textAt(waiting, 'reason') || 'Waiting';
    const last = dig(status, 'lastState', 'terminated');
    const ended = last === undefined ? '' : `the last run ended with ${endText(last)}`;
    return { ...state, tone: toneOfWord(word) ?? 'busy', word, why: textAt(waiting, 'message') || ended };
  }
  const terminated = dig(status, 'state', 'terminated');
  if (terminated !== undefined) {
    const word = textAt(terminated, 'reason') || `ExitCode:${textAt(terminated, 'exitCode')}`;
    const isGood = numberAt(terminated, 'exitCode') === 0;
    const why = textAt(terminated, 'message') || (isGood ? '' : `ended with ${endText(terminated)}`);
    return { ...state, tone: isGood ? 'idle' : 'bad', word, why };
  }
  if (dig(status, 'state', 'running') === undefined) return { ...state, tone: 'busy', word: 'Waiting', why: '' };
  return isReady
    ? { ...state, tone: 'good', word: 'Running', why: '' }
    : { ...state, tone: 'warn', word: 'Running, not ready', why: 'the container runs, but is not ready' };
}

function endText(terminated: unknown): string {
  const signal = textAt(terminated, 'signal');
  const reason = textAt(terminated, 'reason');
  const code = signal === '' || signal === '0' ? `exit code ${textAt(terminated, 'exitCode')}` : `signal ${signal}`;
  return reason === '' || reason === 'Error' ? code : `${code} (${reason})`;
}

/** How a pod stands: the worst of what keeps it from running, in the words of `kubectl get`. */
export function podState(pod: unknown): State {
  const phase = textAt(pod, 'status', 'phase') || 'Unknown';
  const reason = textAt(pod, 'status', 'reason');
  const message = textAt(pod, 'status', 'message');
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== '') return { tone: 'busy', word: 'Terminating', why: message };
  if (phase === 'Succeeded') return { tone: 'idle', word: 'Completed', why: '' };
  const inits = listAt(pod, 'status', 'initContainerStatuses').map(containerState);
  const stuck = inits.find(({ tone, isReady }) => tone === 'bad' && !isReady);
  if (stuck !== undefined && phase !== 'Failed') {
    return { tone: 'bad', word: `Init:${stuck.word}`, why: named(stuck) };
  }
  const containers = listAt(pod, 'status', 'containerStatuses').map(containerState);
  const worst = containers.find(({ tone }) => tone === 'bad');
  if (phase === 'Failed') {
    const word = reason || worst?.word || 'Failed';
    return { tone: 'bad', word, why: message || (worst === undefined ? '' : named(worst)) };
  }
  if (worst !== undefined) return { tone: 'bad', word: worst.word, why: named(worst) };
  const conditions = listAt(pod, 'status', 'conditions');
  if (phase === 'Pending') {
    const scheduled = conditions.find((each) => textAt(each, 'type') === 'PodScheduled');
    const isWaiting = textAt(scheduled, 'status') === 'False';
    if (isWaiting) {
      return { tone: 'warn', word: textAt(scheduled, 'reason') || 'Pending', why: textAt(scheduled, 'message') };
    }
    const waiting = containers.find(({ tone }) => tone === 'busy');
    return { tone: 'busy', word: waiting?.word ?? 'Pending', why: waiting === undefined ? '' : named(waiting) };
  }
  if (phase === 'Unknown') return { tone: 'warn', word: 'Unknown', why: message };
  const unready = containers.filter(({ isReady, tone }) => !isReady && tone !== 'idle');
  if (unready.length > 0) {
    const condition = conditions.find((each) => textAt(each, 'type') === 'Ready');
    return { tone: 'warn', word: 'NotReady', why: textAt(condition, 'message') || unready.map(named).join('; ') };
  }
  return { tone: 'good', word: phase, why: '' };
}

function named({ name, why, word }: ContainerState): string {
  return `${name}: ${why || word}`;
}
