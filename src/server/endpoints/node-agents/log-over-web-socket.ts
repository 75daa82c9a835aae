import type { IncomingMessage, ServerResponse } from 'node:http';
import { WebSocket } from 'ws';
import type { ResourceRequest } from '../resource-request.js';
import { openWebSocket } from '../web-sockets.js';

const normalClosure = 1000;
const internalError = 1011;
/** The protocol whose frames are text, for clients that can't read bytes. */
const base64Protocol = 'base64.binary.k8s.io';

/**
 * Sends a log over WebSocket, at the pace of the client: a binary message for each piece that arrives from the agent, or a
 * text message of base64 with the protocol `base64.binary.k8s.io`. The end of the log closes the connection normally; a
 * log that breaks off does not.
 */
export async function passOverWebSocket(request: ResourceRequest, answer: IncomingMessage): Promise<void> {
  const { context, reply, services } = request;
  const { raw } = reply;
  reply.hijack();
  const { webSocket } = openWebSocket(raw as unknown as ServerResponse);
  context.isUpgraded = true;
  // Invalid frames end the connection; nothing else needs to be done.
  webSocket.on('error', () => undefined);
  webSocket.once('close', () => answer.destroy());
  const isText = webSocket.protocol === base64Protocol;
  const throttle = services.throttle.writerOf(raw);
  const isOpen = () => webSocket.readyState === WebSocket.OPEN;
  /** Resolves also when the connection broke. */
  const send = (data: Buffer | string) =>
    new Promise<void>((resolve) => webSocket.send(data, { binary: !isText }, () => resolve()));
  try {
    for await (const chunk of answer) {
      const bytes = chunk as Buffer;
      if (throttle !== undefined) await throttle(bytes.length);
      if (!isOpen()) return;
      context.unread?.add(raw, bytes.length);
      await send(isText ? bytes.toString('base64') : bytes);
      context.unread?.remove(raw);
    }
    webSocket.close(normalClosure);
  } catch {
    // When this server shuts down, the log ends normally for the client.
    if (isOpen()) webSocket.close(services.options.shutdown.aborted ? normalClosure : internalError);
  } finally {
    context.unread?.remove(raw);
  }
}
