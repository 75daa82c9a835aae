import { eventually, type TestServer } from './test-cluster.js';

/** Memory of a process in bytes. */
export interface MemoryReport {
  /** The size of the heap and of the buffers that it references, without garbage. */
  readonly retained: number;
  readonly resident: number;
}

/** Starts processes that report their memory to {@link memoryOf}. */
export async function memoryReporting<T>(start: () => Promise<T>): Promise<T> {
  const { NODE_OPTIONS } = process.env;
  process.env.NODE_OPTIONS = `--expose-gc --import=${new URL('./report-memory.js', import.meta.url)}`;
  try {
    return await start();
  } finally {
    if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = NODE_OPTIONS;
  }
}

/** The time limit for a report. Collecting garbage takes long on a busy machine. */
const reportMs = 120_000;
const reportLine = /^memory (\{.*\})$/gm;

/** Makes the server collect its garbage and returns the memory that is left. */
export async function memoryOf(server: TestServer): Promise<MemoryReport> {
  const seen = server.log.length;
  server.process.kill('SIGUSR2');
  return eventually(
    () => {
      const [found] = server.log.slice(seen).matchAll(reportLine);
      return found === undefined ? undefined : (JSON.parse(found[1] as string) as MemoryReport);
    },
    'the memory report of the server',
    reportMs,
  );
}
