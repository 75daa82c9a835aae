import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Blank } from './blank.js';
import { pathOf } from './kinds.js';
import { cleanLine } from './log-buffer.js';
import { containersOf, usualContainer } from './log-sources.js';
import { endOfInput, inputMessage, ProgramReader, wordsOf } from './pod-channel.js';
import { useRights } from './rights.js';
import type { ObjectRoute } from './routes.js';
import { streamProtocols } from './session.js';
import { type TerminalPiece, withPiece } from './terminal-pieces.js';
import type { ApiObject } from './yaml-text.js';

const podKind = { group: '', version: 'v1', resource: 'pods' };
/** Runs programs in a container of a pod: lines go in, text comes out. */
export function TerminalTab({ route, object }: { readonly route: ObjectRoute; readonly object: ApiObject }) {
  const { namespace, name } = route;
  const containers = containersOf(object);
  const container = useSignal(usualContainer(object));
  const command = useSignal('sh');
  const line = useSignal('');
  const pieces = useSignal<readonly TerminalPiece[]>([]);
  const isOpen = useSignal(false);
  const socket = useRef<WebSocket | undefined>(undefined);
  const end = useRef<HTMLPreElement>(null);
  const right = { verb: 'create', group: '', resource: 'pods', subresource: 'exec', namespace, name };
  const decision = useRights({ exec: right }).value.exec;
  useEffect(() => () => socket.current?.close(), [namespace, name]);
  useLayoutEffect(() => {
    end.current?.scrollTo(0, end.current.scrollHeight);
  }, [pieces.value]);
  if (decision?.isAllowed === false) {
    return (
      <Blank icon="access" title="No terminal for you here">
        <p>{decision.why}</p>
      </Blank>
    );
  }
  const add = (kind: TerminalPiece['kind'], text: string) => {
    pieces.value = withPiece(pieces.value, { kind, text });
  };
  const start = () => {
    const words = wordsOf(command.value);
    if ('problem' in words || words.length === 0) {
      add('note', 'problem' in words ? words.problem : 'there is no command');
      return;
    }
    socket.current?.close();
    pieces.value = [{ kind: 'note', text: `${command.value} in ${container.value}` }];
    isOpen.value = true;
    socket.current = connect(execPath(namespace, name, container.value, words), add, () => {
      isOpen.value = false;
    });
  };
  const send = () => {
    socket.current?.send(inputMessage(`${line.value}\n`));
    add('input', `${line.value}\n`);
    line.value = '';
  };
  return (
    <div class="logs">
      <form
        class="log-tools"
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        {containers.length > 1 && (
          <select
            aria-label="Container"
            value={container.value}
            onChange={(event) => {
              container.value = event.currentTarget.value;
            }}
          >
            {containers.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        )}
        <input
          type="search"
          aria-label="Command"
          spellcheck={false}
          autocomplete="off"
          value={command.value}
          onInput={(event) => {
            command.value = event.currentTarget.value;
          }}
        />
        <button type="submit" class="main">
          {isOpen.value ? 'Start anew' : 'Run'}
        </button>
      </form>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys */}
      <pre ref={end} class="log-lines terminal" aria-label="Output" role="log" tabIndex={0}>
        {pieces.value.map(({ kind, text }, index) => (
          <span key={index} class={kind}>
            {text}
            {kind === 'note' ? '\n' : ''}
          </span>
        ))}
      </pre>
      <form
        class="log-tools"
        onSubmit={(event) => {
          event.preventDefault();
          if (isOpen.value) send();
        }}
      >
        <input
          type="search"
          aria-label="Line for the program"
          placeholder={isOpen.value ? 'A line for the program' : 'Nothing runs'}
          spellcheck={false}
          autocomplete="off"
          disabled={!isOpen.value}
          value={line.value}
          onInput={(event) => {
            line.value = event.currentTarget.value;
          }}
        />
        <button type="submit" disabled={!isOpen.value}>
          Send
        </button>
        <button type="button" disabled={!isOpen.value} onClick={() => socket.current?.send(endOfInput())}>
          End input
        </button>
        <button type="button" disabled={!isOpen.value} onClick={() => socket.current?.close()}>
          Disconnect
        </button>
      </form>
      <p class="quiet">
        Lines, not keys: programs that draw on the whole screen need <code>kubectl exec -it</code>.
      </p>
    </div>
  );
}

function execPath(namespace: string, pod: string, container: string, words: readonly string[]): string {
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', stderr: 'true' });
  for (const word of words) query.append('command', word);
  return `${pathOf(podKind, namespace, pod)}/exec?${query}`;
}

/** Connects to a program. Whatever ends the connection is written as a note. */
function connect(
  path: string,
  add: (kind: TerminalPiece['kind'], text: string) => void,
  closed: () => void,
): WebSocket {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const socket = new WebSocket(url, streamProtocols());
  socket.binaryType = 'arraybuffer';
  const reader = new ProgramReader();
  let wasOpen = false;
  let hasEnded = false;
  socket.onopen = () => {
    wasOpen = true;
  };
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!(data instanceof ArrayBuffer)) return;
    const message = reader.read(new Uint8Array(data));
    if (message === undefined) return;
    if (message.kind === 'ended') {
      hasEnded = true;
      add('note', message.message === '' ? 'It has ended.' : `It has ended: ${message.message}`);
      socket.close();
    } else if (message.text !== '') add(message.kind, message.text.split('\n').map(cleanLine).join('\n'));
  };
  socket.onclose = () => {
    if (!wasOpen) add('note', 'The server opens no terminal here.');
    else if (!hasEnded) add('note', 'The connection has ended.');
    closed();
  };
  return socket;
}
