import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Blank, Skeleton } from './blank.js';
import { containersOf, usualContainer } from './log-sources.js';
import { useRights } from './rights.js';
import type { ObjectRoute } from './routes.js';
import { type TerminalMode, terminalModes } from './terminal-modes.js';
import { TerminalTools } from './terminal-tools.js';
import { useTerminal } from './use-terminal.js';
import type { ApiObject } from './yaml-text.js';

/** A terminal of a pod: a program in a container, the container's own one, or a container added for a look. */
export function TerminalTab({ route, object }: { readonly route: ObjectRoute; readonly object: ApiObject }) {
  const { namespace, name } = route;
  const mode = useSignal<TerminalMode>('exec');
  const container = useSignal(usualContainer(object));
  const command = useSignal('sh');
  const image = useSignal('busybox:1.37');
  const tools = useRef<HTMLFormElement>(null);
  const right = { group: '', resource: 'pods', namespace, name };
  const decisions = useRights({
    exec: { ...right, verb: 'create', subresource: 'exec' },
    attach: { ...right, verb: 'create', subresource: 'attach' },
    debug: { ...right, verb: 'patch', subresource: 'ephemeralcontainers' },
  }).value;
  const isRefused = terminalModes.every((each) => decisions[each]?.isAllowed === false);
  const leave = () => tools.current?.querySelector<HTMLElement>('button')?.focus();
  const terminal = useTerminal({ route, object, leave, isRefused });
  if (isRefused) {
    return (
      <Blank icon="access" title="No terminal for you here">
        <p>{decisions.exec?.why}</p>
      </Blank>
    );
  }
  const { host, screen, isOpen, start, stop, endInput } = terminal;
  return (
    <div class="logs">
      <TerminalTools
        {...{ mode, container, command, image, decisions, isOpen, stop, endInput }}
        start={() =>
          start({ mode: mode.value, container: container.value, command: command.value, image: image.value.trim() })
        }
        form={tools}
        containers={containersOf(object)}
      />
      {screen === 'loading' && <Skeleton lines={8} />}
      {screen === 'missing' && <p class="problem">The terminal could not be loaded: load the page again.</p>}
      <div ref={host} class="terminal-screen" />
      <p class="quiet">
        All keys go to the program; <kbd>F6</kbd> leaves the terminal. Select text to copy it.
      </p>
    </div>
  );
}
