import { dig, listAt, textAt } from './dig.js';

/** What a terminal shows: a new program, the container's own, or that of a container added to the pod. */
export const terminalModes = ['exec', 'attach', 'debug'] as const;
export type TerminalMode = (typeof terminalModes)[number];

/** Where a terminal is connected to, and whether its program has a terminal too. */
export interface StreamPath {
  readonly path: string;
  readonly isTerminal: boolean;
}

interface Wanted {
  readonly pod: unknown;
  readonly mode: TerminalMode;
  readonly container: string;
  /** The command, for `exec`. */
  readonly words: readonly string[];
}

/** The path of a stream below that of its pod. */
export function streamPath(podPath: string, { pod, mode, container, words }: Wanted): StreamPath {
  const own = mode === 'attach' ? containerNamed(pod, container) : undefined;
  const isTerminal = mode !== 'attach' || dig(own, 'tty') === true;
  const takesInput = mode !== 'attach' || dig(own, 'stdin') === true;
  const query = new URLSearchParams({ container, stdout: 'true' });
  if (takesInput) query.set('stdin', 'true');
  // A terminal has one stream for both.
  query.set(isTerminal ? 'tty' : 'stderr', 'true');
  if (mode === 'exec') for (const word of words) query.append('command', word);
  return { path: `${podPath}/${mode === 'exec' ? 'exec' : 'attach'}?${query}`, isTerminal };
}

function containerNamed(pod: unknown, name: string): unknown {
  return ['containers', 'initContainers', 'ephemeralContainers']
    .flatMap((field) => listAt(pod, 'spec', field))
    .find((each) => textAt(each, 'name') === name);
}
