import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Load } from './load.js';

export const namespaces = 1_000;
/** One object in this many has a certain value of the label `group`. */
export const groups = 1_000;
const podEvery = 6;
const batchSize = 1_000;

export type Kind = 'configmaps' | 'pods';

export const kindOf = (i: number): Kind => (i % podEvery === 0 ? 'pods' : 'configmaps');
/** Half of the objects are in one namespace, the others in a thousand. */
export const namespaceOf = (i: number): string => (i % 2 === 0 ? 'default' : `ns-${i % namespaces}`);
export const pathOf = (i: number): string => `/api/v1/namespaces/${namespaceOf(i)}/${kindOf(i)}/o-${i}`;

/** The body with which a client creates object `i`: about 1 KB. */
export function bodyOf(i: number): string {
  const metadata = { name: `o-${i}`, namespace: namespaceOf(i), labels: { app: 'growth', group: `g${i % groups}` } };
  if (kindOf(i) === 'configmaps') return JSON.stringify({ metadata, data: { settings: textOf(i, 800) } });
  const env = [{ name: 'SETTINGS', value: textOf(i, 300) }];
  return JSON.stringify({ metadata, spec: { containers: [{ name: 'main', image: 'registry.example/app:1', env }] } });
}

function textOf(i: number, length: number): string {
  return `${i} `.repeat(Math.ceil(length / `${i} `.length)).slice(0, length);
}

/** The stored text of an object that the API has made, from which those of the others follow. */
interface Sample {
  readonly i: number;
  readonly uid: string;
  readonly text: string;
}

/**
 * Fills the store as clients would, but quicker: texts of the objects follow from those of two that the API has made, and
 * go through the function by which the server writes its own batches, so objects, log and versions are the same.
 */
export class Filler {
  private readonly samples = new Map<Kind, Sample>();

  private constructor(private readonly client: pg.Client) {}

  /** Makes objects 0 to 2 through the API; checks that a made-up text is what the API would have stored. */
  static async open(databaseUrl: string, load: Load): Promise<Filler> {
    const client = new pg.Client({ connectionString: databaseUrl });
    client.on('error', () => {});
    await client.connect();
    const filler = new Filler(client);
    for (const i of [0, 2, 6, 4]) {
      const path = pathOf(i).slice(0, pathOf(i).lastIndexOf('/'));
      await load.send('POST', path, 201, bodyOf(i));
      const { rows } = await client.query<{ uid: string; data: string }>(
        'select uid, data::text as data from plinth.objects where resource = $1 and namespace = $2 and name = $3',
        [kindOf(i), namespaceOf(i), `o-${i}`],
      );
      const { uid, data } = rows[0] as { uid: string; data: string };
      const sample = filler.samples.get(kindOf(i));
      if (sample === undefined) filler.samples.set(kindOf(i), { i, uid, text: data });
      else assert.equal(withoutTimes(filler.textOf(i, uid)), withoutTimes(data), 'the API stores something else');
    }
    return filler;
  }

  close(): Promise<void> {
    return this.client.end();
  }

  /** Writes the objects `from` up to `to` that are not there yet; returns the characters of their texts. */
  async fill(from: number, to: number): Promise<number> {
    let characters = 0;
    let pending: Promise<unknown> = Promise.resolve();
    for (let start = from; start < to; start += batchSize) {
      const all = Array.from({ length: Math.min(batchSize, to - start) }, (_, n) => start + n);
      const made = all.filter((i) => i > 6 || i % 2 === 1);
      const uids = made.map(() => randomUUID());
      const texts = made.map((i, n) => this.textOf(i, uids[n] as string));
      for (const text of texts) characters += text.length;
      // The next texts are made while the database works.
      await pending;
      pending = this.client.query({
        name: 'fill',
        text: 'select index, version from plinth.write_batch(null, $1, $2, null, $3, $4, $5, $6, $7, $8, null, null, null, true)',
        values: [
          String(Date.now() * 1000 + (start % 1000)),
          made.map(() => 0),
          made.map(kindOf),
          made.map(namespaceOf),
          made.map((i) => `o-${i}`),
          uids,
          made.map(() => null),
          texts,
        ],
      });
    }
    await pending;
    return characters;
  }

  private textOf(i: number, uid: string): string {
    const { text, ...of } = this.samples.get(kindOf(i)) as Sample;
    const [, begin] = /"(?:settings|value)":"()/d.exec(text)?.indices ?? [];
    assert.ok(begin !== undefined);
    const filling = text.slice(begin[0], text.indexOf('"', begin[0]));
    return text
      .replace(of.uid, uid)
      .replace(`"name":"o-${of.i}"`, `"name":"o-${i}"`)
      .replace(`"namespace":"${namespaceOf(of.i)}"`, `"namespace":"${namespaceOf(i)}"`)
      .replace(`"group":"g${of.i % groups}"`, `"group":"g${i % groups}"`)
      .replace(filling, textOf(i, filling.length));
  }
}

function withoutTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'T');
}
