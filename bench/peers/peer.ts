import type { ChildProcess } from 'node:child_process';
import { childrenOf, isRunning, processorSeconds, proportionalBytes } from '../../test/e2e/support/processes.js';

/** A server to compare, started for one run over a store that was empty. */
export interface Peer {
  readonly url: string;
  /** Token of a user who may do everything. */
  readonly token: string;
  /** First processes of the API server and of its store. */
  readonly roots: { readonly server: readonly number[]; readonly store: readonly number[] };
  stop(): Promise<void>;
}

/** The name of a peer in tables, and how it starts. */
export interface PeerKind {
  readonly name: string;
  start(): Promise<Peer>;
}

/** The resources that a part of a peer has used so far. */
export interface Use {
  /** Of its memory that is shared among its processes, each counts its part. */
  readonly bytes: number;
  readonly processorSeconds: number;
}

/** A process and all its children, without those that end meanwhile. */
function family(pid: number): number[] {
  return [pid, ...ofRunning(pid, () => childrenOf(pid).flatMap(family), [])];
}

/** What is read of a process; the other value if the process has ended, as helpers of a database do at any time. */
function ofRunning<T>(pid: number, read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (isRunning(pid)) throw error;
    return otherwise;
  }
}

/** Adds up processes and all their children. */
export function useOf(roots: readonly number[]): Use {
  const all = roots.flatMap(family);
  return {
    bytes: all.reduce((sum, pid) => sum + ofRunning(pid, () => proportionalBytes(pid), 0), 0),
    processorSeconds: all.reduce((sum, pid) => sum + ofRunning(pid, () => processorSeconds(pid), 0), 0),
  };
}

/** Resolves when the process ended; kills it after ten seconds. */
export function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
    child.once('exit', () => {
      clearTimeout(late);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
