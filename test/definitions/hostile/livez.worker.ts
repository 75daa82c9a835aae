import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/* Requests /livez from one server all the time. A message asks for the longest time since the last message. */

const pauseMs = 10;
const { url, ca, token } = workerData as { url: string; ca: string; token: string };
const agent = new Agent({ keepAlive: true, ca, maxSockets: 1 });
let longest = 0;
let failed: string | undefined;

async function ask(): Promise<void> {
  const begun = performance.now();
  const request = httpsRequest(`${url}/livez`, { agent, headers: { authorization: `Bearer ${token}` } });
  request.end();
  const [message] = (await once(request, 'response')) as [IncomingMessage];
  message.resume();
  await once(message, 'end');
  if (message.statusCode !== 200) failed = `status ${message.statusCode}`;
  longest = Math.max(longest, performance.now() - begun);
}

parentPort?.on('message', () => {
  parentPort?.postMessage({ longest, failed });
  longest = 0;
  failed = undefined;
});
await ask();
parentPort?.postMessage('ready');
for (;;) {
  await ask().catch((error: unknown) => {
    failed = String(error);
  });
  await delay(pauseMs);
}
