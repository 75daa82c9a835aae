/** One line of a scrape. */
export interface ScrapedSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of metrics; throws for an invalid line. */
export function readScrape(text: string): ScrapedSeries[] {
  return text
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith('#'))
    .map((each) => {
      const [, name, labels = '', value] = line.exec(each) ?? [];
      if (name === undefined) throw new Error(`not a line of metrics: ${each.slice(0, 100)}`);
      const pairs = [...labels.matchAll(label)].map(([, key, text]) => [key, text] as const);
      return { name, labels: Object.fromEntries(pairs), value: Number(value === '+Inf' ? Infinity : value) };
    });
}
