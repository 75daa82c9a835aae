import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { startDebugger } from './debug-container.js';
import { waitInBrowser } from './follow.js';
import { pathOf } from './kinds.js';
import { wordsOf } from './pod-channel.js';
import { connectPod, type PodConnection } from './pod-connection.js';
import type { ObjectRoute } from './routes.js';
import { liveApi } from './session.js';
import { streamPath, type TerminalMode } from './terminal-modes.js';
import type { Screen } from './terminal-screen.js';
import type { ApiObject } from './yaml-text.js';

const podKind = { group: '', version: 'v1', resource: 'pods' };

/** What the terminal of a pod is connected to. */
export interface TerminalTarget {
  readonly mode: TerminalMode;
  readonly container: string;
  readonly command: string;
  readonly image: string;
}

interface TerminalProps {
  readonly route: ObjectRoute;
  readonly object: ApiObject;
  /** Takes the keys when the user leaves the terminal. */
  readonly leave: () => void;
  /** Whether the user may use no terminal, so that there is no screen. */
  readonly isRefused: boolean;
}

/** The terminal of a pod: the element of its screen, and its connection. */
export interface Terminal {
  readonly host: RefObject<HTMLDivElement | null>;
  readonly screen: 'loading' | 'missing' | 'shown';
  readonly isOpen: boolean;
  /** Connects again; problems are shown on the screen. */
  start(target: TerminalTarget): void;
  stop(): void;
  endInput(): void;
}

/** A terminal that ends with its component. */
export function useTerminal({ route: { namespace, name }, object, leave, isRefused }: TerminalProps): Terminal {
  const isOpen = useSignal(false);
  const host = useRef<HTMLDivElement>(null);
  const screen = useSignal<Screen | undefined | 'missing'>(undefined);
  const connection = useRef<PodConnection | undefined>(undefined);
  const starting = useRef<AbortController | undefined>(undefined);
  const disconnect = () => {
    starting.current?.abort();
    connection.current?.close();
  };
  useEffect(() => {
    let isGone = false;
    const show = async () => {
      const { makeScreen } = await import('./terminal-screen.js');
      if (isGone || host.current === null) return;
      screen.value = makeScreen(host.current, {
        input: (text) => connection.current?.send(text),
        resized: (size) => connection.current?.resize(size),
        leave,
      });
    };
    show().catch(() => {
      screen.value = 'missing';
    });
    return () => {
      isGone = true;
      disconnect();
      if (typeof screen.peek() === 'object') (screen.peek() as Screen).dispose();
    };
  }, [isRefused]);
  const start = async (target: TerminalTarget) => {
    const shown = screen.value;
    if (typeof shown !== 'object') return;
    disconnect();
    const words = wordsOf(target.command);
    if (target.mode === 'exec' && ('problem' in words || words.length === 0)) {
      shown.note('problem' in words ? words.problem : 'there is no command');
      return;
    }
    const begun = new AbortController();
    starting.current = begun;
    isOpen.value = true;
    const path = pathOf(podKind, namespace, name);
    try {
      const stream = await prepareStream({ path, pod: object, target, words: words as string[], shown }, begun.signal);
      const opened = connectPod(stream, shown, () => {
        if (connection.current === opened) isOpen.value = false;
      });
      connection.current = opened;
      shown.focus();
    } catch (error) {
      if (begun.signal.aborted) return;
      shown.note((error as Error).message);
      isOpen.value = false;
    }
  };
  const { value } = screen;
  return {
    host,
    screen: value === undefined ? 'loading' : value === 'missing' ? value : 'shown',
    isOpen: isOpen.value,
    start: (target) => void start(target),
    stop: () => {
      disconnect();
      isOpen.value = false;
    },
    endInput: () => connection.current?.endInput(),
  };
}

interface StreamRequest {
  /** Path of the pod. */
  readonly path: string;
  readonly pod: ApiObject;
  readonly target: TerminalTarget;
  /** The command, as words. */
  readonly words: readonly string[];
  readonly shown: Screen;
}

/** The stream to connect to, for which a debugging container is started first if it is to be one. */
async function prepareStream({ path, pod, target, words, shown }: StreamRequest, signal: AbortSignal) {
  const { mode, image, container } = target;
  if (mode !== 'debug') {
    const stream = streamPath(path, { pod, mode, container, words });
    shown.reset(stream.isTerminal);
    return stream;
  }
  shown.reset(true);
  const wanted = { path, pod, image, target: container };
  const started = await startDebugger(liveApi, wanted, { signal, says: shown.note, wait: waitInBrowser });
  return streamPath(path, { pod, mode, container: started, words });
}
