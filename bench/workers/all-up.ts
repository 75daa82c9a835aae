import { eventually, type TestServer } from '../../test/e2e/support/test-cluster.js';

/** Resolves when all workers serve: clients would have to connect again otherwise. */
export async function allUp({ client }: TestServer, workers: number): Promise<void> {
  await eventually(async () => {
    const { text } = await client.get('/metrics');
    return text.split('\n').filter((line) => /^plinth_worker_up\{.*\} 1$/.test(line)).length === workers;
  }, 'all workers to be up');
}
