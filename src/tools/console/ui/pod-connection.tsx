import { checkPath } from './api.js';
import { basePath } from './base-path.js';
import { endOfInput, inputMessage, ProgramReader, resizeMessage } from './pod-channel.js';
import { streamProtocols } from './session.js';
import type { StreamPath } from './terminal-modes.js';
import type { Screen, ScreenSize } from './terminal-screen.js';

/** A connection with a program in a pod. */
export interface PodConnection {
  readonly send: (text: string) => void;
  readonly resize: (size: ScreenSize) => void;
  readonly endInput: () => void;
  readonly close: () => void;
}

/**
 * Connects to a program, and shows what it writes. Whatever ends the connection is written as a note.
 *
 */
export function connectPod({ path, isTerminal }: StreamPath, screen: Screen, closed: () => void): PodConnection {
  checkPath(path);
  const url = new URL(`${basePath}${path}`, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const socket = new WebSocket(url, streamProtocols());
  socket.binaryType = 'arraybuffer';
  const reader = new ProgramReader();
  let wasOpen = false;
  let hasEnded = false;
  const send = (message: Uint8Array<ArrayBuffer>) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(message);
  };
  socket.onopen = () => {
    wasOpen = true;
    send(resizeMessage(screen.size()));
  };
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!(data instanceof ArrayBuffer)) return;
    const message = reader.read(new Uint8Array(data));
    if (message === undefined) return;
    if (message.kind === 'ended') {
      hasEnded = true;
      screen.note(message.message === '' ? 'The program has ended.' : `The program has ended: ${message.message}`);
      socket.close();
    } else screen.write(message.text);
  };
  socket.onclose = () => {
    if (!wasOpen) screen.note('The server opens no terminal here.');
    else if (!hasEnded) screen.note('The connection has ended.');
    closed();
  };
  return {
    send: (text) => {
      if (isTerminal) return send(inputMessage(text));
      // Without a terminal of its own, a program reads lines, and nobody else shows what is typed.
      const lines = text.replaceAll('\r', '\n');
      screen.write(lines);
      send(inputMessage(lines));
    },
    resize: (size) => send(resizeMessage(size)),
    endInput: () => send(endOfInput()),
    close: () => socket.close(),
  };
}
