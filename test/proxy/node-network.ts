import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWithUs } from '../support/child-guard.js';
import { type Attempt, ask } from './ask.js';

/** A party in the network, which serves requests and can make them. */
export interface Party {
  ask(question: Attempt): Promise<readonly string[]>;
}

const run = (program: string, ...flags: readonly string[]) =>
  void execFileSync(program, [...flags], { stdio: ['ignore', 'pipe', 'inherit'] });

interface Reply {
  readonly id: number;
  readonly answers: readonly string[];
}

/** A process in a network namespace of its own. */
export class Pod implements Party {
  private readonly waiting = new Map<number, (answers: readonly string[]) => void>();
  private count = 0;

  constructor(readonly process: ChildProcess) {
    process.on('message', (message: Reply | string) => {
      if (typeof message !== 'string') this.waiting.get(message.id)?.(message.answers);
    });
  }

  ask(question: Attempt): Promise<readonly string[]> {
    return this.send({ question });
  }

  /** Sends one more packet of the same UDP flow. */
  async again(question: Attempt): Promise<string> {
    return (await this.send({ again: question }))[0] ?? '';
  }

  private send(message: object): Promise<readonly string[]> {
    const id = this.count++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.process.send({ id, ...message });
    });
  }
}

/**
 * The network of a node: the namespace of this process is the machine, which forwards packets between pods and clients
 * in namespaces of their own. All namespaces end with this process.
 */
export class NodeNetwork {
  readonly pods = new Map<string, Pod>();
  private readonly processes: ChildProcess[] = [];

  /** This must not be the network of the real machine, whose rules would change. */
  static prepare(): NodeNetwork {
    run('ip', 'link', 'set', 'lo', 'up');
    writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
    // Otherwise the kernel would send only the first of several refusals.
    writeFileSync('/proc/sys/net/ipv4/icmp_ratelimit', '0');
    return new NodeNetwork();
  }

  /** The machine itself. */
  readonly machine: Party = { ask };

  /** @param net first part of the addresses, such as `10.244.1.`: the machine has 1, the pod 2 */
  async add(name: string, net: string): Promise<Pod> {
    const pod = new Pod(await this.addProgram(name, net, 'pod.js'));
    this.pods.set(name, pod);
    return pod;
  }

  /** Starts a program of this folder in a network namespace of its own. It sends a message when it is ready. */
  async addProgram(name: string, net: string, file: string): Promise<ChildProcess> {
    const main = join(import.meta.dirname, file);
    const child = spawn('unshare', ['-n', process.execPath, main, name], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    endWithUs(child);
    this.processes.push(child);
    await once(child, 'message');
    run('ip', 'link', 'add', `to-${name}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${child.pid}`);
    const inside = (...flags: readonly string[]) => run('nsenter', '-t', `${child.pid}`, '-n', 'ip', ...flags);
    inside('link', 'set', 'lo', 'up');
    run('ip', 'addr', 'add', `${net}1/24`, 'dev', `to-${name}`);
    inside('addr', 'add', `${net}2/24`, 'dev', 'eth0');
    run('ip', 'link', 'set', `to-${name}`, 'up');
    inside('link', 'set', 'eth0', 'up');
    inside('route', 'add', 'default', 'via', `${net}1`);
    return child;
  }

  /** Takes the machine of a pod away, or brings it back: its packets are lost, without an answer. */
  setLost(name: string, isLost: boolean): void {
    run('ip', 'link', 'set', `to-${name}`, isLost ? 'down' : 'up');
  }

  /** Gives a party and the machine IPv6 addresses. @param net first part, such as `fd00:244:1::` */
  addSix(name: string, net: string): void {
    writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
    writeFileSync('/proc/sys/net/ipv6/icmp/ratelimit', '0');
    const inside = (...flags: readonly string[]) =>
      run('nsenter', '-t', `${this.pods.get(name)?.process.pid}`, '-n', 'ip', '-6', ...flags);
    run('ip', '-6', 'addr', 'add', `${net}1/64`, 'dev', `to-${name}`, 'nodad');
    inside('addr', 'add', `${net}2/64`, 'dev', 'eth0', 'nodad');
    inside('route', 'add', 'default', 'via', `${net}1`);
  }

  /** The default route, which every machine has. */
  leadElsewhere(address: string): void {
    run('ip', ...(address.includes(':') ? ['-6'] : []), 'route', 'add', 'default', 'via', address);
  }

  party(name: string): Party {
    return this.pods.get(name) ?? this.machine;
  }

  stop(): void {
    for (const each of this.processes) each.kill();
  }
}
