import { configMaps, Sender, type Target } from './target.js';

/*
 * The greedy user in a process of its own: sends the given number of concurrent requests, half of the clients with full
 * lists and half with creates, each as fast as responses arrive. Reports its results when its parent asks it to stop.
 */
const [, , targetText = '{}', clientsText = '64'] = process.argv;
const target = JSON.parse(targetText) as Target;
const clients = Number(clientsText);
const sender = new Sender(target, { user: 'greedy' }, clients);
const counts = { lists: 0, creates: 0, refused: 0, failed: 0, megabytes: 0 };
let isOver = false;
let next = 0;

async function client(lists: boolean): Promise<void> {
  while (!isOver) {
    const name = `made-${process.pid}-${next++}`;
    const sent = lists
      ? await sender.send('GET', configMaps).catch(() => undefined)
      : await sender.send('POST', configMaps, { metadata: { name, labels: { made: 'yes' } } }).catch(() => undefined);
    if (sent === undefined) counts.failed++;
    else if (sent.status === 429) {
      counts.refused++;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    } else if (sent.status >= 300) counts.failed++;
    else if (lists) {
      counts.lists++;
      counts.megabytes += sent.bytes / 2 ** 20;
    } else counts.creates++;
  }
}

process.on('message', () => {
  isOver = true;
  process.send?.(counts, () => process.exit());
});
process.on('disconnect', () => process.exit());
await Promise.all(Array.from({ length: clients }, (_, i) => client(i % 2 === 0)));
