import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Blank, Skeleton } from './blank.js';
import { startDebugger } from './debug-container.js';
import { waitInBrowser } from './follow.js';
import { pathOf } from './kinds.js';
import { containersOf, usualContainer } from './log-sources.js';
import { wordsOf } from './pod-channel.js';
import { connectPod, type PodConnection } from './pod-connection.js';
import { useRights } from './rights.js';
import type { ObjectRoute } from './routes.js';
import { liveApi } from './session.js';
import { streamPath, type TerminalMode, terminalModes } from './terminal-modes.js';
import type { Screen } from './terminal-screen.js';
import { TerminalTools } from './terminal-tools.js';
import type { ApiObject } from './yaml-text.js';

const podKind = { group: '', version: 'v1', resource: 'pods' };

/** A terminal of a pod: a program in a container, the container's own one, or a container added for a look. */
export function TerminalTab({ route, object }: { readonly route: ObjectRoute; readonly object: ApiObject }) {
  const { namespace, name } = route;
  const mode = useSignal<TerminalMode>('exec');
  const container = useSignal(usualContainer(object));
  const command = useSignal('sh');
  const image = useSignal('busybox:1.37');
  const isOpen = useSignal(false);
  const host = useRef<HTMLDivElement>(null);
  const screen = useSignal<Screen | undefined | 'missing'>(undefined);
  const connection = useRef<PodConnection | undefined>(undefined);
  const starting = useRef<AbortController | undefined>(undefined);
  const tools = useRef<HTMLFormElement>(null);
  const right = { group: '', resource: 'pods', namespace, name };
  const decisions = useRights({
    exec: { ...right, verb: 'create', subresource: 'exec' },
    attach: { ...right, verb: 'create', subresource: 'attach' },
    debug: { ...right, verb: 'patch', subresource: 'ephemeralcontainers' },
  }).value;
  const isRefused = terminalModes.every((each) => decisions[each]?.isAllowed === false);
  useEffect(() => {
    let isGone = false;
    const show = async () => {
      const { makeScreen } = await import('./terminal-screen.js');
      if (isGone || host.current === null) return;
      screen.value = makeScreen(host.current, {
        input: (text) => connection.current?.send(text),
        resized: (size) => connection.current?.resize(size),
        leave: () => tools.current?.querySelector<HTMLElement>('button')?.focus(),
      });
    };
    show().catch(() => {
      screen.value = 'missing';
    });
    return () => {
      isGone = true;
      starting.current?.abort();
      connection.current?.close();
      if (typeof screen.peek() === 'object') (screen.peek() as Screen).dispose();
    };
  }, [isRefused]);
  if (isRefused) {
    return (
      <Blank icon="access" title="No terminal for you here">
        <p>{decisions.exec?.why}</p>
      </Blank>
    );
  }
  const start = async () => {
    const shown = screen.value;
    if (typeof shown !== 'object') return;
    starting.current?.abort();
    connection.current?.close();
    const words = wordsOf(command.value);
    if (mode.value === 'exec' && ('problem' in words || words.length === 0)) {
      shown.note('problem' in words ? words.problem : 'there is no command');
      return;
    }
    const begun = new AbortController();
    starting.current = begun;
    isOpen.value = true;
    const path = pathOf(podKind, namespace, name);
    try {
      let target = container.value;
      if (mode.value === 'debug') {
        shown.reset(true);
        target = await startDebugger(
          liveApi,
          { path, pod: object, image: image.value.trim(), target },
          { signal: begun.signal, says: shown.note, wait: waitInBrowser },
        );
      }
      const stream = streamPath(path, { pod: object, mode: mode.value, container: target, words: words as string[] });
      if (mode.value !== 'debug') shown.reset(stream.isTerminal);
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
  const stop = () => {
    starting.current?.abort();
    connection.current?.close();
    isOpen.value = false;
  };
  return (
    <div class="logs">
      <TerminalTools
        {...{ mode, container, command, image, decisions, isOpen: isOpen.value, start, stop }}
        form={tools}
        containers={containersOf(object)}
        endInput={() => connection.current?.endInput()}
      />
      {screen.value === undefined && <Skeleton lines={8} />}
      {screen.value === 'missing' && <p class="problem">The terminal could not be loaded: load the page again.</p>}
      <div ref={host} class="terminal-screen" />
      <p class="quiet">
        All keys go to the program; <kbd>F6</kbd> leaves the terminal. Select text to copy it.
      </p>
    </div>
  );
}
