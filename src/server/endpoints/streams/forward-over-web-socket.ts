import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { closeCodes } from '../../../base/machinery/web-socket/web-socket-error.js';
import { writeFully } from '../../../base/machinery/web-socket/write-fully.js';
import type { ResourceRequest } from '../resource-request.js';
import type { Upgrade } from '../web-sockets.js';
import type { AgentStream } from './agent-stream.js';
import { ClientWebSocket } from './client-web-socket.js';

/** The prefix of WebSocket protocols whose messages are pieces of a SPDY connection. */
const prefix = 'SPDY/3.1+';

/** The agent's protocol for one that a client offers; undefined for protocols other than tunnels. */
export function tunnelProtocol(offered: string): string | undefined {
  return /^SPDY\/3\.1\+[A-Za-z0-9.-]{1,64}$/.test(offered) ? offered.slice(prefix.length) : undefined;
}

/**
 * Forwards ports for a client that sends SPDY within messages of a WebSocket: the content of the messages is forwarded
 * to the agent unchanged, and the agent's data is sent in messages. Throws a StatusError before the response is sent.
 *
 * @param offered the client's protocol, which {@link tunnelProtocol} knows
 */
export async function forwardOverWebSocket(
  { context, reply, services }: ResourceRequest,
  upgrade: Upgrade,
  offered: string,
  { ask, end }: AgentStream,
): Promise<void> {
  const { socket: agent, head } = await ask('POST', {
    'user-agent': context.userAgent,
    connection: 'Upgrade',
    upgrade: 'SPDY/3.1',
    'x-stream-protocol-version': tunnelProtocol(offered) ?? '',
  });
  const throttle = services.throttle.writerOf(reply.raw);
  reply.hijack();
  context.isUpgraded = true;
  const client = ClientWebSocket.accept(reply.raw as unknown as ServerResponse, upgrade, offered, throttle);
  const onAbort = () => {
    const why = end.reason();
    if (why === undefined) client.destroy();
    else client.close(closeCodes.goingAway, why);
    agent.destroy();
  };
  end.signal.addEventListener('abort', onAbort, { once: true });
  if (end.signal.aborted) onAbort();
  const input = passInput();
  try {
    if (head.length > 0) await client.send([head]);
    for await (const chunk of agent) {
      await client.send([chunk as Buffer]);
      // Yields to other work, since more bytes may arrive without a pause.
      await nextTurn();
    }
  } catch {
    // A broken connection counts as a normal end.
  } finally {
    client.close(closeCodes.normal, '');
    await input;
    agent.destroy();
    end.signal.removeEventListener('abort', onAbort);
  }

  async function passInput(): Promise<void> {
    for await (const pieces of client.messages()) {
      await writeFully(agent, [Buffer.concat(pieces.map(({ bytes }) => bytes))]);
    }
    // The agent may still send its remaining data.
    agent.end();
  }
}
