import { createPostgresStorage } from '../postgres/postgres-storage.js';

/** The task of a writer process; passed as JSON in its first argument. */
export type WriterTask =
  | { readonly kind: 'increment'; readonly databaseUrl: string; readonly times: number; readonly clients: number }
  | {
      readonly kind: 'create';
      readonly databaseUrl: string;
      readonly prefix: string;
      readonly times: number;
      readonly clients: number;
    };

/**
 * Sent to the parent: `ready` once connected (the parent answers with any message to start the writer), `done` with the
 * number of writes.
 */
export type WriterMessage = { readonly kind: 'ready' } | { readonly kind: 'done'; readonly written: number };

export const COUNTER = { resource: 'counters', namespace: 'default', name: 'shared' };

async function work(task: WriterTask): Promise<void> {
  const storage = await createPostgresStorage({ databaseUrl: task.databaseUrl, poolSize: 2 });
  const started = new Promise((resolve) => process.once('message', resolve));
  process.send?.({ kind: 'ready' } satisfies WriterMessage);
  await started;
  let written = 0;
  const increment = async (): Promise<void> => {
    if (task.kind !== 'increment') return;
    for (let i = 0; i < task.times; i++) {
      await storage.guaranteedUpdate(COUNTER, {}, (current) => ({
        kind: 'write',
        json: String(Number(current?.json) + 1),
        uid: current?.uid ?? '',
      }));
      written += 1;
    }
  };
  const create = async (client: number): Promise<void> => {
    if (task.kind !== 'create') return;
    for (let i = 0; i < task.times; i++) {
      const name = `${task.prefix}-${client}-${i}`;
      await storage.create({ resource: 'ordered', namespace: 'default', name }, name, '{"n":1}');
      written += 1;
    }
  };
  await Promise.all(Array.from({ length: task.clients }, (_, client) => Promise.all([increment(), create(client)])));
  await storage.stop();
  process.send?.({ kind: 'done', written } satisfies WriterMessage);
  process.disconnect?.();
}

if (process.argv[1] === import.meta.filename) await work(JSON.parse(process.argv[2] ?? '{}') as WriterTask);
