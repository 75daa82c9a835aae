import type { Session } from 'node:inspector/promises';
import { ProfilerBusyError } from './profiler-busy-error.js';

/** What can be profiled: CPU use, or the memory that was allocated meanwhile. */
export type ProfileKind = 'profile' | 'heap' | 'allocs';

export function isProfileKind(text: string): text is ProfileKind {
  return text === 'profile' || text === 'heap' || text === 'allocs';
}

/** Average number of allocated bytes between samples. */
const samplingBytes = 64 * 1024;
/** Microseconds between CPU samples. */
const samplingUs = 1000;

let isBusy = false;

/**
 * Takes a profile of this process over some time, in the form that V8's tools open (`.cpuprofile`, `.heapprofile`).
 * Only one profile at a time. The process keeps working, a few per cent slower. Heap snapshots are not offered: they
 * would block the process for seconds.
 *
 * @param kind `heap` shows what was allocated meanwhile and is still in use, `allocs` also what was freed
 * @param seconds how long the profile takes
 * @param signal ends the profile early, with the samples so far
 * @throws ProfilerBusyError
 */
export async function takeProfile(kind: ProfileKind, seconds: number, signal: AbortSignal): Promise<string> {
  if (isBusy) throw new ProfilerBusyError();
  isBusy = true;
  try {
    const { Session } = await import('node:inspector/promises');
    const session = new Session();
    session.connect();
    try {
      return JSON.stringify(await profileWith(session, kind, () => wait(seconds * 1000, signal)));
    } finally {
      session.disconnect();
    }
  } finally {
    isBusy = false;
  }
}

async function profileWith(session: Session, kind: ProfileKind, waited: () => Promise<void>): Promise<unknown> {
  if (kind === 'profile') {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: samplingUs });
    await session.post('Profiler.start');
    await waited();
    return (await session.post('Profiler.stop')).profile;
  }
  const isAll = kind === 'allocs';
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: samplingBytes,
    includeObjectsCollectedByMajorGC: isAll,
    includeObjectsCollectedByMinorGC: isAll,
  });
  await waited();
  return (await session.post('HeapProfiler.stopSampling')).profile;
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
