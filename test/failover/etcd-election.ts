import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endWithUs, forgetFolder, removeWithUs } from '../support/child-guard.js';
import { freePort } from '../support/ports.js';

interface EtcdMember {
  readonly url: string;
  readonly args: readonly string[];
  process: ChildProcess;
}

/**
 * The times without writes of an etcd of three members, in milliseconds, whose leader is killed again and again while a
 * client writes to any member that answers.
 */
export async function electionPauses(count: number, log: (line: string) => void): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-etcd-'));
  removeWithUs(folder);
  const members = await startMembers(folder);
  const pauses: number[] = [];
  const stop = new AbortController();
  let lastAt = performance.now();
  let longestMs = 0;
  const writing = (async () => {
    for (let i = 0; !stop.signal.aborted; i++) {
      if (!(await put(members[i % members.length]?.url ?? '', i))) continue;
      const now = performance.now();
      longestMs = Math.max(longestMs, now - lastAt);
      lastAt = now;
    }
  })();
  try {
    for (let i = 0; i < count; i++) {
      await delay(2000);
      const leader = await leaderOf(members);
      longestMs = 0;
      lastAt = performance.now();
      leader.process.kill('SIGKILL');
      await delay(6000);
      leader.process = launch(leader.args);
      await delay(2000);
      pauses.push(longestMs);
      log(`etcd ${i + 1}/${count}: ${(longestMs / 1000).toFixed(1)} s without writes`);
    }
    return pauses;
  } finally {
    stop.abort();
    await writing;
    for (const { process: child } of members) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    forgetFolder(folder);
  }
}

async function startMembers(folder: string): Promise<EtcdMember[]> {
  const names = ['a', 'b', 'c'];
  const ports = await Promise.all(
    names.map(async (name) => ({ name, client: await freePort(), peer: await freePort() })),
  );
  const cluster = ports.map(({ name, peer }) => `${name}=http://127.0.0.1:${peer}`).join(',');
  return ports.map(({ name, client, peer }) => {
    const [url, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
    const args = [
      ...['--name', name, '--data-dir', join(folder, name), '--log-level', 'fatal', '--initial-cluster', cluster],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ];
    return { url, args, process: launch(args) };
  });
}

function launch(args: readonly string[]): ChildProcess {
  const child = spawn('etcd', args, { stdio: 'ignore' });
  endWithUs(child);
  return child;
}

async function post(url: string, path: string, body: object): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(1000);
    const answer = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body), signal });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

async function put(url: string, value: number): Promise<boolean> {
  const encode = (text: string) => Buffer.from(text).toString('base64');
  return (await post(url, '/v3/kv/put', { key: encode('counter'), value: encode(String(value)) })) !== undefined;
}

async function leaderOf(members: readonly EtcdMember[]): Promise<EtcdMember> {
  for (;;) {
    for (const member of members) {
      const status = (await post(member.url, '/v3/maintenance/status', {})) as
        | { header: { member_id: string }; leader: string }
        | undefined;
      if (status !== undefined && status.header.member_id === status.leader) return member;
    }
    await delay(100);
  }
}
