import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/*
 * Acts as well-behaved clients all the time, in a thread of its own. So the work of the sender of hostile bodies does
 * not count as time of the server. A message asks for the longest time of each kind of request since the last message.
 */

interface Settings {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
}

const pauseMs = 5;
const { url, ca, token } = workerData as Settings;
const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/prober';
const longest: Record<string, number> = {};

async function send(agent: Agent, method: string, path: string, body?: string): Promise<string> {
  const request = httpsRequest(`${url}${path}`, {
    method,
    agent,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  request.end(body);
  const [message] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of message) text += String(chunk);
  if ((message.statusCode ?? 0) >= 300) throw new Error(`${method} ${path}: ${message.statusCode} ${text}`);
  return text;
}

async function probe(name: string, once: (agent: Agent) => Promise<unknown>): Promise<void> {
  const agent = new Agent({ keepAlive: true, ca, maxSockets: 1 });
  for (;;) {
    const begun = performance.now();
    try {
      await once(agent);
      longest[name] = Math.max(longest[name] ?? 0, performance.now() - begun);
    } catch (error) {
      longest[`${name} failed: ${error instanceof Error ? error.message : String(error)}`] = 1;
    }
    await delay(pauseMs);
  }
}

const first = new Agent({ ca });
await send(
  first,
  'POST',
  '/apis/coordination.k8s.io/v1/namespaces/default/leases',
  JSON.stringify({ metadata: { name: 'prober' }, spec: { holderIdentity: 'prober', leaseDurationSeconds: 15 } }),
);
let held = await send(first, 'GET', lease);
first.destroy();
void probe('livez', (agent) => send(agent, 'GET', '/livez'));
void probe('get', (agent) => send(agent, 'GET', '/api/v1/namespaces/default'));
void probe('lease', async (agent) => {
  const renewed = JSON.parse(held) as { spec: { renewTime?: string } };
  renewed.spec.renewTime = new Date().toISOString().replace('Z', '000Z');
  held = await send(agent, 'PUT', lease, JSON.stringify(renewed));
});
parentPort?.on('message', () => {
  parentPort?.postMessage({ ...longest });
  for (const name of Object.keys(longest)) delete longest[name];
});
parentPort?.postMessage({});
