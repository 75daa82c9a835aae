import { type Ask, Asker, accepts, streamedList } from '../asks.js';
import type { Peer } from './peer.js';

/** A kind of work that the bench does itself: the generator asks for plain JSON only. */
export interface ClientForm {
  readonly ask: (namespace: string) => Ask;
  readonly clients: number;
}

/** Labels of the generator's Pods select one in a hundred. */
const byLabel = 'labelSelector=app%3Dapp-7';
/** Pods that are bound to a node of this name are made for the rows that list those of a node. */
const node = 'node-7';
const boundPods = 100;

type Accept = keyof typeof accepts;

const pods = (query: string, form: Accept, gzip: boolean, how: Ask['how'] = 'once'): ClientForm['ask'] => {
  return (namespace) => ({ path: `/api/v1/namespaces/${namespace}/pods?${query}`, how, accept: accepts[form], gzip });
};
const boundTo = (query: string, form: Accept): ClientForm['ask'] => {
  return () => ({ path: `/api/v1/pods?${query}`, how: 'once', accept: accepts[form], gzip: true });
};

/** As client-go (protobuf) and kubectl (tables) ask, and what asks for JSON; in the order in which they run. */
export const clientForms: ReadonlyMap<string, ClientForm> = new Map<string, ClientForm>([
  ['by label, JSON, gzip, 4 clients', { ask: pods(byLabel, 'json', true), clients: 4 }],
  ['by label, protobuf, 4 clients', { ask: pods(byLabel, 'protobuf', false), clients: 4 }],
  ['by label, protobuf, gzip, 4 clients', { ask: pods(byLabel, 'protobuf', true), clients: 4 }],
  ['by label, table, gzip, 4 clients', { ask: pods(`${byLabel}&limit=500`, 'table', true), clients: 4 }],
  [
    'by node, version 0, protobuf, gzip, 4 clients',
    { ask: boundTo(`fieldSelector=spec.nodeName%3D${node}&resourceVersion=0`, 'protobuf'), clients: 4 },
  ],
  [
    'a namespace of 100, protobuf, gzip, 4 clients',
    {
      ask: (namespace) => ({
        path: `/api/v1/namespaces/${namespace}-bound/pods`,
        how: 'once',
        accept: accepts.protobuf,
        gzip: true,
      }),
      clients: 4,
    },
  ],
  ['by 500, JSON, gzip', { ask: pods('limit=500', 'json', true, 'pages'), clients: 1 }],
  ['by 500, protobuf', { ask: pods('limit=500', 'protobuf', false, 'pages'), clients: 1 }],
  ['by 500, protobuf, gzip', { ask: pods('limit=500', 'protobuf', true, 'pages'), clients: 1 }],
  ['by 500, table, gzip', { ask: pods('limit=500', 'table', true, 'pages'), clients: 1 }],
  ['all, version 0, JSON, gzip', { ask: pods('resourceVersion=0', 'json', true), clients: 1 }],
  ['all, version 0, protobuf', { ask: pods('resourceVersion=0', 'protobuf', false), clients: 1 }],
  ['all, version 0, protobuf, gzip', { ask: pods('resourceVersion=0', 'protobuf', true), clients: 1 }],
  ['all, version 0, table, gzip', { ask: pods('resourceVersion=0', 'table', true), clients: 1 }],
  ['all as a stream, JSON', { ask: pods(streamedList, 'json', false, 'stream'), clients: 1 }],
  ['all as a stream, protobuf', { ask: pods(streamedList, 'protobuf', false, 'stream'), clients: 1 }],
]);

/** What was asked in the given time. */
export interface Asked {
  readonly milliseconds: readonly number[];
  readonly errors: number;
  readonly seconds: number;
}

/** Asks over and over for the given time. */
export async function askFor(peer: Peer, form: ClientForm, namespace: string, seconds: number): Promise<Asked> {
  const asker = new Asker(peer.url, peer.token, form.clients);
  const ask = form.ask(namespace);
  const milliseconds: number[] = [];
  let errors = 0;
  const began = performance.now();
  const client = async () => {
    while (performance.now() - began < seconds * 1_000) {
      const sent = performance.now();
      try {
        await asker.ask(ask);
        milliseconds.push(performance.now() - sent);
      } catch (error) {
        if (errors++ === 0) console.error(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: form.clients }, client));
  asker.close();
  return { milliseconds, errors, seconds: (performance.now() - began) / 1_000 };
}

/** Creates the Pods that are bound to a node, in a namespace of their own. */
export async function createBound({ url, token }: Peer, namespace: string): Promise<void> {
  const asker = new Asker(url, token, 1);
  try {
    await asker.create('/api/v1/namespaces', { metadata: { name: `${namespace}-bound` } });
    for (let i = 0; i < boundPods; i++) {
      await asker.create(`/api/v1/namespaces/${namespace}-bound/pods`, boundPod(`bound-${i}`));
    }
  } finally {
    asker.close();
  }
}

const boundPod = (name: string) => ({
  metadata: { name, labels: { app: 'bound' } },
  spec: {
    nodeName: node,
    containers: ['main', 'sidecar'].map((container) => ({
      name: container,
      image: 'registry.example.com/team/app:v1.2.3',
      env: Array.from({ length: 4 }, (_, i) => ({ name: `SETTING_${i}`, value: `value ${i}` })),
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    })),
  },
});
